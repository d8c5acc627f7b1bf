{{/* Words that more than one object needs. A component is api, dispatcher or clickhouse. */}}

{{- define "kexbench.fullname" -}}
{{- $release := ternary .Release.Name (printf "%s-kexbench" .Release.Name) (contains "kexbench" .Release.Name) -}}
{{- .Values.fullnameOverride | default $release | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that select a component's pods: (list . "api"). They never change. */}}
{{- define "kexbench.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: kexbench
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* All labels of a component's objects: (list . "api"). */}}
{{- define "kexbench.labels" -}}
{{- $root := index . 0 -}}
{{ include "kexbench.selector" . }}
app.kubernetes.io/part-of: kexbench
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end -}}

{{/* The image named service, runner or builder: (list . "service"). */}}
{{- define "kexbench.image" -}}
{{- $root := index . 0 -}}
{{- $image := $root.Values.image -}}
{{- index $image (index . 1) | default (printf "%s/%s:%s" $image.prefix (index . 1) ($image.tag | default $root.Chart.AppVersion)) -}}
{{- end -}}

{{- define "kexbench.apiUrl" -}}
http://{{ include "kexbench.fullname" . }}-api.{{ .Release.Namespace }}.svc:8350
{{- end -}}

{{/*
What the pods of all components have in common: (list . 65532), with the user's id.
Service links stay off: of a Service called kexbench they would make a variable KEXBENCH_PORT, which is a setting.
*/}}
{{- define "kexbench.pod" -}}
{{- $root := index . 0 -}}
{{- $user := index . 1 -}}
enableServiceLinks: false
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  {{- if not $root.Values.pods.userFromPlatform }}
  runAsUser: {{ $user }}
  runAsGroup: {{ $user }}
  fsGroup: {{ $user }}
  {{- end }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with $root.Values.scheduling.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.scheduling.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.scheduling.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Of several replicas each on a node of its own, where there are enough: (list . "api" replicas). */}}
{{- define "kexbench.spread" -}}
{{- if gt (int (index . 2)) 1 -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "kexbench.selector" . | nindent 8 }}
{{- end -}}
{{- end -}}

{{/*
What the site wants of every container, as JSON lists: env, mounts, volumes. What tools read certificates from is named
by each of its names. Kubernetes is asked without the proxy, whose address every pod knows.
*/}}
{{- define "kexbench.siteEnv" -}}
{{- $pods := .Values.pods -}}
{{- $env := list -}}
{{- if $pods.caBundle.configMap -}}
{{- range list "SSL_CERT_FILE" "REQUESTS_CA_BUNDLE" "CURL_CA_BUNDLE" "GIT_SSL_CAINFO" "CARGO_HTTP_CAINFO" -}}
{{- $env = append $env (dict "name" . "value" "/etc/kexbench/ca/ca.crt") -}}
{{- end -}}
{{- end -}}
{{- $proxied := list -}}
{{- with $pods.proxy.http }}{{ $proxied = concat $proxied (list (dict "name" "HTTP_PROXY" "value" .) (dict "name" "http_proxy" "value" .)) }}{{ end -}}
{{- with $pods.proxy.https }}{{ $proxied = concat $proxied (list (dict "name" "HTTPS_PROXY" "value" .) (dict "name" "https_proxy" "value" .)) }}{{ end -}}
{{- if $proxied -}}
{{- $apiHost := list -}}
{{- with .Values.jobs.apiUrl }}{{ $apiHost = list (urlParse .).hostname }}{{ end -}}
{{- $no := concat (list "localhost" "127.0.0.1" "::1" ".svc" ".cluster.local" "$(KUBERNETES_SERVICE_HOST)") $apiHost $pods.proxy.except | join "," -}}
{{- $env = concat $env $proxied (list (dict "name" "NO_PROXY" "value" $no) (dict "name" "no_proxy" "value" $no)) -}}
{{- end -}}
{{- $env = append $env (dict "name" "KEXBENCH_LOG" "value" "json") -}}
{{- concat $env $pods.env | default list | toJson -}}
{{- end -}}

{{/* Where traces are sent, as a JSON list of variables: for what adds to them, and not for builds. */}}
{{- define "kexbench.tracesEnv" -}}
{{- $env := list -}}
{{- with .Values.traces -}}
{{- if .endpoint -}}
{{- $env = append $env (dict "name" "OTEL_EXPORTER_OTLP_ENDPOINT" "value" .endpoint) -}}
{{- with .headersSecret -}}
{{- if .name }}{{ $env = append $env (dict "name" "OTEL_EXPORTER_OTLP_HEADERS" "valueFrom" (dict "secretKeyRef" (dict "name" .name "key" .key))) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $env | toJson -}}
{{- end -}}

{{- define "kexbench.siteMounts" -}}
{{- $ca := list -}}
{{- if .Values.pods.caBundle.configMap }}{{ $ca = list (dict "name" "site-ca" "mountPath" "/etc/kexbench/ca" "readOnly" true) }}{{ end -}}
{{- concat $ca .Values.pods.volumeMounts | default list | toJson -}}
{{- end -}}

{{- define "kexbench.siteVolumes" -}}
{{- $ca := list -}}
{{- with .Values.pods.caBundle }}
{{- if .configMap }}{{ $ca = list (dict "name" "site-ca" "configMap" (dict "name" .configMap "items" (list (dict "key" .key "path" "ca.crt")))) }}{{ end -}}
{{- end -}}
{{- concat $ca .Values.pods.volumes | default list | toJson -}}
{{- end -}}

{{/* The same for the pods of jobs, which the dispatcher has made. */}}
{{- define "kexbench.jobPods" -}}
apiVersion: kexbench.dev/v1
kind: JobPods
env: {{ include "kexbench.siteEnv" . }}
jobEnv: {{ include "kexbench.tracesEnv" . }}
volumes: {{ include "kexbench.siteVolumes" . }}
volumeMounts: {{ include "kexbench.siteMounts" . }}
priorityClassName: {{ .Values.jobs.priorityClassName | quote }}
userFromPlatform: {{ .Values.pods.userFromPlatform }}
pendingSeconds: {{ .Values.jobs.pendingSeconds }}
{{- with .Values.jobs.paths }}
{{- if .enabled }}
paths: { seccompProfile: {{ .seccompProfile | quote }}, device: {{ .device | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{/* A JSON list as the items of a YAML list; nothing where it is empty. */}}
{{- define "kexbench.items" -}}
{{- with fromJsonArray . }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{- define "kexbench.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Settings that say where the store is; none for the embedded one. */}}
{{- define "kexbench.storeSettings" -}}
{{- $store := .Values.store -}}
{{- if ne $store.mode "embedded" -}}
- name: KEXBENCH_STORE_DATABASE
  value: {{ $store.database }}
{{ end -}}
{{- if eq $store.mode "clickhouse" -}}
- name: STORE_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ required "store.clickhouse.passwordSecret.name: name the Secret with the password of user kexbench" $store.clickhouse.passwordSecret.name }}
      key: {{ $store.clickhouse.passwordSecret.key }}
- name: KEXBENCH_STORE_URL
  value: http://kexbench:$(STORE_PASSWORD)@{{ include "kexbench.fullname" . }}-clickhouse:8123
{{- else if eq $store.mode "external" -}}
- name: KEXBENCH_STORE_URL
  valueFrom:
    secretKeyRef:
      name: {{ required "store.external.urlSecret.name: name the Secret with the URL of your ClickHouse" $store.external.urlSecret.name }}
      key: {{ $store.external.urlSecret.key }}
- name: KEXBENCH_STORE_ENGINE
  value: {{ $store.external.engine }}
{{- if $store.external.caSecret.name }}
- name: KEXBENCH_STORE_CA_FILE
  value: /etc/kexbench/store-ca/{{ $store.external.caSecret.key }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* The names that the API is reached by: its Service's, that of jobs.apiUrl, and those of people. An Ingress's is in
KEXBENCH_PUBLIC_URL. */}}
{{- define "kexbench.allowedHosts" -}}
{{- $service := printf "%s-api" (include "kexbench.fullname" .) -}}
{{- $inNamespace := printf "%s.%s" $service .Release.Namespace -}}
{{- $names := list $service $inNamespace (printf "%s.svc" $inNamespace) (printf "%s.svc.cluster.local" $inNamespace) -}}
{{- with .Values.jobs.apiUrl }}{{ $names = append $names (urlParse .).hostname }}{{ end -}}
{{- concat $names .Values.api.allowedHosts | uniq | join "," -}}
{{- end -}}

{{/* How people log in. They come back to KEXBENCH_PUBLIC_URL, which an Ingress has. */}}
{{- define "kexbench.loginSettings" -}}
{{- if not .Values.ingress.enabled -}}
{{- fail "oidc.issuer: a login needs ingress.enabled, since the provider sends people back to that address" -}}
{{- end -}}
{{- $pairs := list -}}
{{- range $role, $groups := .Values.oidc.roles -}}
{{- range $groups -}}{{- $pairs = append $pairs (printf "%s=%s" $role .) -}}{{- end -}}
{{- end -}}
- name: KEXBENCH_OIDC_ISSUER
  value: {{ .Values.oidc.issuer | quote }}
- name: KEXBENCH_OIDC_CLIENT_ID
  value: {{ .Values.oidc.clientId | quote }}
- name: KEXBENCH_OIDC_CLIENT_SECRET_FILE
  value: /etc/kexbench/oidc/{{ .Values.oidc.clientSecret.key }}
- name: KEXBENCH_OIDC_GROUPS_CLAIM
  value: {{ .Values.oidc.groupsClaim | quote }}
- name: KEXBENCH_OIDC_ROLES
  value: {{ required "oidc.roles: give a group a role" (join "," $pairs) | quote }}
- name: KEXBENCH_READERS
  value: {{ .Values.oidc.readers }}
{{- end -}}

{{/* Settings that api and dispatcher have in common. */}}
{{- define "kexbench.clusterSettings" -}}
- name: KEXBENCH_ACCESS
  value: cluster
- name: KEXBENCH_CACHE
  value: /tmp/cache
- name: KEXBENCH_POOLS
  value: /etc/kexbench/pools/pools.yaml
- name: KEXBENCH_CATALOGUE
  value: /etc/kexbench/catalogue/libraries.yaml
{{- if .Values.repositories }}
- name: KEXBENCH_REPOSITORIES
  value: /etc/kexbench/repositories/repositories.yaml
{{- end }}
{{- if .Values.channels }}
- name: KEXBENCH_CHANNELS
  value: /etc/kexbench/channels/channels.yaml
{{- end }}
{{- if .Values.ingress.enabled }}
- name: KEXBENCH_PUBLIC_URL
  value: {{ ternary "https" "http" (ne .Values.ingress.tlsSecret "") }}://{{ .Values.ingress.host }}
{{- end }}
- name: KEXBENCH_CLUSTER_NAMESPACE
  value: {{ .Values.jobs.namespace.name }}
- name: KEXBENCH_JOB_SERVICE_ACCOUNT
  value: {{ include "kexbench.fullname" . }}-job
- name: KEXBENCH_BUILDER_SERVICE_ACCOUNT
  value: {{ include "kexbench.fullname" . }}-builder
- name: KEXBENCH_DISPATCHER_SERVICE_ACCOUNT
  value: {{ .Release.Namespace }}:{{ include "kexbench.fullname" . }}-dispatcher
{{- end -}}

{{- define "kexbench.configMounts" -}}
- name: pools
  mountPath: /etc/kexbench/pools
  readOnly: true
- name: catalogue
  mountPath: /etc/kexbench/catalogue
  readOnly: true
{{- if .Values.repositories }}
- name: repositories
  mountPath: /etc/kexbench/repositories
  readOnly: true
{{- range .Values.repositorySecrets }}
- name: secret-{{ . | replace "." "-" }}
  mountPath: /etc/kexbench/secrets/{{ . }}
  readOnly: true
{{- end }}
{{- end }}
{{- if .Values.channels }}
- name: channels
  mountPath: /etc/kexbench/channels
  readOnly: true
{{- end }}
{{- end -}}

{{- define "kexbench.configVolumes" -}}
- name: pools
  configMap:
    name: {{ include "kexbench.fullname" . }}-pools
- name: catalogue
  configMap:
    name: {{ include "kexbench.fullname" . }}-catalogue
{{- if .Values.repositories }}
- name: repositories
  configMap:
    name: {{ include "kexbench.fullname" . }}-repositories
{{- range .Values.repositorySecrets }}
- name: secret-{{ . | replace "." "-" }}
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end }}
{{- if .Values.channels }}
- name: channels
  configMap:
    name: {{ include "kexbench.fullname" . }}-channels
{{- end }}
{{- end -}}

