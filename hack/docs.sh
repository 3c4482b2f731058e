#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# docs.sh OUT [serve]: builds the site from the repository's pages into the folder OUT, and serves it on this machine if asked to.
# The generator is VitePress, in the version that tools/site pins. It is installed once into the user's cache folder, under a name
# that holds what was asked for; after that nothing is fetched.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$1

if ! command -v npm >/dev/null; then
  if [[ $(id -u) != 0 ]]; then
    echo "npm is missing: install Debian's package npm, or run this once as root." >&2
    exit 1
  fi
  apt-get update -qq && apt-get install -y -qq --no-install-recommends npm
fi

cache=${ETCD_OPERATOR_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/etcd-operator-lab}/tools
key=$({ node --version; cat tools/site/package.json tools/site/package-lock.json; } | sha256sum | cut -c1-16)
generator=$cache/site-$key
if [[ ! -d $generator ]]; then
  echo "installing VitePress: once on this machine"
  mkdir -p "$generator.$$"
  cp tools/site/package.json tools/site/package-lock.json "$generator.$$"
  (cd "$generator.$$" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)
  mv "$generator.$$" "$generator"
fi

work=$PWD/_out/docs
rm -rf "$work" && mkdir -p "$work/pages/lab"
cp -r tools/site/. "$work"
cp -r docs "$work/pages/docs"
cp CHANGELOG.md CONTRIBUTING.md SECURITY.md "$work/pages"
cp lab/README.md "$work/pages/lab"
ln -s "$generator/node_modules" "$work/node_modules"

"$generator/node_modules/.bin/vitepress" build "$work"
rm -rf "$out" && mv "$work/out" "$out"
echo "the site is in $out"

if [[ ${2-} == serve ]]; then
  ln -s "$out" "$work/out"
  exec "$generator/node_modules/.bin/vitepress" preview "$work" --host 127.0.0.1
fi
