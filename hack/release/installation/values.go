package installation

// values are the values of the chart with their defaults, which are those of the release.
const values = `# The image of the manager. The digest decides; remove it if you build the image yourself. An empty pull policy is the default of Kubernetes.
image:
  repository: REPOSITORY
  tag: TAG
  digest: "DIGEST"
  pullPolicy: ""
# Names of Secrets with credentials for the registry, as in [{name: registry}].
imagePullSecrets: []

# One replica reconciles, all answer webhooks.
replicas: 2
resources:
  requests:
    cpu: 50m
    memory: 128Mi
    ephemeral-storage: 64Mi
  limits:
    memory: 512Mi
    ephemeral-storage: 256Mi
# Nine tenths of the memory limit.
goMemoryLimit: 460MiB
nodeSelector: {}
affinity: {}
tolerations:
- key: node-role.kubernetes.io/control-plane
  effect: NoSchedule
priorityClassName: ""

namespace:
  # Whether the chart has the namespace of the Helm release, with the labels of pod security. Otherwise the namespace has to exist, or
  # helm creates it with --create-namespace.
  create: false

crds:
  # Whether the chart has the kinds of the provider. helm upgrade then upgrades them.
  install: true
  # Whether helm uninstall keeps the kinds. Without them, all clusters in the management cluster lose their objects.
  keep: true

# isolated: identities use credentials of their own namespace only. trusted: identities use any, as with the established provider.
tenancy: isolated

# The only namespace whose clusters are reconciled. Empty: all namespaces.
watchNamespace: ""
# Namespaces of clusters and identities, the only ones in which the manager gets rights to Secrets. Empty: all namespaces.
secretNamespaces: []

identity:
  # Annotations of the ServiceAccount of the manager, for admission webhooks such as that of Azure workload identity.
  serviceAccountAnnotations: {}
  # Whether the chart has the ServiceAccount of the Azure Service Operator, as which clusters of the established provider may sign in.
  operatorServiceAccount: true

azure:
  # The subscription of clusters that name none.
  subscriptionID: ""
  # Endpoints of another cloud. Empty: those that the cluster's azureEnvironment has.
  authorityHost: ""
  resourceManagerEndpoint: ""
  resourceManagerAudience: ""

featureGates:
  MachinePool: true
  ASOAPI: true
  AKSResourceHealth: false
  EdgeZone: false
  APIServerILB: false
  SkipMachinePoolModelReconciliation: false

syncPeriod: 10m
verbosity: 2
# Kinds of resource manifests that are sent to Azure without a check, as in [dashboard.azure.com/Grafana].
uncheckedASOKinds: []
diagnostics:
  address: ":8443"
  insecure: false
# Further arguments of the manager, as in ["--watch-filter=azure"].
extraArgs: []
# Further environment variables of the manager, as in [{name: HTTPS_PROXY, value: "http://proxy.example:3128"}].
extraEnv: []
# Further volumes of the pod, and where the manager has them, as for the certificates of a private CA.
extraVolumes: []
extraVolumeMounts: []

monitoring:
  # Whether the chart has a Service, a ServiceMonitor and alerts for the Prometheus operator, and a dashboard for Grafana.
  enabled: false
`

// schema describes the values. Helm refuses others.
const schema = `{
  "$schema": "https://json-schema.org/draft-07/schema#",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "global": {"type": "object"},
    "image": {
      "type": "object",
      "additionalProperties": false,
      "required": ["repository", "tag"],
      "properties": {
        "repository": {"type": "string", "minLength": 1},
        "tag": {"type": "string", "minLength": 1},
        "digest": {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
        "pullPolicy": {"enum": ["", "Always", "IfNotPresent", "Never"]}
      }
    },
    "imagePullSecrets": {"type": "array", "items": {"type": "object"}},
    "replicas": {"type": "integer", "minimum": 0},
    "resources": {"type": "object"},
    "goMemoryLimit": {"type": "string"},
    "nodeSelector": {"type": "object"},
    "affinity": {"type": "object"},
    "tolerations": {"type": "array", "items": {"type": "object"}},
    "priorityClassName": {"type": "string"},
    "namespace": {"type": "object", "additionalProperties": false, "properties": {"create": {"type": "boolean"}}},
    "crds": {"type": "object", "additionalProperties": false, "properties": {"install": {"type": "boolean"}, "keep": {"type": "boolean"}}},
    "tenancy": {"enum": ["isolated", "trusted"]},
    "watchNamespace": {"type": "string"},
    "secretNamespaces": {"type": "array", "items": {"type": "string", "minLength": 1}},
    "identity": {
      "type": "object",
      "additionalProperties": false,
      "properties": {"serviceAccountAnnotations": {"type": "object"}, "operatorServiceAccount": {"type": "boolean"}}
    },
    "azure": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "subscriptionID": {"type": "string"},
        "authorityHost": {"type": "string"},
        "resourceManagerEndpoint": {"type": "string"},
        "resourceManagerAudience": {"type": "string"}
      }
    },
    "featureGates": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "MachinePool": {"type": "boolean"},
        "ASOAPI": {"type": "boolean"},
        "AKSResourceHealth": {"type": "boolean"},
        "EdgeZone": {"type": "boolean"},
        "APIServerILB": {"type": "boolean"},
        "SkipMachinePoolModelReconciliation": {"type": "boolean"}
      }
    },
    "syncPeriod": {"type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"},
    "verbosity": {"type": "integer", "minimum": 0, "maximum": 10},
    "uncheckedASOKinds": {"type": "array", "items": {"type": "string", "pattern": "^[a-z.]+/[A-Za-z*]+$"}},
    "diagnostics": {
      "type": "object",
      "additionalProperties": false,
      "properties": {"address": {"type": "string"}, "insecure": {"type": "boolean"}}
    },
    "extraArgs": {"type": "array", "items": {"type": "string", "pattern": "^--"}},
    "extraEnv": {
      "type": "array",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["name"],
        "properties": {"name": {"type": "string", "minLength": 1}, "value": {"type": "string"}, "valueFrom": {"type": "object"}}
      }
    },
    "extraVolumes": {"type": "array", "items": {"type": "object", "required": ["name"]}},
    "extraVolumeMounts": {"type": "array", "items": {"type": "object", "required": ["name", "mountPath"]}},
    "monitoring": {"type": "object", "additionalProperties": false, "properties": {"enabled": {"type": "boolean"}}}
  }
}
`

// installNotes are printed after an installation.
const installNotes = `Cluster API Provider Azure runs in the namespace {{ .Release.Namespace }}.
Cluster API and cert-manager have to run in the same cluster.
The next step is a first cluster: docs/book/getting-started.md.
`
