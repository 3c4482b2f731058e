#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# images.sh TAG TAR VERSION GIT_SHA ARCHITECTURE...: builds the operator's image for the
# given architectures and writes it to TAR. No container engine is involved.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tag=$1 tar=$2 version=$3 git_sha=$4
shift 4

# The stores of backups are reached over TLS.
certificates=/etc/ssl/certs/ca-certificates.crt
if [[ ! -s $certificates ]]; then
  if [[ $(id -u) != 0 ]]; then
    echo "$certificates is missing: install Debian's package ca-certificates, or run this once as root." >&2
    exit 1
  fi
  apt-get update
  apt-get install -y --no-install-recommends ca-certificates
fi

package=github.com/etcd-operator/etcd-operator/internal/process
platforms=()
for arch in "$@"; do
  echo "building the operators for linux/$arch"
  root=_out/image/$arch
  mkdir -p "$root/usr/local/bin"
  # The tag leaves out a second way to Google's store, with which nobody speaks and which makes the
  # programs a fifth larger.
  CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -tags disable_grpc_modules \
    -ldflags "-s -w -X $package.version=$version -X $package.gitSHA=$git_sha" \
    -o "$root/usr/local/bin/" ./cmd/...
  platforms+=(--platform "linux/$arch=$PWD/$root")
done

mkdir -p "$(dirname "$tar")"
go -C lab run ./cmd/mkimage --output "$tar" --tag "$tag" "${platforms[@]}" \
  --user 65532:65532 --tmp --ca-certificates "$certificates" --entrypoint /usr/local/bin/etcd-operator \
  --env PATH=/usr/local/bin \
  --label org.opencontainers.image.title=etcd-operator \
  --label org.opencontainers.image.description="Runs etcd clusters on Kubernetes" \
  --label org.opencontainers.image.source=https://github.com/etcd-operator/etcd-operator \
  --label org.opencontainers.image.licenses=Apache-2.0 \
  --label org.opencontainers.image.version="$version" \
  --label org.opencontainers.image.revision="$git_sha"

# What root has built with sudo is the user's.
if [[ $(id -u) == 0 && -n ${SUDO_UID:-} ]]; then
  chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" _out
fi
