#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

templates=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<EOF
Gives each operator a ServiceAccount of its own name, and the rights that it needs: in
one namespace, in some, or in all of them. It may be repeated.

Usage: $(basename "$0") [options]

  --namespace=NAME          namespace of the operators, which must exist (env NAMESPACE; default default)
  --cluster-wide            for operators with -cluster-wide: rights in all namespaces
  --watch-namespaces=NAME,...
                            for operators with -watch-namespaces=NAME,...: rights in these namespaces,
                            which must exist, and not in that of the operators unless it is among them
  --namespaced              rights in that namespace only; this is the default
  --operators=NAME,...      only for these; default etcd-operator,etcd-backup-operator,etcd-restore-operator
  --service-account=NAME    give all rights to this ServiceAccount, which must exist; manifests of the
                            original run under "default"
  --role-name=NAME          name of the roles (env ROLE_NAME): NAME, NAME-backup and NAME-restore; by
                            default they have the names of the operators
  --role-binding-name=NAME  the same for the bindings (env ROLE_BINDING_NAME)
  --admission-policy        limit the Secrets that the etcd-restore-operator may write by a
                            ValidatingAdmissionPolicy as well; it takes Kubernetes 1.30
  --metrics-secure          for operators with -metrics-secure: let them ask who may read metrics
  --print                   print the objects instead of applying them; to take them away:
                            $(basename "$0") [options] --print | kubectl delete -f -
  -h, --help                this text

The commands go to the cluster that kubectl points at. docs/rights.md lists what is granted.
EOF
}

fail() {
  echo "$1" >&2
  exit 1
}

role=${ROLE_NAME:-}
binding=${ROLE_BINDING_NAME:-}
namespace=${NAMESPACE:-default}
account=
operators=etcd-operator,etcd-backup-operator,etcd-restore-operator
served=Role
watched=
policy=false
metrics=false
print=false

for option in "$@"; do
  case $option in
    --role-name=*) role=${option#*=} ;;
    --role-binding-name=*) binding=${option#*=} ;;
    --namespace=*) namespace=${option#*=} ;;
    --service-account=*) account=${option#*=} ;;
    --operators=*) operators=${option#*=} ;;
    --cluster-wide) served=ClusterRole ;;
    --watch-namespaces=*) watched=${option#*=} ;;
    --namespaced) served=Role ;;
    --admission-policy) policy=true ;;
    --metrics-secure) metrics=true ;;
    --print) print=true ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown option: $option" >&2; usage >&2; exit 1 ;;
  esac
done

# The names go into manifests: none may change what else they say.
for name in "$role" "$binding" "$namespace" "$account" "$operators" "$watched"; do
  case $name in
    *[!a-zA-Z0-9.,:_-]*) fail "not a name: $name" ;;
  esac
done

if [[ -n $watched && $served == ClusterRole ]]; then
  fail "--cluster-wide is for all namespaces and --watch-namespaces for some: leave one of them out"
fi
# The namespaces whose objects are served. Of all of them there is one ClusterRole.
namespaces=${watched:-$namespace}
namespaces=" ${namespaces//,/ } "
home_is_served=true
if [[ $namespaces != *" $namespace "* ]]; then
  home_is_served=false
fi

# name_of BASE OPERATOR: the operator's own name, or the base with what tells it from the others.
name_of() {
  local part=${2#etcd-}
  part=${part%operator}
  part=${part%-}
  if [[ -n $1 ]]; then
    echo "$1${part:+-$part}"
  else
    echo "$2"
  fi
}

# template OPERATOR FILE: fills the placeholders of a template.
template() {
  local in_namespace=b
  if [[ $served == ClusterRole ]]; then
    in_namespace='/<SERVED_NAMESPACE>/d'
  fi
  sed -e "s|<ROLE_NAME>|$(name_of "$role" "$1")|g" -e "s|<ROLE_BINDING_NAME>|$(name_of "$binding" "$1")|g" \
    -e "s|<SERVICE_ACCOUNT>|${account:-$1}|g" -e "s|<NAMESPACE>|$namespace|g" \
    -e "s|<SERVED_KIND>|$served|g" -e "$in_namespace" "$templates/$2" | for_each_namespace
}

# for_each_namespace repeats the objects that belong into the namespaces that are served.
for_each_namespace() {
  awk -v namespaces="$namespaces" '
    function show(i, count, names, text) {
      count = object ~ /<SERVED_NAMESPACE>/ ? split(namespaces, names, " ") : 1
      for (i = 1; i <= count; i++) {
        text = object
        gsub(/<SERVED_NAMESPACE>/, names[i], text)
        printf "---\n%s", text
      }
      object = ""
    }
    /^---$/ { show(); next }
    { object = object $0 "\n" }
    END { show() }
  '
}

objects() {
  local operator
  for operator in ${operators//,/ }; do
    if [[ -z $account ]]; then
      template "$operator" service-account-template.yaml
    fi
    template "$operator" "$operator-template.yaml"
    template "$operator" bindings-template.yaml
    if ! $home_is_served && [[ -f $templates/$operator-home-template.yaml ]]; then
      template "$operator" "$operator-home-template.yaml"
    fi
    if $metrics; then
      template "$operator" metrics-template.yaml
    fi
    if $policy && [[ $operator == etcd-restore-operator ]]; then
      template "$operator" restore-policy-template.yaml
    fi
  done
}

# warn_of_more OPERATOR: says so where rights in all namespaces are left from before. The original, and
# --cluster-wide, grant them by a ClusterRoleBinding of this name.
warn_of_more() {
  local name subjects
  name=$(name_of "$binding" "$1")
  subjects=$(kubectl get clusterrolebinding "$name" --ignore-not-found \
    -o 'jsonpath={range .subjects[*]}{.namespace}/{.name}{"\n"}{end}')
  if grep -qxF -e "$namespace/default" -e "$namespace/${account:-$1}" <<<"$subjects"; then
    echo "warning: ClusterRoleBinding $name still grants rights in all namespaces; if no operator needs" \
      "them, take them away: kubectl delete clusterrolebinding $name" >&2
  fi
}

for operator in ${operators//,/ }; do
  case $operator in
    etcd-operator | etcd-backup-operator | etcd-restore-operator) ;;
    *) fail "unknown operator: $operator" ;;
  esac
done

if $print; then
  objects
  exit
fi
if ! command -v kubectl >/dev/null; then
  fail "kubectl is not in the PATH: install it, or add the folder of the one that \`make lab-up\` names."
fi
objects | kubectl apply -f -
if [[ $served == Role ]]; then
  for operator in ${operators//,/ }; do
    warn_of_more "$operator"
  done
fi
