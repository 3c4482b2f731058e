#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

usage() {
  cat <<EOF
Makes the certificates of an etcd cluster with TLS, as example/tls/example-tls-cluster.yaml
asks for, and says how to make the Secrets of them. It needs openssl and nothing else.

Usage: $(basename "$0") [options]

  --cluster=NAME     name of the EtcdCluster (default example)
  --namespace=NAME   its namespace (default default)
  --domain=NAME      domain of the Kubernetes cluster (default cluster.local)
  --dir=FOLDER       where to put the files (default ./certs-NAME, with the cluster's name)
  --days=NUMBER      how long certificates are valid (default 365); their authorities, ten times that
  -h, --help         this text

Repeat it to renew: the authorities that are in the folder are used again, so that old and
new certificates are trusted at the same time, and members can be restarted one by one.
EOF
}

cluster=example
namespace=default
domain=cluster.local
dir=
days=365

for option in "$@"; do
  case $option in
    --cluster=*) cluster=${option#*=} ;;
    --namespace=*) namespace=${option#*=} ;;
    --domain=*) domain=${option#*=} ;;
    --dir=*) dir=${option#*=} ;;
    --days=*) days=${option#*=} ;;
    -h | --help) usage; exit 0 ;;
    *) echo "unknown option: $option" >&2; usage >&2; exit 1 ;;
  esac
done
dir=${dir:-certs-$cluster}

if ! command -v openssl >/dev/null; then
  echo "openssl is not in the PATH: install it." >&2
  exit 1
fi

# Keys are for nobody else to read.
umask 077
mkdir -p "$dir"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

# authority FILE NAME: makes a certificate authority, unless there is one.
authority() {
  if [[ -e $dir/$1.crt && -e $dir/$1.key ]]; then
    return
  fi
  new_key "$dir/$1.key"
  cat >"$scratch/$1.cnf" <<EOF
[req]
distinguished_name = subject
prompt = no
x509_extensions = authority
[subject]
CN = $2
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
EOF
  openssl req -x509 -new -sha256 -config "$scratch/$1.cnf" -key "$dir/$1.key" -days "$((days * 10))" -out "$dir/$1.crt"
}

# certificate FILE NAME AUTHORITY USAGE NAMES: makes a key and a certificate; NAMES may be empty.
certificate() {
  new_key "$dir/$1.key"
  cat >"$scratch/$1.cnf" <<EOF
[req]
distinguished_name = subject
prompt = no
[subject]
CN = $2
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = $4
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
${5:+subjectAltName = $5}
EOF
  openssl req -new -sha256 -config "$scratch/$1.cnf" -key "$dir/$1.key" -out "$scratch/$1.csr"
  openssl x509 -req -sha256 -in "$scratch/$1.csr" -CA "$dir/$3.crt" -CAkey "$dir/$3.key" -set_serial "0x$(openssl rand -hex 16)" \
    -days "$days" -extfile "$scratch/$1.cnf" -extensions leaf -out "$dir/$1.crt" 2>/dev/null
}

service=$cluster.$namespace.svc
client=$cluster-client.$namespace.svc

# Peers have an authority of their own: a client's certificate must not let anybody join as a member.
authority peer-ca "$cluster peers"
authority ca "$cluster clients"

# A peer is a server to some members and a client to others.
certificate peer "$cluster peer" peer-ca "serverAuth, clientAuth" \
  "DNS:*.$service, DNS:*.$service.$domain"
# etcd's HTTP gateway is a client of its own server, with the server's certificate.
certificate server "$cluster server" ca "serverAuth, clientAuth" \
  "DNS:*.$service, DNS:*.$service.$domain, DNS:$client, DNS:$client.$domain, DNS:$cluster-client, DNS:$cluster-client.$namespace, DNS:localhost, IP:127.0.0.1"
certificate etcd-client "etcd-operator" ca "clientAuth" ""
cp "$dir/ca.crt" "$dir/server-ca.crt"
cp "$dir/ca.crt" "$dir/etcd-client-ca.crt"

cat <<EOF
The certificates of EtcdCluster $namespace/$cluster are in $dir. Make the Secrets of them, or renew them:

for secret in peer server etcd-client; do
  kubectl --namespace=$namespace create secret generic "etcd-\${secret#etcd-}-tls" --dry-run=client --output=yaml \\
    --from-file="$dir/\$secret.crt" --from-file="$dir/\$secret.key" --from-file="$dir/\$secret-ca.crt" | kubectl apply -f -
done

Keep ca.key and peer-ca.key, which are needed to renew, away from the cluster.
EOF
