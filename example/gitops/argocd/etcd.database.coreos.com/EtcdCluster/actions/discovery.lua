-- Copyright 2026 The etcd-operator Authors
-- SPDX-License-Identifier: Apache-2.0

local paused = obj.spec.paused == true
return {
  pause = { disabled = paused },
  resume = { disabled = not paused },
}
