package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/lab/provider"
)

// established is the version of the established provider that an upgrade begins with.
const established = "v1.26.0"

type object = map[string]any

// converted are kinds whose definitions ask a webhook of the established provider for conversions, although they have one version.
var converted = []string{
	"AzureCluster", "AzureClusterIdentity", "AzureClusterTemplate", "AzureMachine", "AzureMachineTemplate", "AzureMachinePool",
	"AzureMachinePoolMachine",
}

// releaseOfEstablished returns a folder with a release of the established provider: its names, labels and roles, beside what both have. Its
// program is not kept. The lab runs that of bin/, which takes over every name and argument.
func (l *lab) releaseOfEstablished() string {
	l.t.Helper()
	folder := filepath.Join(l.t.TempDir(), established)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		l.t.Fatal(err)
	}
	metadata, err := os.ReadFile(filepath.Join(l.root, "metadata.yaml"))
	if err != nil {
		l.t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(l.root, "out", "infrastructure-azure", "v2.0.0", "infrastructure-components.yaml"))
	if err != nil {
		l.t.Fatalf("%v: run `make release` first", err)
	}
	ours, err := provider.DecodeDocuments(raw)
	if err != nil {
		l.t.Fatal(err)
	}
	components, err := provider.EncodeDocuments(establishedComponents(ours))
	if err != nil {
		l.t.Fatal(err)
	}
	for name, content := range map[string][]byte{"metadata.yaml": metadata, "infrastructure-components.yaml": components} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			l.t.Fatal(err)
		}
	}
	return folder
}

// establishedComponents are made from ours: kinds, webhooks, account, Service and Deployment have the same names in both.
func establishedComponents(ours []*unstructured.Unstructured) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range ours {
		switch o.GetKind() {
		case "CustomResourceDefinition":
			out = append(out, establishedKind(o.DeepCopy()))
		case "Namespace", "ServiceAccount", "Secret", "Service", "Issuer", "Certificate", "MutatingWebhookConfiguration",
			"ValidatingWebhookConfiguration":
			out = append(out, o)
		case "Deployment":
			one := o.DeepCopy()
			setNested(one, int64(1), "spec", "replicas")
			out = append(out, one)
		}
	}
	account := []any{object{"kind": "ServiceAccount", "name": "capz-manager", "namespace": "capz-system"}}
	for _, o := range []object{
		{"kind": "ClusterRole", "metadata": object{"name": "capz-manager-role"}, "rules": []any{}, "aggregationRule": object{
			"clusterRoleSelectors": []any{object{"matchLabels": object{"cluster.x-k8s.io/aggregate-to-capz-manager": "true"}}},
		}},
		{"kind": "ClusterRole", "metadata": object{"name": "capz-base-manager-role",
			"labels": object{"cluster.x-k8s.io/aggregate-to-capz-manager": "true"}}, "rules": establishedRules(ours)},
		newBinding("ClusterRole", "capz-manager-role", "capz-manager-rolebinding", account),
		{"kind": "ClusterRole", "metadata": object{"name": "capz-kubeadm-bootstrap-managed-control-plane-reader-role"}, "rules": []any{
			newRule("infrastructure.cluster.x-k8s.io", "azuremanagedcontrolplanes,azureasomanagedcontrolplanes", "get,list,watch"),
		}},
		newBinding("ClusterRole", "capz-kubeadm-bootstrap-managed-control-plane-reader-role",
			"capz-kubeadm-bootstrap-managed-control-plane-reader-rolebinding", []any{
				object{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:serviceaccounts:capi-kubeadm-bootstrap-system"},
			}),
		{"kind": "Role", "metadata": object{"name": "capz-leader-election-role", "namespace": "capz-system"}, "rules": []any{
			newRule("coordination.k8s.io", "leases", "get,list,watch,create,update,patch,delete"),
			newRule("", "configmaps", "get,list,watch,create,update,patch,delete"), newRule("", "events", "create,patch"),
		}},
		newBinding("Role", "capz-leader-election-role", "capz-leader-election-rolebinding", account),
	} {
		o["apiVersion"] = "rbac.authorization.k8s.io/v1"
		out = append(out, withProviderLabel(o))
	}
	return append(out, operatorComponents()...)
}

func establishedKind(definition *unstructured.Unstructured) *unstructured.Unstructured {
	if kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind"); slices.Contains(converted, kind) {
		setNested(definition, object{"strategy": "Webhook", "webhook": object{
			"conversionReviewVersions": []any{"v1", "v1beta1"},
			"clientConfig":             object{"service": object{"namespace": "capz-system", "name": "capz-webhook-service", "path": "/convert"}},
		}}, "spec", "conversion")
	}
	return definition
}

