{{- define "floodmark.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "floodmark.labels" -}}
app.kubernetes.io/name: floodmark
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "floodmark.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}
