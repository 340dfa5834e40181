package plan

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NameUser is an object with a resource in Azure whose name other objects of its Cluster may have, too.
type NameUser struct {
	metav1.Object

	// Planned is set if the provider has planned the resource for the object, so that it may exist.
	Planned bool
}

// OwnsName reports whether a shared resource belongs to the object and not to other: the object for which it was planned has it. Of two
// such objects, and of two others, the older one has it, so that a copy does not take it. Names decide for objects of the same second.
func (u NameUser) OwnsName(other NameUser) bool {
	if u.Planned != other.Planned {
		return u.Planned
	}
	created, others := u.GetCreationTimestamp(), other.GetCreationTimestamp()
	return cmp.Or(created.Compare(others.Time), cmp.Compare(u.GetName(), other.GetName())) <= 0
}
