{{- define "etcd-operator.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* The arguments of an operator: (list . name). */}}
{{- define "etcd-operator.args" -}}
{{- $root := index . 0 }}
{{- $args := index $root.Values.args (index . 1) | default list }}
{{- if $root.Values.metrics.secure }}{{ $args = prepend $args "-metrics-secure" }}{{ end }}
{{- if $root.Values.clusterWide }}{{ $args = prepend $args "-cluster-wide" }}{{ end }}
{{- with $root.Values.watchNamespaces }}{{ $args = prepend $args (printf "-watch-namespaces=%s" (join "," .)) }}{{ end }}
{{- if $args }}{{ toYaml $args }}{{ end }}
{{- end }}

{{- /* Where the pods of an operator run: (list . name). */}}
{{- define "etcd-operator.scheduling" -}}
{{- $root := index . 0 }}
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
{{ toYaml . }}
{{- end }}
{{- with $root.Values.nodeSelector }}
nodeSelector:
{{ toYaml . | indent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations:
{{ toYaml . }}
{{- end }}
{{- if gt (int $root.Values.replicas) 1 }}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: DoNotSchedule
  labelSelector:
    matchLabels:
      name: {{ index . 1 }}
  matchLabelKeys: [pod-template-hash]
  nodeTaintsPolicy: Honor
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      name: {{ index . 1 }}
  matchLabelKeys: [pod-template-hash]
  nodeTaintsPolicy: Honor
{{- end }}
{{- end }}
