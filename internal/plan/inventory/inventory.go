// Package inventory keeps, in an annotation of an object, which Azure resources were made for it that cannot say by a tag whose
// they are. Annotations survive clusterctl move and backups, status does not.
//
// Whoever may write the object may write the annotation. So it proves nothing by itself: what of it counts is decided where
// Azure is seen. It says for which object it was written, and in a copy of that object, in another namespace or under another
// name, all of it counts as nothing.
//
// It is pure.
package inventory

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// List is the inventory of one object.
type List struct {
	// Created are the resources that were made for the object.
	Created []arm.ID
	// Adopted are those that somebody else had made, which are kept in line and never deleted for being here.
	Adopted []arm.ID
	// CopiedFrom is the object that a list is of which is not this one's; "" for a list of this object. Nothing of it counts.
	CopiedFrom string
	// FromEarlierRelease tells that the list is one of an earlier release, which says neither whose it is nor what was adopted.
	FromEarlierRelease bool
}

// storedList is the value of the annotation. Objects move to other clusters with it, where their UID is another one.
type storedList struct {
	Object  string   `json:"of"`
	Created []arm.ID `json:"made,omitempty"`
	Adopted []arm.ID `json:"adopted,omitempty"`
}

// ObjectName is what an inventory calls an object.
func ObjectName(kind string, obj metav1.Object) string {
	return kind + "/" + obj.GetNamespace() + "/" + obj.GetName()
}

// Read is the inventory of an object of a kind. One that cannot be read is empty: then nothing of what it named is deleted.
func Read(kind string, obj metav1.Object) List {
	raw := []byte(obj.GetAnnotations()[infrav1.InventoryAnnotation])
	var old []arm.ID
	if json.Unmarshal(raw, &old) == nil {
		return List{Created: old, FromEarlierRelease: len(old) > 0}
	}
	var s storedList
	if json.Unmarshal(raw, &s) != nil {
		return List{}
	}
	if s.Object != ObjectName(kind, obj) {
		return List{CopiedFrom: s.Object}
	}
	return List{Created: s.Created, Adopted: s.Adopted}
}

// HasCreated tells whether a resource was made for the object, as far as the list tells.
func (l List) HasCreated(id arm.ID) bool { return slices.ContainsFunc(l.Created, id.Equal) }

// BuildAnnotations are what to set on an object of a kind for this to be its inventory. An empty one is no annotation, but on an object
// that has one: updates without it keep that.
func (l List) BuildAnnotations(kind string, obj metav1.Object) map[string]string {
	value := ""
	if len(l.Created) > 0 || len(l.Adopted) > 0 || obj.GetAnnotations()[infrav1.InventoryAnnotation] != "" {
		raw, _ := json.Marshal(storedList{Object: ObjectName(kind, obj), Created: l.Created, Adopted: l.Adopted}) // Lists of strings always marshal.
		value = string(raw)
	}
	return map[string]string{infrav1.InventoryAnnotation: value}
}
