#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# lint.sh MODULE...: runs golangci-lint, in the version that tools/lint pins, over the
# given modules. It takes minutes to build, so the program is kept in the user's cache
# folder under a name that holds what it was built from; another clone finds it there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache=${ETCD_OPERATOR_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/etcd-operator-lab}/tools
key=$({ go version; cat tools/lint/go.mod tools/lint/go.sum; } | sha256sum | cut -c1-16)
linter=$cache/golangci-lint-$key

if [[ ! -x $linter ]]; then
  echo "building golangci-lint: once on this machine, a few minutes"
  mkdir -p "$cache"
  CGO_ENABLED=0 go -C tools/lint build -o "$linter.$$" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
  mv "$linter.$$" "$linter"
fi

config=$PWD/.golangci.yml failed=0
for module in "$@"; do
  echo "golangci-lint in $module"
  (cd "$module" && "$linter" run --config "$config" ./...) || failed=1
done
exit $failed
