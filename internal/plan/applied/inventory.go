package applied

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Inventory lists resources that were created or adopted for an object and cannot carry ownership tags.
type Inventory struct {
	// Object is the object that the list was written for. It has no UID, which changes when the object moves to another cluster.
	Object string `json:"object,omitzero"`
	// Created are the resources that were created for the object.
	Created []arm.ID `json:"created,omitempty"`
	// Adopted are resources that others created. They are kept as planned, and being listed here does not delete them.
	Adopted []arm.ID `json:"adopted,omitempty"`
}

// ObjectName returns the name of an object in inventories, as "AzureCluster/default/c1".
func ObjectName(kind string, obj metav1.Object) string {
	return kind + "/" + obj.GetNamespace() + "/" + obj.GetName()
}

// ReadInventory returns the inventory of an object. That of another object is returned without entries: on a copy none counts.
func ReadInventory(kind string, obj metav1.Object) Inventory {
	list := readInventory(obj.GetAnnotations())
	if list.Object != ObjectName(kind, obj) {
		return Inventory{Object: list.Object}
	}
	return list
}

// readInventory decodes nothing else: plans need the inventory for each subnet.
func readInventory(annotations map[string]string) Inventory {
	var part struct {
		Inventory Inventory `json:"inventory"`
	}
	if decodeSound(annotations[infrav1.AppliedAnnotation], &part) {
		return part.Inventory
	}
	return Read(annotations).Inventory
}

// IsOfAnother returns true for the inventory of another object, from which the annotation was copied.
func (l Inventory) IsOfAnother(kind string, obj metav1.Object) bool {
	return l.Object != "" && l.Object != ObjectName(kind, obj)
}

// HasCreated returns true if the list contains a resource that was created for the object.
func (l Inventory) HasCreated(id arm.ID) bool { return slices.ContainsFunc(l.Created, id.Equal) }

// isStored returns true if the object has or had an inventory.
func (l Inventory) isStored() bool { return l.Object != "" || len(l.Created) > 0 || len(l.Adopted) > 0 }

// SetInventory replaces the inventory. An object that never had one gets none from an empty list.
func (c *Content) SetInventory(kind string, obj metav1.Object, created, adopted []arm.ID) {
	if len(created) > 0 || len(adopted) > 0 || c.Inventory.isStored() {
		c.Inventory = Inventory{Object: ObjectName(kind, obj), Created: created, Adopted: adopted}
	}
}

// HasRoleOutside returns true if the identity of a machine or pool has a role assignment outside of a resource group, from a time when its
// scope had another default. It is kept.
func (l Inventory) HasRoleOutside(group string) bool {
	return slices.ContainsFunc(l.Created, func(id arm.ID) bool {
		return strings.EqualFold(id.Type(), types.RoleAssignment) && !strings.EqualFold(id.ResourceGroup(), group)
	})
}
