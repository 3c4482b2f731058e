-- Copyright 2026 The etcd-operator Authors
-- SPDX-License-Identifier: Apache-2.0

-- One backup now, of what the series backs up, beside the objects of the series: under a name of its own, which no retention deletes.
local stamp = os.date("!%Y%m%d%H%M%S")
local backup = {
  apiVersion = obj.apiVersion,
  kind = obj.kind,
  metadata = { name = obj.metadata.name .. "-" .. stamp, namespace = obj.metadata.namespace },
  spec = {},
}
local scope = obj.metadata.annotations ~= nil and obj.metadata.annotations["etcd.database.coreos.com/scope"] or nil
if scope ~= nil then
  backup.metadata.annotations = { ["etcd.database.coreos.com/scope"] = scope }
end
for name, value in pairs(obj.spec) do
  if name ~= "backupPolicy" and name ~= "deletionPolicy" then
    backup.spec[name] = value
  end
end
for _, store in ipairs({ "s3", "abs", "gcs", "oss", "file" }) do
  if backup.spec[store] ~= nil and backup.spec[store].path ~= nil then
    backup.spec[store].path = backup.spec[store].path .. "-" .. stamp
  end
end
return { { operation = "create", resource = backup } }
