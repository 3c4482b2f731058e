#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# images.sh TAG TAR VERSION GIT_SHA: builds the operator's image for amd64 and arm64
# and writes it to TAR. No container engine is involved.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tag=$1 tar=$2 version=$3 git_sha=$4

# The stores of backups are reached over TLS.
certificates=/etc/ssl/certs/ca-certificates.crt
if [[ ! -s $certificates ]]; then
  if [[ $(id -u) != 0 ]]; then
    echo "$certificates is missing: install Debian's package ca-certificates, or run this once as root." >&2
    exit 1
  fi
  apt-get install -y --no-install-recommends ca-certificates
fi

package=github.com/etcd-operator/etcd-operator/internal/process
for arch in amd64 arm64; do
  echo "building the operators for linux/$arch"
  root=_out/image/linux_$arch
  mkdir -p "$root/usr/local/bin" "$root/etc/ssl/certs"
  CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath \
    -ldflags "-s -w -X $package.version=$version -X $package.gitSHA=$git_sha" \
    -o "$root/usr/local/bin/" ./cmd/...
  cp "$certificates" "$root/etc/ssl/certs/"
done