// establishedRules are at least the rights that the program of bin/ asks for, and those that the established provider has beyond them.
func establishedRules(ours []*unstructured.Unstructured) []any {
	rules := []any{
		newRule("", "secrets,configmaps,namespaces,events", "get,list,watch,create,update,patch,delete"),
		newRule("", "serviceaccounts", "get,list,watch"),
		newRule("apiextensions.k8s.io", "customresourcedefinitions", "get,list,watch"),
		newRule("authentication.k8s.io", "tokenreviews", "create"),
		newRule("authorization.k8s.io", "subjectaccessreviews", "create"),
		newRule("cluster.x-k8s.io", "clusters,clusters/status,machines,machines/status,machinepools,machinepools/status,machinedeployments",
			"get,list,watch,patch,update,delete"),
		newRule("controlplane.cluster.x-k8s.io", "kubeadmcontrolplanes", "get,list,watch"),
		newRule("infrastructure.cluster.x-k8s.io", "*", "get,list,watch,create,update,patch,delete"),
	}
	for _, group := range []string{"containerservice", "kubernetesconfiguration", "network", "resources"} {
		rules = append(rules, newRule(group+".azure.com", "*", "get,list,watch,create,update,patch,delete"))
	}
	for _, o := range ours {
		if of, found, _ := unstructured.NestedSlice(o.Object, "rules"); found && o.GetKind() == "ClusterRole" {
			rules = append(rules, of...)
		}
	}
	return rules
}

// operatorComponents are those of the Azure Service Operator in a release of the established provider. Its kinds are no part of them: it
// installs them itself.
func operatorComponents() []*unstructured.Unstructured {
	const name = "azureserviceoperator-"
	account := []any{object{"kind": "ServiceAccount", "name": name + "default", "namespace": "capz-system"}}
	pod := object{"control-plane": "controller-manager", "app.kubernetes.io/name": "azure-service-operator"}
	objects := []object{
		{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": object{"name": name + "default", "namespace": "capz-system"}},
		{"apiVersion": "v1", "kind": "Service", "metadata": object{"name": name + "webhook-service", "namespace": "capz-system"}, "spec": object{
			"selector": pod, "ports": []any{object{"port": int64(443), "targetPort": int64(9443)}},
		}},
		{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": "aso-controller-settings", "namespace": "capz-system"},
			"stringData": object{"AZURE_SUBSCRIPTION_ID": ""}},
		{"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": object{"name": name + "selfsigned-issuer", "namespace": "capz-system"},
			"spec": object{"selfSigned": object{}}},
		{"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": object{"name": name + "serving-cert", "namespace": "capz-system"},
			"spec": object{
				"secretName": "webhook-server-cert", "dnsNames": []any{name + "webhook-service.capz-system.svc"},
				"issuerRef": object{"kind": "Issuer", "name": name + "selfsigned-issuer"},
			}},
		{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name + "controller-manager", "namespace": "capz-system"},
			"spec": object{
				"replicas": int64(1), "selector": object{"matchLabels": pod},
				"template": object{"metadata": object{"labels": pod}, "spec": object{
					"serviceAccountName": name + "default",
					"containers":         []any{object{"name": "manager", "image": "registry.example/azureserviceoperator:v2"}},
				}},
			}},
	}
	for role, rules := range map[string][]any{
		"manager-role":     {newRule("*", "*", "*")},
		"crd-manager-role": {newRule("apiextensions.k8s.io", "customresourcedefinitions", "get,list,watch,create,update,patch")},
		"proxy-role":       {newRule("authentication.k8s.io", "tokenreviews", "create")},
	} {
		objects = append(objects,
			object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": object{"name": name + role}, "rules": rules},
			newBinding("ClusterRole", name+role, name+role+"binding", account))
	}
	var out []*unstructured.Unstructured
	for _, o := range objects {
		out = append(out, withProviderLabel(o))
	}
	return out
}

// withProviderLabel returns an object with the label that the established provider has on all that it installs.
func withProviderLabel(o object) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: o}
	labels := out.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	key, value, _ := strings.Cut(ofProvider, "=")
	labels[key] = value
	out.SetLabels(labels)
	return out
}

func newRule(group, resources, verbs string) object {
	list := func(words string) []any {
		var out []any
		for word := range strings.SplitSeq(words, ",") {
			out = append(out, word)
		}
		return out
	}
	return object{"apiGroups": []any{group}, "resources": list(resources), "verbs": list(verbs)}
}

func newBinding(kind, role, name string, subjects []any) object {
	metadata := object{"name": name}
	if kind == "Role" {
		metadata["namespace"] = "capz-system"
	}
	return object{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind + "Binding", "metadata": metadata,
		"roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}, "subjects": subjects,
	}
}

func setNested(o *unstructured.Unstructured, value any, path ...string) {
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		panic(fmt.Sprintf("%s %s: %v", o.GetKind(), o.GetName(), err)) // The path leads through another value than an object.
	}
}
