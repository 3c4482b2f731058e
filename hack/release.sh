#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# release.sh VERSION OUT: writes all that is installed without an image of its own to the folder OUT: install.yaml in two
# variants, the kustomize base with its overlays, the Helm chart, the OLM bundle, the notes, and provenance and checksums of
# everything in OUT. `make release` puts the image and the plugin there first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$1 out=$2

fail() {
  echo "$1" >&2
  exit 1
}

[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "VERSION must be like v1.2.3, and is $version"
repository=ghcr.io/etcd-operator/etcd-operator
image=$repository:$version
namespace=etcd-operator
mkdir -p "$out"
out=$(cd "$out" && pwd)

# The notes are the section of this version in the changelog, those of a pre-release without one the newest section.
section() { awk -v heading="$1" '$0 == heading || index($0, heading " ") == 1 {found = 1; next} /^## / {found = 0} found' CHANGELOG.md; }
notes=$(section "## $version")
[[ -n $notes || $version != *-* ]] || notes=$(section "$(grep -m 1 '^## ' CHANGELOG.md)")
[[ -n ${notes//[[:space:]]/} ]] || fail "CHANGELOG.md has no section \"## $version\": write what users have to know"
printf '# etcd-operator %s\n%s\n' "$version" "$notes" >"$out/release-notes.md"

namespace_object() {
  printf -- '---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: %s\n' "$namespace"
}

crds() {
  local file
  for file in api/crd/*.yaml; do
    [[ $(head -n 1 "$file") == --- ]] || echo ---
    cat "$file"
  done
}

# One file for each way to serve.
for form in namespaced cluster-wide; do
  { namespace_object; crds; hack/manifests.sh rights "$form"; hack/manifests.sh deployments "$form" "$image"; } >"$out/install-$form.yaml"
done
cp "$out/install-namespaced.yaml" "$out/install.yaml"

# kustomize: the base is what both overlays have.
kustomize=$out/kustomize
rm -rf "$kustomize"
mkdir -p "$kustomize/base/crds" "$kustomize/overlays/namespaced" "$kustomize/overlays/cluster-wide"
cp api/crd/*.yaml "$kustomize/base/crds/"
namespace_object >"$kustomize/base/namespace.yaml"
hack/manifests.sh deployments namespaced "$repository" >"$kustomize/base/deployments.yaml"
{
  printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- namespace.yaml\n- deployments.yaml\n'
  (cd "$kustomize/base" && printf -- '- %s\n' crds/*.yaml)
  printf 'images:\n- name: %s\n  newTag: %s\n' "$repository" "$version"
} >"$kustomize/base/kustomization.yaml"
for form in namespaced cluster-wide; do
  hack/manifests.sh rights "$form" >"$kustomize/overlays/$form/rights.yaml"
  printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ../../base\n- rights.yaml\n' >"$kustomize/overlays/$form/kustomization.yaml"
done
cat >>"$kustomize/overlays/cluster-wide/kustomization.yaml" <<EOF
patches:
- target:
    kind: Deployment
  patch: |
    - op: add
      path: /spec/template/spec/containers/0/args
      value: [-cluster-wide]
EOF

# The chart. What is in crds/, Helm installs, and neither upgrades nor deletes: the operators upgrade their own.
chart=$out/chart/etcd-operator
rm -rf "$chart"
mkdir -p "$chart/crds"
cp -r charts/etcd-operator/. "$chart/"
cp api/crd/*.yaml "$chart/crds/"
cp LICENSE "$chart/"
sed -i -e "s|^version: .*|version: ${version#v}|" -e "s|^appVersion: .*|appVersion: $version|" "$chart/Chart.yaml"
hack/manifests.sh rights chart >"$chart/templates/rights.yaml"
hack/manifests.sh deployments chart >"$chart/templates/deployments.yaml"
# The archive is the same whenever it is made.
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$out/chart" -cf - etcd-operator | gzip -n >"$out/etcd-operator-${version#v}.tgz"

# The bundle of the Operator Lifecycle Manager is made of the file that kubectl installs.
rm -rf "$out/bundle"
mkdir -p "$out/bundle"
go -C tools run ./olmbundle "$out/install-namespaced.yaml" "$version" "$PWD/hack/olm/description.md" "$out/bundle"

commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
[[ -z $(git status --porcelain 2>/dev/null) ]] || commit+=-dirty
go -C tools run ./provenance "$out" "$version" "$commit" "$(go env GOVERSION)" "$image" >"$out/provenance.intoto.json.new"
mv "$out/provenance.intoto.json.new" "$out/provenance.intoto.json"

(cd "$out" && find . -type f ! -name checksums.txt -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >checksums.txt)
echo "$version is in $out"
