#!/usr/bin/env bash
# Copyright 2026 The etcd-operator Authors
# SPDX-License-Identifier: Apache-2.0
#
# manifests.sh PART FORM IMAGE: prints the Deployments (PART deployments) or the rights (PART rights) of the three operators
# for one way to install them (FORM namespaced, cluster-wide or chart). All ways are made of example/, and of nothing
# else; test/release compares what becomes of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../example"
part=$1 form=$2 image=${3:-}

namespace=etcd-operator
operators=(etcd-operator etcd-backup-operator etcd-restore-operator)

# deployment OPERATOR FILE
deployment() {
  awk -v form="$form" -v image="$image" -v operator="$1" -v namespace="$namespace" '
    /create_role.sh makes it/ { next }
    /^  name: / && !named { named = 1; print; if (form != "chart") print "  namespace: " namespace; next }
    /^  replicas: / && form == "chart" { print "  replicas: {{ .Values.replicas }}"; next }
    /^      serviceAccountName: / && form == "chart" {
      print
      print "      {{- include \"etcd-operator.scheduling\" (list . \"" operator "\") | nindent 6 }}"
      next
    }
    /^        image: / && form == "chart" { print "        image: {{ include \"etcd-operator.image\" . }}"; next }
    /^        image: / { print "        image: " image; next }
    /^        imagePullPolicy: / && form == "chart" { print "        imagePullPolicy: {{ .Values.image.pullPolicy }}"; next }
    /^        # To serve all namespaces/ {
      skip = 3
      if (form == "cluster-wide") print "        args:\n        - -cluster-wide"
      if (form == "chart") {
        print "        {{- with include \"etcd-operator.args\" (list . \"" operator "\") }}"
        print "        args:\n        {{- . | nindent 8 }}\n        {{- end }}"
      }
      next
    }
    skip > 0 { skip--; next }
    { print }
  ' "$2"
}

# of_chart OPERATOR FILE: a template of example/rbac as one of Helm. What belongs into the namespaces that are served is
# repeated for each; all namespaces together count as one without a name.
of_chart() {
  sed -e "s|<ROLE_NAME>|$1|g" -e "s|<ROLE_BINDING_NAME>|$1|g" -e "s|<SERVICE_ACCOUNT>|$1|g" \
    -e 's|<SERVED_KIND>|{{ if $.Values.clusterWide }}Cluster{{ end }}Role|g' \
    -e 's|<NAMESPACE>|{{ $.Release.Namespace }}|g' "rbac/$2" | awk '
      function show(served) {
        served = sub(/  namespace: <SERVED_NAMESPACE>\n/, "  {{- with . }}\n  namespace: {{ . }}\n  {{- end }}\n", object)
        if (served) print "{{- range ternary (list \"\") ($.Values.watchNamespaces | default (list $.Release.Namespace)) $.Values.clusterWide }}"
        printf "---\n%s", object
        if (served) print "{{- end }}"
        object = ""
      }
      /^---$/ { show(); next }
      { object = object $0 "\n" }
      END { show() }
    '
}

case $part in
  deployments)
    for operator in "${operators[@]}"; do
      file=deployment.yaml
      [[ $operator == etcd-operator ]] || file=$operator/deployment.yaml
      echo ---
      deployment "$operator" "$file"
    done
    ;;
  rights)
    if [[ $form != chart ]]; then
      rbac/create_role.sh --print "--$form" "--namespace=$namespace"
      exit
    fi
    for operator in "${operators[@]}"; do
      of_chart "$operator" service-account-template.yaml
      of_chart "$operator" "$operator-template.yaml"
      of_chart "$operator" bindings-template.yaml
      if [[ -f rbac/$operator-home-template.yaml ]]; then
        echo '{{- if and .Values.watchNamespaces (not (has .Release.Namespace .Values.watchNamespaces)) }}'
        of_chart "$operator" "$operator-home-template.yaml"
        echo '{{- end }}'
      fi
      echo '{{- if .Values.metrics.secure }}'
      of_chart "$operator" metrics-template.yaml
      echo '{{- end }}'
    done
    ;;
  *) echo "unknown part: $part" >&2; exit 1 ;;
esac
