#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# images.sh TAG TAR VERSION GIT_SHA ARCHITECTURE...: builds the operator's image for the
# given architectures and writes it to TAR, and beside it a list of what each is made of, as SPDX documents. No
# container engine is involved.
#
# The same sources, arguments and version of Go give the same image, byte for byte, on any machine: nothing of the machine,
# of the folder or of its git is part of it. test/image checks that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tag=$1 tar=$2 version=$3 git_sha=$4
shift 4

package=github.com/etcd-operator/etcd-operator/internal/process
platforms=()
mkdir -p "$(dirname "$tar")"
tar=$(cd "$(dirname "$tar")" && pwd)/$(basename "$tar")
work=${tar%.tar}.root
for arch in "$@"; do
  echo "building the operators for linux/$arch"
  root=$work/$arch
  mkdir -p "$root/usr/local/bin"
  # What is there from earlier is linked again only if it is not current; programs that are no more must not stay.
  for program in "$root"/usr/local/bin/*; do
    [[ -d cmd/$(basename "$program") ]] || rm -f "$program"
  done
  # The tag leaves out a second way to Google's store, with which nobody speaks and which makes the
  # programs a fifth larger.
  CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOAMD64=v1 GOARM64=v8.0 go build -trimpath -buildvcs=false -tags disable_grpc_modules \
    -ldflags "-s -w -X $package.version=$version -X $package.gitSHA=$git_sha" \
    -o "$root/usr/local/bin/" ./cmd/...
  platforms+=(--platform "linux/$arch=$root")
done

go -C lab run ./cmd/mkimage --output "$tar" --tag "$tag" "${platforms[@]}" \
  --user 65532:65532 --tmp --trust-store --sbom etcd-operator --entrypoint /usr/local/bin/etcd-operator \
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
