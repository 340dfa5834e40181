package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/lab/provider"
)

// operatorKinds are kinds that the Azure Service Operator installs for the established provider, by group.
var operatorKinds = map[string][]string{
	"resources":               {"ResourceGroup"},
	"containerservice":        {"FleetsMember", "MaintenanceConfiguration", "ManagedCluster", "ManagedClustersAgentPool"},
	"kubernetesconfiguration": {"Extension"},
	"network":                 {"BastionHost", "NatGateway", "PrivateEndpoint", "VirtualNetwork", "VirtualNetworksSubnet"},
	"keyvault":                {"Vault"},
	"managedidentity":         {"FederatedIdentityCredential", "UserAssignedIdentity"},
	"eventhub":                {"Namespace"},
	"storage":                 {"StorageAccount"},
}

// operatorVersion is the served version, and stored is the version that the operator keeps in etcd.
const (
	operatorVersion   = "v1api20240901"
	operatorStored    = operatorVersion + "storage"
	operatorFinalizer = "serviceoperator.azure.com/finalizer"
	// gone is in place of the operator's Service: processes of a lab are reached at an address, and nothing answers at this one.
	gone = "https://127.0.0.1:1"
)

// operatorDefinition has two versions, which the operator's webhook converts.
func operatorDefinition(group, kind string) *unstructured.Unstructured {
	plural := strings.ToLower(kind) + "s"
	anything := object{"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": plural + "." + group + ".azure.com",
			"labels": object{"app.kubernetes.io/name": "azure-service-operator", "app.kubernetes.io/version": "v2.13.0"}},
		"spec": object{
			"group": group + ".azure.com", "scope": "Namespaced",
			"names": object{"kind": kind, "listKind": kind + "List", "plural": plural, "singular": strings.ToLower(kind)},
			"versions": []any{
				object{"name": operatorVersion, "served": true, "storage": false, "schema": anything},
				object{"name": operatorStored, "served": true, "storage": true, "schema": anything},
			},
			"conversion": object{"strategy": "Webhook", "webhook": object{
				"conversionReviewVersions": []any{"v1"},
				"clientConfig":             object{"url": gone + "/convert"},
			}},
		},
	}}
}

// operatorObject is one that the operator looks after. The established provider makes it for its owner, nil for an object of another user.
func operatorObject(group, kind, namespace, name string, owner *unstructured.Unstructured, annotations object) *unstructured.Unstructured {
	metadata := object{"name": name, "namespace": namespace, "finalizers": []any{operatorFinalizer}, "annotations": annotations}
	if owner != nil {
		metadata["ownerReferences"] = []any{object{
			"apiVersion": owner.GetAPIVersion(), "kind": owner.GetKind(), "name": owner.GetName(), "uid": string(owner.GetUID()), "controller": true,
			"blockOwnerDeletion": true,
		}}
	}
	return &unstructured.Unstructured{Object: object{
		"apiVersion": group + ".azure.com/" + operatorStored, "kind": kind, "metadata": metadata, "spec": object{"azureName": name},
	}}
}

// operatorWebhooks are the operator's admission webhooks, which clusterctl installed with the established provider. Nothing answers them.
func operatorWebhooks() []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for kind, path := range map[string]string{"Mutating": "mutate", "Validating": "validate"} {
		configuration := withProviderLabel(object{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind + "WebhookConfiguration",
			"metadata": object{"name": "azureserviceoperator-" + strings.ToLower(kind) + "-webhook-configuration",
				"labels": object{"clusterctl.cluster.x-k8s.io": ""}},
			"webhooks": []any{object{
				"name": "default.azure.com", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail",
				"clientConfig": object{"url": gone + "/" + path},
				"rules": []any{object{"apiGroups": []any{"*"}, "apiVersions": []any{operatorVersion, operatorStored},
					"operations": []any{"CREATE", "UPDATE"}, "resources": []any{"*"}}},
			}},
		})
		out = append(out, configuration)
	}
	return out
}

