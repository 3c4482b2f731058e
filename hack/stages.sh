#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# stages.sh TARGET...: makes the targets one after the other, with a headline and the
# time of each, stops at the first that fails, and ends with one line on all.
set -euo pipefail

summary=() started=$SECONDS
for target in "$@"; do
  printf '\n=== %s\n' "$target"
  begin=$SECONDS
  if ! make "$target"; then
    printf '\n=== FAILED in %s after %ds (passed before: %s)\n' "$target" $((SECONDS - begin)) "${summary[*]:-nothing}"
    exit 1
  fi
  summary+=("$target $((SECONDS - begin))s")
  printf '=== %s passed in %ds\n' "$target" $((SECONDS - begin))
done
printf '\n=== PASSED in %ds: ' $((SECONDS - started))
(IFS=,; echo "${summary[*]}" | sed 's/,/, /g')
