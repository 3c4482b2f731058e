#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# before.sh pack COMMIT: keeps the source of the etcd-operator of that version, for the simulation in which it takes turns
# with the one of today. It is made anew with each release, from the release before. A clone need not have the history.
#
# before.sh unpack: makes it packages of this module, below internal/sim/turns/before, and writes the overlay by which the
# go command finds them and the tests: go test -overlay _out/before/overlay.json ./internal/sim/turns. Without the overlay
# the tests are out of its sight; it would look for what they import.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

module=github.com/etcd-operator/etcd-operator
archive=internal/sim/turns/testdata/before.tar.gz
folder=internal/sim/turns/before
out=$PWD/_out/before

pack() { # commit
  local tree
  tree=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$tree'" EXIT
  git archive "$1" go.mod go.sum api internal | tar -x -C "$tree"
  (
    cd "$tree"
    go list -deps -f '{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}' ./internal/cluster/... |
      sed -n "s|^$tree/||p" | LC_ALL=C sort >files
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -c -T files | gzip -n9
  ) >"$archive"
  git rev-parse "$1" >"${archive%.tar.gz}.commit"
  echo "$archive: $(tar -tzf "$archive" | wc -l) files of $(cat "${archive%.tar.gz}.commit")"
}

unpack() {
  rm -rf "$out"
  mkdir -p "$out"
  tar -xzf "$archive" -C "$out"
  # Both versions are in one process, which can have each metric once.
  find "$out" -name '*.go' -exec sed -i \
    -e "s|\"$module/|\"$module/$folder/|; s|/$folder/internal/|/$folder/|" \
    -e 's|metrics\.Registry\.MustRegister(|_ = metrics.Registry; prometheus.NewRegistry().MustRegister(|' {} +
  {
    echo '{"Replace": {'
    for test in "${archive%/*}"/*_test.go; do
      printf '"%s": "%s",\n' "$PWD/${folder%/*}/${test##*/}" "$PWD/$test"
    done
    (cd "$out" && find . -name '*.go' | LC_ALL=C sort) | sed -E "s|^\./(internal/)?(.*)|\"$PWD/$folder/\2\": \"$out/\1\2\"|; \$!s|\$|,|"
    echo '}}'
  } >"$out/overlay.json"
}

case ${1:-} in
  pack) pack "${2:?which commit}" ;;
  unpack) unpack ;;
  *) sed -n '5,11s/^# //p' "$0" >&2; exit 2 ;;
esac
