{{- define "portcullis.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* Short enough for what is put behind it ("-admin") to fit into the 63 characters of a DNS label. */}}
{{- define "portcullis.fullname" -}}
{{- $name := include "portcullis.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "portcullis.selectorLabels" -}}
app.kubernetes.io/name: {{ include "portcullis.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "portcullis.labels" -}}
{{ include "portcullis.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "portcullis.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "portcullis.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "portcullis.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether there may be more than one gateway at a time: "true" or nothing. */}}
{{- define "portcullis.several" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}true{{ end }}
{{- end }}

{{/* Whether the data folder holds anything that must outlive a pod: "true" or nothing. */}}
{{- define "portcullis.stateful" -}}
{{- if not (and .Values.store.existingSecret .Values.blobs.bucket .Values.masterKey.existingSecret) }}true{{ end }}
{{- end }}

{{- define "portcullis.claim" -}}
{{- default (printf "%s-data" (include "portcullis.fullname" .)) .Values.persistence.existingClaim }}
{{- end }}

{{/* What cannot work, said at once. */}}
{{- define "portcullis.check" -}}
{{- $missing := list }}
{{- if not .Values.store.existingSecret }}
{{- $missing = append $missing "store.existingSecret (a PostgreSQL database for records)" }}
{{- end }}
{{- if not .Values.blobs.bucket }}
{{- $missing = append $missing "blobs.bucket (an S3 bucket for files)" }}
{{- end }}
{{- if not .Values.masterKey.existingSecret }}
{{- $missing = append $missing "masterKey.existingSecret (a master key for all)" }}
{{- end }}
{{- if and (include "portcullis.several" .) $missing }}
{{- fail (printf "more than one gateway (replicas, autoscaling) needs a shared store; set %s" (join ", " $missing)) }}
{{- end }}
{{- if and .Values.store.existingSecret (not .Values.masterKey.existingSecret) (not .Values.persistence.enabled) }}
{{- fail "the master key would end with its pod, and the database could not be read: set masterKey.existingSecret" }}
{{- end }}
{{- if and .Values.listen.h2c .Values.listen.tls.existingSecret }}
{{- fail "listen.h2c is HTTP/2 without TLS: with listen.tls, HTTP/2 is negotiated" }}
{{- end }}
{{- if le (int .Values.terminationGracePeriodSeconds) (int (add 30 .Values.preStopSeconds)) }}
{{- fail "terminationGracePeriodSeconds must be more than preStopSeconds and the 30 s of [limits] drain together" }}
{{- end }}
{{- end }}

{{/* What the chart writes before `config`: keys of no table come first in TOML. The folder lies within the volume: what
Kubernetes mounts is writable by everybody, and the gateway refuses such a folder. */}}
{{- define "portcullis.head" -}}
data = "/data/portcullis"
{{- end }}

{{/* What the chart writes behind `config`. */}}
{{- define "portcullis.tables" -}}
[[listen]]
address = "0.0.0.0:8080"
{{- if .Values.listen.h2c }}
h2c = true
{{- end }}
{{- if .Values.listen.proxyProtocol }}
proxy_protocol = true
{{- end }}
{{- if .Values.listen.tls.existingSecret }}
tls = { certificate = "/run/secrets/tls/tls.crt", key = "/run/secrets/tls/tls.key" }
{{- end }}

[admin]
address = "0.0.0.0:9180"
{{- if .Values.masterKey.existingSecret }}

[vault]
master_key = { file = "/run/secrets/portcullis/master-key" }
{{- end }}
{{- with .Values.store }}
{{- if .existingSecret }}

[store]
url = { file = "/run/secrets/portcullis/store-url" }
tls = {{ .tls | toJson }}
{{- if .ca }}
ca = {{ .ca | toJson }}
{{- end }}
connections = {{ int .connections }}
{{- end }}
{{- end }}
{{- with .Values.blobs }}
{{- if .bucket }}

[blobs.s3]
bucket = {{ .bucket | toJson }}
{{- if .endpoint }}
endpoint = {{ .endpoint | toJson }}
{{- end }}
region = {{ .region | toJson }}
{{- if .existingSecret }}
access_key = { file = "/run/secrets/portcullis/s3-access-key" }
secret_key = { file = "/run/secrets/portcullis/s3-secret-key" }
{{- end }}
presigned = {{ .presigned }}
{{- end }}
{{- end }}
{{- end }}
