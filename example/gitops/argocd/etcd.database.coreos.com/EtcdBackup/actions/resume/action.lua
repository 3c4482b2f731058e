-- Copyright 2026 The etcd-operator Authors
-- SPDX-License-Identifier: Apache-2.0

obj.spec.backupPolicy.schedule.suspend = false
return obj
