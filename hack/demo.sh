#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# demo.sh LAB IMAGE_TAR NODES [STORY]: a real Kubernetes on this machine, the operator in it, and
# an etcd cluster; then the program STORY, which lets all happen to it that can happen. It shows
# every command, so that it can be read as an introduction; it may be repeated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
lab=$1 image=$2 nodes=$3 story=${4:-}

step() { if [[ -t 1 ]]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi; }
run() { printf '$ %s\n' "$*"; "$@"; }

step "A Kubernetes cluster with $nodes nodes"
# The lab says at its end how to point kubectl at it.
pointer=$(run "$lab" up --nodes "$nodes" | tee >(cat >&2) | sed -n 's/^ *export /export /p')
eval "$pointer"
run kubectl get nodes

step "The operator's image, loaded into every node: there is no registry"
run "$lab" load "$image"

step "The operator: its rights, and a Deployment"
run example/rbac/create_role.sh
earlier=$(kubectl get deployment etcd-operator --ignore-not-found -o name)
run kubectl apply -f example/deployment.yaml
if [[ -n $earlier ]]; then
  # Pods of an earlier demo run the image that was there when they started.
  run kubectl rollout restart deployment/etcd-operator
fi
run kubectl rollout status deployment/etcd-operator --timeout=3m

step "The operator has created the definition of its kind"
run kubectl get crd etcdclusters.etcd.database.coreos.com

step "An etcd cluster"
if [[ -n $story && -n $(kubectl get etcd example-etcd-cluster --ignore-not-found -o name) ]]; then
  # That of an earlier demo has another version by now.
  run kubectl delete etcd example-etcd-cluster
  run kubectl wait --for=delete pod -l etcd_cluster=example-etcd-cluster --timeout=3m
fi
run cat example/example-etcd-cluster.yaml
run kubectl apply -f example/example-etcd-cluster.yaml
run kubectl wait --for=condition=Ready etcdcluster/example-etcd-cluster --timeout=3m
run kubectl get etcdclusters,pods

step "It stores what it is given"
member=$(kubectl get pods -l etcd_cluster=example-etcd-cluster -o jsonpath='{.items[0].metadata.name}')
run kubectl exec "$member" -c etcd -- etcdctl put greeting "hello from $member"
run kubectl exec "$member" -c etcd -- etcdctl get greeting
run kubectl exec "$member" -c etcd -- etcdctl member list -w table

if [[ -n $story ]]; then
  "$story" -lab "$lab" -nodes "$nodes" ${RECORD:+-record "$RECORD"}
  member=$(kubectl get pods -l etcd_cluster=example-etcd-cluster -o jsonpath='{.items[0].metadata.name}')
fi

cat <<EOF

Done. To look around, point kubectl at it:

  $pointer

  kubectl get etcd --watch
  kubectl delete pod $member               # it is replaced
  kubectl scale etcd/example-etcd-cluster --replicas=5
  kubectl logs deployment/etcd-operator

To end it and leave nothing behind:

  make demo-down
EOF
