#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# plugin.sh FOLDER VERSION GIT_SHA [OS/ARCHITECTURE...]: builds kubectl-etcd for the given platforms, or
# for all of them, packs each into an archive in FOLDER, and writes the manifest for krew beside them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$1 version=$2 git_sha=$3
shift 3
platforms=("$@")
((${#platforms[@]})) || platforms=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)

# krew wants a version such as v1.2.3.
tag=$version
[[ $tag =~ ^v[0-9]+\.[0-9]+\.[0-9]+ ]] || tag=v0.0.0-$version

mkdir -p "$out"
manifest=$out/etcd.yaml
sed "s|<version>|$tag|" hack/krew/etcd.yaml >"$manifest"
package=github.com/etcd-operator/etcd-operator/cmd/kubectl-etcd/internal/cli
for platform in "${platforms[@]}"; do
  os=${platform%/*} arch=${platform#*/}
  echo "building kubectl-etcd for $platform"
  binary=kubectl-etcd
  [[ $os != windows ]] || binary=kubectl-etcd.exe
  folder=$out/$os-$arch
  mkdir -p "$folder"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go -C cmd/kubectl-etcd build -trimpath -tags disable_grpc_modules \
    -ldflags "-s -w -X $package.version=$version -X $package.gitSHA=$git_sha" -o "$folder/$binary" .
  cp LICENSE "$folder/"
  files=("$binary" LICENSE)
  if [[ $os != windows ]]; then # kubectl asks a program of this name for completions
    printf '#!/bin/sh\nexec kubectl-etcd __complete "$@"\n' >"$folder/kubectl_complete-etcd"
    chmod +x "$folder/kubectl_complete-etcd"
    files+=(kubectl_complete-etcd)
  fi
  archive=kubectl-etcd_${tag}_${os}_$arch.tar.gz
  # The same files give the same archive, so that its sum can be compared.
  tar -C "$folder" --sort=name --owner=0 --group=0 --mtime=@0 -cf - "${files[@]}" | gzip -n >"$out/$archive"
  cat >>"$manifest" <<EOF
  - selector:
      matchLabels:
        os: $os
        arch: $arch
    uri: https://github.com/etcd-operator/etcd-operator/releases/download/$tag/$archive
    sha256: $(sha256sum "$out/$archive" | cut -d' ' -f1)
    bin: $binary
EOF
done
