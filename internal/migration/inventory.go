package migration

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// InventoryKind is the list of the kind in which clusterctl stores which providers it has installed.
// https://github.com/kubernetes-sigs/cluster-api/blob/v1.14.2/cmd/clusterctl/api/v1alpha3/provider_type.go
var InventoryKind = schema.GroupVersionKind{Group: "clusterctl.cluster.x-k8s.io", Version: "v1alpha3", Kind: "ProviderList"}

// Provider is one entry of clusterctl's inventory.
type Provider struct {
	Namespace, Name, Type, Version string
}

// Inventory is the inventory of clusterctl.
type Inventory []Provider

// ReadInventory returns the entries of a list of InventoryKind.
func ReadInventory(list *unstructured.UnstructuredList) Inventory {
	var out Inventory
	for _, item := range list.Items {
		text := func(field string) string { value, _, _ := unstructured.NestedString(item.Object, field); return value }
		out = append(out, Provider{Namespace: item.GetNamespace(), Name: text("providerName"), Type: text("type"), Version: text("version")})
	}
	return out
}

// Find returns the provider of a type and name; without a name, the first one of the type.
func (i Inventory) Find(kind, name string) (Provider, bool) {
	at := slices.IndexFunc(i, func(p Provider) bool { return p.Type == kind && (name == "" || p.Name == name) })
	if at < 0 {
		return Provider{}, false
	}
	return i[at], true
}

// Azure returns the provider for Azure.
func (i Inventory) Azure() (Provider, bool) { return i.Find("InfrastructureProvider", "azure") }