{{/* Pods start anew when what they read at their start has changed. */}}
{{- define "kexbench.configChecksum" -}}
kexbench.dev/config: {{ list (include "kexbench.jobPods" .) (toYaml .Values.pools) (toYaml .Values.repositories) (toYaml .Values.channels) (toYaml .Values.views) (.Values.catalogue | default (.Files.Get "files/libraries.yaml")) | join "\n" | sha256sum }}
{{- end -}}

{{- define "kexbench.egressDns" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns | nindent 4 }}
  ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end -}}

{{/* Out to address ranges: (dict "cidrs" … "ports" … "except" …). */}}
{{- define "kexbench.egressAddresses" -}}
{{- $except := .except -}}
- to:
    {{- range .cidrs }}
    - ipBlock:
        cidr: {{ . }}
        {{- with $except }}
        except: {{ toJson . }}
        {{- end }}
    {{- end }}
  ports:
    {{- range .ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end -}}

{{/* Out to the collector, if there is one. */}}
{{- define "kexbench.egressCollector" -}}
{{- if .Values.traces.endpoint -}}
- to:
    {{- toYaml .Values.networkPolicy.collector.peers | nindent 4 }}
  ports:
    {{- range .Values.networkPolicy.collector.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end -}}
{{- end -}}

{{/* Out to a component of this release: (list . "api" 8350). */}}
{{- define "kexbench.egressComponent" -}}
{{- $root := index . 0 -}}
- to:
    - namespaceSelector:
        matchLabels:
          kubernetes.io/metadata.name: {{ $root.Release.Namespace }}
      podSelector:
        matchLabels:
          {{- include "kexbench.selector" (list $root (index . 1)) | nindent 10 }}
  ports:
    - { protocol: TCP, port: {{ index . 2 }} }
{{- end -}}

