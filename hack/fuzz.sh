#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# fuzz.sh DURATION MODULE...: runs every fuzz target of Go's own kind in the modules, each for so long. What one
# finds is in testdata/fuzz beside it: keep it with the mending, and every test of the package plays it.
set -euo pipefail

duration=$1
shift
for module in "$@"; do
  while IFS=: read -r file target; do
    printf '=== %s in %s for %s\n' "$target" "$(dirname "$file")" "$duration"
    go -C "$module" test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" "./$(realpath --relative-to "$module" "$(dirname "$file")")"
  done < <(git ls-files "$module/*_test.go" | { if [[ $module == . ]]; then grep -v -E '^(lab|test)/'; else cat; fi; } |
    xargs -r grep -o -H '^func Fuzz[A-Za-z0-9_]*(' | sed 's/func //; s/($//' || true)
done
