package applied

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Inventory is the inventory of one object.
type Inventory struct {
	// Created are the resources that were created for the object.
	Created []arm.ID
	// Adopted are resources that others created. They are kept as planned, and being listed here does not delete them.
	Adopted []arm.ID
	// CopiedFrom is the object that the annotation was written for, if it is another one; "" otherwise. No entry of such a
	// list counts.
	CopiedFrom string
	// FromEarlierRelease means that the list was written by an earlier release. It contains neither its object nor adopted
	// resources.
	FromEarlierRelease bool
}

// storedList is the value of the annotation. It names the object without its UID, which changes when the object moves to
// another cluster.
type storedList struct {
	Object  string   `json:"of"`
	Created []arm.ID `json:"made,omitempty"`
	Adopted []arm.ID `json:"adopted,omitempty"`
}

// ObjectName returns the name of an object in inventories, as "AzureCluster/default/c1".
func ObjectName(kind string, obj metav1.Object) string {
	return kind + "/" + obj.GetNamespace() + "/" + obj.GetName()
}

// ReadInventory returns the inventory of an object. An annotation that cannot be parsed is an empty inventory: then nothing in it
// is deleted.
func ReadInventory(kind string, obj metav1.Object) Inventory {
	raw := []byte(obj.GetAnnotations()[infrav1.InventoryAnnotation])
	var old []arm.ID
	if json.Unmarshal(raw, &old) == nil {
		return Inventory{Created: old, FromEarlierRelease: len(old) > 0}
	}
	var s storedList
	if json.Unmarshal(raw, &s) != nil {
		return Inventory{}
	}
	if s.Object != ObjectName(kind, obj) {
		return Inventory{CopiedFrom: s.Object}
	}
	return Inventory{Created: s.Created, Adopted: s.Adopted}
}

// HasCreated returns true if the list contains a resource that was created for the object.
func (l Inventory) HasCreated(id arm.ID) bool { return slices.ContainsFunc(l.Created, id.Equal) }

// BuildAnnotations returns the annotation that stores the list on an object. An empty list needs no annotation, but it
// replaces an existing one: the webhook restores an annotation that an update leaves out.
func (l Inventory) BuildAnnotations(kind string, obj metav1.Object) map[string]string {
	value := ""
	if len(l.Created) > 0 || len(l.Adopted) > 0 || obj.GetAnnotations()[infrav1.InventoryAnnotation] != "" {
		raw, _ := json.Marshal(storedList{Object: ObjectName(kind, obj), Created: l.Created, Adopted: l.Adopted}) // Marshalling lists of strings does not fail.
		value = string(raw)
	}
	return map[string]string{infrav1.InventoryAnnotation: value}
}