{{- define "kexbench.clickhouseConfig" -}}
# Merged into the image's own configuration: it listens in the pod's network, logs to the console, and keeps
# no log tables that nobody reads.
server.xml: |
  <clickhouse>
    <listen_host>::</listen_host>
    <listen_host>0.0.0.0</listen_host>
    <listen_try>1</listen_try>
    <logger>
      <level>warning</level>
      <console>1</console>
      <log remove="remove"/>
      <errorlog remove="remove"/>
    </logger>
    <asynchronous_metric_log remove="remove"/>
    <metric_log remove="remove"/>
    <processors_profile_log remove="remove"/>
    <query_thread_log remove="remove"/>
    <text_log remove="remove"/>
    <trace_log remove="remove"/>
  </clickhouse>
# One user, who may do all in one database, and read the sizes of its tables; the one without a password is gone.
users.xml: |
  <clickhouse>
    <users>
      <default remove="remove"/>
      <kexbench>
        <password from_env="STORE_PASSWORD"/>
        <networks><ip>::/0</ip></networks>
        <profile>default</profile>
        <quota>default</quota>
        <grants>
          <query>GRANT ALL ON {{ .Values.store.database }}.*</query>
          <query>GRANT SELECT ON system.parts</query>
          <query>GRANT SELECT ON system.parts_columns</query>
          <query>GRANT SELECT ON system.disks</query>
        </grants>
      </kexbench>
    </users>
  </clickhouse>
{{- end -}}

{{/* Labels as `kubectl -l` takes them. */}}
{{- define "kexbench.labelSelector" -}}
{{- $terms := list -}}
{{- range $key, $value := . -}}{{- $terms = append $terms (printf "%s=%s" $key $value) -}}{{- end -}}
{{- join "," $terms -}}
{{- end -}}
