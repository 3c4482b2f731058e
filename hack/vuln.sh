#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# vuln.sh MODULE...: looks for known vulnerabilities in what the given modules call, with govulncheck in the
# version that tools pins. It needs the database https://vuln.go.dev, or the one that GOVULNDB names; where
# that cannot be reached it says so, and nothing is checked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scanner=$PWD/_out/bin/govulncheck database=${GOVULNDB:-https://vuln.go.dev}
go -C tools build -o "$scanner" golang.org/x/vuln/cmd/govulncheck

# With its version it names the state of the database, for which it has to ask.
if ! answer=$("$scanner" -db "$database" -version 2>&1) || ! grep -q '^DB updated:' <<<"$answer"; then
  echo "Nothing was checked: the database of vulnerabilities cannot be reached from here. Name a copy by GOVULNDB." >&2
  echo "$answer" >&2
  exit 0
fi
failed=0
for module in "$@"; do
  echo "govulncheck in $module"
  (cd "$module" && "$scanner" -db "$database" ./...) || failed=1
done
exit $failed
