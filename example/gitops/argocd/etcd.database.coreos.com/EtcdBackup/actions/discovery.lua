-- Copyright 2026 The etcd-operator Authors
-- SPDX-License-Identifier: Apache-2.0

local policy = obj.spec.backupPolicy
local schedule = policy ~= nil and policy.schedule or nil
local suspended = schedule ~= nil and schedule.suspend == true
return {
  backup = { disabled = policy == nil },
  suspend = { disabled = schedule == nil or suspended },
  resume = { disabled = not suspended },
}
