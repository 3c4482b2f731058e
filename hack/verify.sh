#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# verify.sh: fails if a generated file, the formatting or a go.mod is not what the tools
# make of it. It changes nothing, and uncommitted work is judged as it stands: code is
# generated in a copy of the tree, which is compared before and after.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

# complain TITLE ADVICE: reports what comes on standard input, if anything does.
complain() {
  local found
  found=$(cat)
  if [[ -n $found ]]; then
    printf '%s\n%s\nTo correct it: %s\n\n' "$1" "$found" "$2" >&2
    failed=1
  fi
}

# All files of the tree as it stands, without what is ignored.
tree=$(git ls-files -co --exclude-standard | while read -r file; do [[ ! -e $file ]] || echo "$file"; done)

echo "gofmt"
complain "These files are not formatted:" "gofmt -w <file>" < <(grep '\.go$' <<<"$tree" | xargs gofmt -l 2>&1)

echo "go mod tidy"
while read -r file; do
  module=$(dirname "$file")
  # On a new machine it also says what it fetches, which is no complaint.
  complain "go.mod or go.sum in $module is not tidy:" "go -C $module mod tidy" < <(go -C "$module" mod tidy -diff 2>&1 | grep -v '^go: downloading ' | head -n 30 || true)
done < <(grep -E '(^|/)go\.mod$' <<<"$tree")

echo "one version of each module"
# Two versions of one module in our modules would have everything above it compiled twice.
complain "These modules are required in more than one version:" "go -C <module> get <path>@<version>" < <(
  for module in . lab test cmd/kubectl-etcd tools; do go -C "$module" list -m -f '{{if not (or .Main .Replace)}}{{.Path}} {{.Version}}{{end}}' \
    $(sed -nE 's,^\s+([a-z0-9.]+/\S+) v.*,\1,p' "$module/go.mod"); done | sort -u | cut -d' ' -f1 | uniq -d)

# The copy always has the same path, so that Go's build cache serves it.
copy=$PWD/_out/verify
fingerprint() { (cd "$copy" && find . -type f -not -path './_out/*' -print0 | sort -z | xargs -0 sha256sum); }

echo "hack/generate.sh"
rm -rf "$copy" && mkdir -p "$copy"
tar -T - -c <<<"$tree" | tar -x -C "$copy"
before=$(fingerprint)
(cd "$copy" && hack/generate.sh)
complain "Generated files are not current (< as they are, > as they should be):" "make generate" < <(
  diff <(echo "$before") <(fingerprint) | grep '^[<>]' | sed -E 's/^([<>]) [0-9a-f]+ +/\1 /' || true)

exit $failed
