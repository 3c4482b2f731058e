#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0

# Writes everything that is derived from the types in api/v1beta2: deepcopy functions, the CRDs in
# api/crd, the Go client in pkg/generated and the pages in docs/reference; and draws the stories in
# docs/pictures. The tools are pinned in tools/go.mod. The result is the
# same wherever the clone lies.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

module=github.com/etcd-operator/etcd-operator
types=$module/api/v1beta2
client=$module/pkg/generated
header=hack/license-header.go.txt

# New files are made beside the old ones and take their place only when all are there: an interrupted
# run leaves the tree as it was, and what is no longer generated goes away.
mkdir -p _out
work=$(mktemp -d "$PWD/_out/generate.XXXXXX")
trap 'rm -rf "$work"' EXIT

go -C tools build -o "$work/bin/" tool ./modelschema ./reference ./story
export PATH="$work/bin:$PATH"

controller-gen \
  "object:headerFile=$header" crd paths=./api/v1beta2 \
  "output:object:dir=$work/deepcopy" "output:crd:dir=$work/crd"

modelschema "$work/crd" "$types" >"$work/models.json"
applyconfiguration-gen --go-header-file "$header" --openapi-schema "$work/models.json" \
  --output-pkg "$client/applyconfiguration" --output-dir "$work/client/applyconfiguration" "$types"
client-gen --go-header-file "$header" --clientset-name versioned \
  --input-base "$module" --input api/v1beta2 --apply-configuration-package "$client/applyconfiguration" \
  --output-pkg "$client/clientset" --output-dir "$work/client/clientset"
lister-gen --go-header-file "$header" \
  --output-pkg "$client/listers" --output-dir "$work/client/listers" "$types"
informer-gen --go-header-file "$header" \
  --versioned-clientset-package "$client/clientset/versioned" --listers-package "$client/listers" \
  --output-pkg "$client/informers" --output-dir "$work/client/informers" "$types"

reference "$work/crd" api/v1beta2 "$work/reference" api/crd internal/cluster internal/cluster/manifests
story docs/pictures "$work/pictures"

mv "$work"/deepcopy/*.go api/v1beta2/
rm -f api/crd/*.yaml
mv "$work"/crd/*.yaml api/crd/
rm -rf pkg/generated
mkdir -p pkg
mv "$work/client" pkg/generated
rm -rf docs/reference
mv "$work/reference" docs/reference
mv "$work"/pictures/*.svg docs/pictures/