// installOperator creates the objects of the operator in a management cluster: kinds, objects for those of the
// established provider, an object of another user in the namespace team, and webhooks.
func (l *lab) installOperator() {
	l.t.Helper()
	var definitions []*unstructured.Unstructured
	for group, kinds := range operatorKinds {
		for _, kind := range kinds {
			definitions = append(definitions, operatorDefinition(group, kind))
		}
	}
	l.applyAs("operator", definitions)
	l.runProgram("kubectl", "wait", "customresourcedefinitions", "-l", "app.kubernetes.io/name=azure-service-operator", "--for=condition=Established",
		"--timeout", patience.String())

	manage := func(more object) object {
		out := object{"serviceoperator.azure.com/reconcile-policy": "manage"}
		for key, value := range more {
			out[key] = value
		}
		return out
	}
	var objects []*unstructured.Unstructured
	add := func(owner *unstructured.Unstructured, group, kind, name string) {
		credential := object{"serviceoperator.azure.com/credential-from": owner.GetLabels()["cluster.x-k8s.io/cluster-name"] + "-aso-secret"}
		objects = append(objects, operatorObject(group, kind, owner.GetNamespace(), name, owner, manage(credential)))
	}
	for _, owner := range l.listObjects("azureclusters,azuremanagedcontrolplanes,azuremanagedmachinepools") {
		name := owner.GetName()
		switch owner.GetKind() {
		case "AzureCluster":
			add(owner, "resources", "ResourceGroup", name)
			add(owner, "network", "VirtualNetwork", name+"-vnet")
			add(owner, "network", "VirtualNetworksSubnet", name+"-node-subnet")
			add(owner, "network", "NatGateway", name+"-node-natgw")
		case "AzureManagedControlPlane":
			add(owner, "resources", "ResourceGroup", name)
			add(owner, "network", "VirtualNetwork", name)
			add(owner, "containerservice", "ManagedCluster", name)
		case "AzureManagedMachinePool":
			add(owner, "containerservice", "ManagedClustersAgentPool", name)
		}
	}
	for _, owner := range l.listObjects("azureasomanagedclusters,azureasomanagedcontrolplanes,azureasomanagedmachinepools") {
		documents, _, _ := unstructured.NestedSlice(owner.Object, "spec", "resources")
		for _, d := range documents {
			document := &unstructured.Unstructured{Object: d.(object)}
			group := strings.TrimSuffix(document.GroupVersionKind().Group, ".azure.com")
			annotations := object{}
			for key, value := range document.GetAnnotations() {
				annotations[key] = value
			}
			objects = append(objects, operatorObject(group, document.GetKind(), owner.GetNamespace(), document.GetName(), owner, annotations))
		}
	}
	l.applyAs("capz-manager", objects)
	l.runProgram("kubectl", "create", "namespace", "team")
	l.applyAs("another-user", []*unstructured.Unstructured{operatorObject("storage", "StorageAccount", "team", "kept", nil, object{})})
	l.applyAs("operator", operatorWebhooks())
	l.t.Logf("the operator has %d kinds and %d objects of clusters", len(definitions), len(objects))
}

// playOperator has the Deployment of the operator available whenever it exists, until the returned function is called. The lab does not
// have its program, and clusterctl waits for every Deployment that it installs.
func (l *lab) playOperator() (stop func()) {
	ctx, cancel := context.WithCancel(l.t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				// It fails while there is no Deployment.
				_ = l.newCommand(ctx, "kubectl", "patch", "deployment", "azureserviceoperator-controller-manager", "--namespace", "capz-system",
					"--subresource", "status", "--type", "merge", "-p", `{"status":{"conditions":[{"type":"Available","status":"True",`+
						`"reason":"MinimumReplicasAvailable","message":"","lastTransitionTime":"2026-01-01T00:00:00Z","lastUpdateTime":"2026-01-01T00:00:00Z"}]}}`).Run()
			}
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}

// applyAs applies objects server-side as the field manager.
func (l *lab) applyAs(manager string, objects []*unstructured.Unstructured) {
	l.t.Helper()
	raw, err := provider.EncodeDocuments(objects)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.tryWith(string(raw), "kubectl", "apply", "--server-side", "--field-manager", manager, "-f", "-"); err != nil {
		l.t.Fatal(err)
	}
}

// listObjects returns those of the types in all namespaces.
func (l *lab) listObjects(types string) []*unstructured.Unstructured {
	l.t.Helper()
	var list struct{ Items []object }
	raw := l.runProgram("kubectl", "get", types, "--all-namespaces", "-o", "json", "--show-managed-fields")
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		l.t.Fatal(fmt.Errorf("%s: %w", types, err))
	}
	var out []*unstructured.Unstructured
	for _, item := range list.Items {
		out = append(out, &unstructured.Unstructured{Object: item})
	}
	return out
}
