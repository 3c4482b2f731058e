-- Copyright 2026 The etcd-operator Authors
-- SPDX-License-Identifier: Apache-2.0

-- A restore is on its way until it has succeeded, or failed for good.
local health = { status = "Progressing", message = "The operator has not reported on this spec yet." }
if obj.status == nil or obj.status.conditions == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return health
end
local ready, stalled
for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Ready" then
    ready = condition
  elseif condition.type == "Stalled" then
    stalled = condition
  end
end
if ready == nil then
  return health
end
health.message = ready.message
if stalled ~= nil and stalled.status == "True" then
  health.status = "Degraded"
  health.message = stalled.message
elseif ready.status == "True" then
  health.status = "Healthy"
end
return health
