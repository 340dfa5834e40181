package installation

import (
	"errors"
	"fmt"
	"strings"
)

// parametrize puts the values of the chart into an object, and returns the condition under which it is rendered, "" for always.
func parametrize(o object) (condition string, err error) {
	name, _ := at(o, "metadata", "name").(string)
	switch o["kind"] {
	case "Namespace":
		return ".Values.namespace.create", nil
	case "CustomResourceDefinition":
		annotations, _ := at(o, "metadata", "annotations").(object)
		if annotations == nil {
			return "", errors.New("it has no annotations")
		}
		annotations["helm.sh/resource-policy"] = `@@ternary "keep" "" .Values.crds.keep | quote@@`
		return ".Values.crds.install", nil
	case "Deployment":
		return "", parametrizeDeployment(o)
	case "PodDisruptionBudget":
		return "gt (int .Values.replicas) 1", nil
	case "Secret":
		data, _ := o["data"].(object)
		if _, has := data["subscription-id"]; !has || len(data) != 1 {
			return "", errors.New("its only key is to be subscription-id")
		}
		data["subscription-id"] = "@@.Values.azure.subscriptionID | b64enc | quote@@"
	case "ServiceAccount":
		if name != "capz-manager" {
			return ".Values.identity.operatorServiceAccount", nil
		}
		at(o, "metadata").(object)["annotations"] = "@@toYaml .Values.identity.serviceAccountAnnotations | nindent 4@@"
	case "ClusterRoleBinding":
		if name == secretsBinding {
			return "not .Values.secretNamespaces", nil
		}
	}
	return "", nil
}

// secretsBinding binds the manager's rights to Secrets in all namespaces.
const secretsBinding = "capz-system-secrets-rolebinding"

// bindingsByNamespace are the bindings in single namespaces instead of secretsBinding.
const bindingsByNamespace = `{{- range .Values.secretNamespaces }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  labels:
    cluster.x-k8s.io/provider: infrastructure-azure
  name: capz-secrets
  namespace: {{ . }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: capz-system-secrets-role
subjects:
- kind: ServiceAccount
  name: capz-manager
  namespace: {{ $.Release.Namespace }}
{{- end }}
`

// variables are the values of the chart by the variables of clusterctl for the manager.
var variables = map[string]string{
	"CAPZ_DIAGNOSTICS_ADDRESS": ".Values.diagnostics.address", "CAPZ_INSECURE_DIAGNOSTICS": ".Values.diagnostics.insecure",
	"CAPZ_TENANCY": ".Values.tenancy", "AZURE_SYNC_PERIOD": ".Values.syncPeriod", "CAPZ_VERBOSITY": ".Values.verbosity",
	"CAPZ_UNCHECKED_ASO_KINDS": "join \",\" .Values.uncheckedASOKinds | default `\"\"`",
	"EXP_MACHINE_POOL":         ".Values.featureGates.MachinePool", "EXP_ASO_API": ".Values.featureGates.ASOAPI",
	"EXP_AKS_RESOURCE_HEALTH": ".Values.featureGates.AKSResourceHealth", "EXP_EDGEZONE": ".Values.featureGates.EdgeZone",
	"EXP_APISERVER_ILB":                          ".Values.featureGates.APIServerILB",
	"EXP_SKIP_MACHINE_POOL_MODEL_RECONCILIATION": ".Values.featureGates.SkipMachinePoolModelReconciliation",
	"AZURE_AUTHORITY_HOST":                       ".Values.azure.authorityHost",
	"AZURE_RESOURCE_MANAGER_ENDPOINT":            ".Values.azure.resourceManagerEndpoint",
	"AZURE_RESOURCE_MANAGER_AUDIENCE":            ".Values.azure.resourceManagerAudience",
}

func replaceVariables(text string) string {
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		name, _, _ := strings.Cut(strings.Trim(found, "${}"), ":")
		if value := variables[name]; value != "" {
			return "{{ " + value + " }}"
		}
		return found
	})
}

// optionalElements are elements of the lists of the Deployment, which the template of an object writes as they are. The first ones are arguments.
var optionalElements = []string{
	"{{- with .Values.watchNamespace }}\nINDENT- --namespace={{ . }}\n{{- end }}\n",
	"{{- with .Values.secretNamespaces }}\nINDENT- --secret-namespaces={{ join \",\" . }}\n{{- end }}\n",
	"{{- range .Values.extraArgs }}\nINDENT- {{ . | quote }}\n{{- end }}\n",
	"{{- range .Values.extraEnv }}\nINDENT- {{ toJson . }}\n{{- end }}\n",
	"{{- range .Values.extraVolumeMounts }}\nINDENT- {{ toJson . }}\n{{- end }}\n",
	"{{- range .Values.extraVolumes }}\nINDENT- {{ toJson . }}\n{{- end }}\n",
}

// Indexes of elements of optionalElements.
const (
	optionalArguments   = 3 // The number of arguments.
	optionalEnvironment = 3
	optionalVolumeMount = 4
	optionalVolume      = 5
)

// markOptional stands for an element of optionalElements until the template of the object is written.
func markOptional(i int) string { return fmt.Sprintf("OPTIONAL-%d", i) }

func parametrizeDeployment(o object) error {
	container, pod := containerOf(o), at(o, "spec", "template", "spec").(object)
	arguments, _ := container["args"].([]any)
	environment, _ := container["env"].([]any)
	mounts, _ := container["volumeMounts"].([]any)
	volumes, _ := pod["volumes"].([]any)
	if len(arguments) == 0 || len(environment) == 0 || len(mounts) == 0 || len(volumes) == 0 {
		return errors.New("its pod has no arguments, environment, volumeMounts or volumes")
	}
	o["spec"].(object)["replicas"] = "@@.Values.replicas@@"
	container["image"] = "{{ .Values.image.repository }}:{{ .Values.image.tag }}{{ with .Values.image.digest }}@{{ . }}{{ end }}"
	container["imagePullPolicy"] = "@@.Values.image.pullPolicy@@"
	container["resources"] = "@@toYaml .Values.resources | nindent 10@@"
	for i, argument := range arguments {
		arguments[i] = replaceVariables(fmt.Sprint(argument))
	}
	for i := range optionalArguments {
		arguments = append(arguments, markOptional(i))
	}
	container["args"] = arguments
	for _, entry := range environment {
		e := entry.(object)
		switch value, is := e["value"].(string); {
		case e["name"] == "GOMEMLIMIT":
			e["value"] = "@@.Values.goMemoryLimit | quote@@"
		case is && variable.MatchString(value):
			e["value"] = "@@" + strings.Trim(replaceVariables(value), "{} ") + " | quote@@"
		}
	}
	container["env"] = append(environment, markOptional(optionalEnvironment))
	container["volumeMounts"] = append(mounts, markOptional(optionalVolumeMount))
	pod["volumes"] = append(volumes, markOptional(optionalVolume))
	pod["imagePullSecrets"] = "@@toYaml .Values.imagePullSecrets | nindent 8@@"
	pod["nodeSelector"] = "@@toYaml .Values.nodeSelector | nindent 8@@"
	pod["affinity"] = "@@toYaml .Values.affinity | nindent 8@@"
	pod["tolerations"] = "@@toYaml .Values.tolerations | nindent 8@@"
	pod["priorityClassName"] = "@@.Values.priorityClassName | quote@@"
	return nil
}
