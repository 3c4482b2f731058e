#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# need-root.sh PURPOSE: fails with one sentence where this is not root on Linux.
set -euo pipefail

if [[ $(uname -s) != Linux ]]; then
  echo "A Linux machine is needed to $1: this is $(uname -s). In a virtual machine with Debian it works." >&2
  exit 1
fi
if [[ $(id -u) != 0 ]]; then
  echo "Root is needed to $1: network namespaces and cgroups are made. Run it as root, or with: sudo env PATH=\"\$PATH\" make ..." >&2
  exit 1
fi
