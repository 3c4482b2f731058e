#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

templates=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<EOF
Gives the service account "default" of a namespace the rights that the operators
of this project need. It may be repeated.

Usage: $(basename "$0") [options]

  --role-name=NAME          name of the role (env ROLE_NAME; default etcd-operator)
  --role-binding-name=NAME  name of the binding (env ROLE_BINDING_NAME; default etcd-operator)
  --namespace=NAME          namespace of the operator, which must exist (env NAMESPACE; default default)
  --namespaced              for an operator without -cluster-wide: rights in its own
                            namespace only, and beyond it for its CRD and for reading nodes
  -h, --help                this text

The commands go to the cluster that kubectl points at.
EOF
}

role=${ROLE_NAME:-etcd-operator}
binding=${ROLE_BINDING_NAME:-etcd-operator}
namespace=${NAMESPACE:-default}
namespaced=false

for option in "$@"; do
  case $option in
    --role-name=*) role=${option#*=} ;;
    --role-binding-name=*) binding=${option#*=} ;;
    --namespace=*) namespace=${option#*=} ;;
    --namespaced) namespaced=true ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown option: $option" >&2; usage >&2; exit 1 ;;
  esac
done

if ! command -v kubectl >/dev/null; then
  echo "kubectl is not in the PATH: install it, or add the folder of the one that \`make lab-up\` names." >&2
  exit 1
fi

# apply_template FILE: fills the placeholders of a template and applies it.
apply_template() {
  sed -e "s|<ROLE_NAME>|$role|g" -e "s|<ROLE_BINDING_NAME>|$binding|g" -e "s|<NAMESPACE>|$namespace|g" \
    "$templates/$1" | kubectl apply -f -
}

if $namespaced; then
  apply_template role-template.yaml
  apply_template role-binding-template.yaml
  # ClusterRoles of several namespaces must not overwrite each other.
  role=$role-$namespace binding=$binding-$namespace
  apply_template cluster-role-crd-template.yaml
else
  apply_template cluster-role-template.yaml
fi
apply_template cluster-role-binding-template.yaml
