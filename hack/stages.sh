#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# stages.sh TARGET...: makes the targets one after the other, with a headline and the
# time of each, stops at the first that fails, and ends with one line on all.
#
# A target that is written as beside:TARGET is started and left to itself while the next
# ones run, with what they leave of the processors. What it said is shown when it has
# ended, at the latest after all the others.
set -euo pipefail

summary=() started=$SECONDS
beside='' beside_pid='' beside_begin=0 said='' printed=$(mktemp)

# A test that fails on the lab shows the logs of everything, which hides what it complained about.
complaints() { # file
  grep -E 'no test breaks this rule|^ *(--- FAIL|panic:|FAIL\b|[a-z_]+_test\.go:[0-9]+:|rights: |make.*Error)' "$1" | grep -v '\[pod/' | tail -n 40 | cut -c 1-600 || true
}

fail() { # target, seconds, file with what it printed
  printf '\n=== What failed in %s, without the logs above:\n' "$1"
  complaints "$3"
  printf '\n=== FAILED in %s after %ds (passed before: %s)\n' "$1" "$2" "${summary[*]:-nothing}"
  exit 1
}

end_beside() {
  if [[ -n $beside_pid ]]; then
    kill -- "-$beside_pid" 2>/dev/null || true
    wait "$beside_pid" 2>/dev/null || true
  fi
  rm -f "$printed" ${said:+"$said"}
}
trap end_beside EXIT
trap 'exit 130' INT TERM

start_beside() {
  beside=$1 beside_begin=$SECONDS said=$(mktemp)
  printf '\n=== %s, beside what follows\n' "$beside"
  # A session of its own is scheduled as a whole; nice alone would only count within it.
  setsid bash -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec nice -n 19 make "$1"' - "$beside" >"$said" 2>&1 &
  beside_pid=$!
}

# Waits for the one beside, and shows what it said.
finish_beside() {
  local code=0
  wait "$beside_pid" || code=$?
  local took=$((SECONDS - beside_begin))
  printf '\n=== %s\n' "$beside"
  cat "$said"
  beside_pid=''
  [[ $code == 0 ]] || fail "$beside" "$took" "$said"
  summary+=("$beside ${took}s beside others")
  printf '=== %s passed in %ds\n' "$beside" "$took"
}

for target in "$@"; do
  if [[ $target == beside:* ]]; then
    start_beside "${target#beside:}"
    continue
  fi
  printf '\n=== %s\n' "$target"
  begin=$SECONDS
  make "$target" 2>&1 | tee "$printed" || fail "$target" $((SECONDS - begin)) "$printed"
  summary+=("$target $((SECONDS - begin))s")
  printf '=== %s passed in %ds\n' "$target" $((SECONDS - begin))
  if [[ -n $beside_pid && -z $(jobs -pr) ]]; then
    finish_beside
  fi
done
if [[ -n $beside_pid ]]; then
  finish_beside
fi
printf '\n=== PASSED in %ds: ' $((SECONDS - started))
(IFS=,; echo "${summary[*]}" | sed 's/,/, /g')
