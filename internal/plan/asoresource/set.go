package asoresource

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// Set holds the manifests of a Cluster with the IDs of their resources. NewSet computes each ID once and builds maps for lookups: an
// object has up to 500 manifests with thousands of references, and a plan resolves each several times. A Set never changes. The zero
// value is empty.
type Set struct {
	subscription string
	lentIdentity bool

	manifests []Manifest
	// ids are the IDs of the manifests, in the same order.
	ids []resolvedID
	// byObject, byID and byParent keep the order of the manifests.
	byObject map[string][]Manifest
	byID     map[string][]Manifest
	byParent map[string][]Manifest
	byName   map[typeAndName]Manifest
	first    map[objectAndType]Manifest
	// idsByName are the keys of the IDs that follow from names of manifests alone, without an armId.
	idsByName map[string]bool
	// roleAssignments are the role assignments by the ConfigMap with their principal.
	roleAssignments map[aso.KeyRef][]Manifest
}

// resolvedID is the ID of the resource of a manifest, or the error.
type resolvedID struct {
	id arm.ID
	// byArmID means that an owner above the manifest is an armId.
	byArmID bool
	err     error
}

type typeAndName struct{ resourceType, name string }

type objectAndType struct{ object, resourceType string }

// NewSet returns the manifests of a Cluster with resources in a subscription. lentIdentity means that the identity for Azure belongs
// to another namespace: owners must then be manifests, and nothing is adopted. The slice is copied, the specs are not.
func NewSet(subscription string, manifests []Manifest, lentIdentity bool) Set {
	s := Set{
		subscription: subscription, lentIdentity: lentIdentity, manifests: slices.Clone(manifests),
		byObject: map[string][]Manifest{}, byID: map[string][]Manifest{}, byParent: map[string][]Manifest{},
		byName: map[typeAndName]Manifest{}, first: map[objectAndType]Manifest{}, idsByName: map[string]bool{},
		roleAssignments: map[aso.KeyRef][]Manifest{},
	}
	for i := range s.manifests {
		s.manifests[i].position = i + 1
		s.addNames(s.manifests[i])
	}
	s.ids = make([]resolvedID, len(s.manifests))
	unrestricted := s
	unrestricted.lentIdentity = false
	for i, m := range s.manifests {
		s.ids[i] = unrestricted.resolveID(m, maxOwners)
		if found := s.ids[i]; found.err == nil && !found.byArmID {
			s.idsByName[found.id.Key()] = true
		}
	}
	for i, m := range s.manifests {
		if s.lentIdentity && s.ids[i].byArmID {
			s.ids[i] = s.resolveID(m, maxOwners)
		}
	}
	for i, m := range s.manifests {
		if found := s.ids[i]; found.err == nil {
			s.byID[found.id.Key()] = append(s.byID[found.id.Key()], m)
			parent := found.id.Parent().Key()
			s.byParent[parent] = append(s.byParent[parent], m)
		}
	}
	return s
}

// addNames adds a manifest to the maps that need no ID. Of two manifests of one type and name the first one is kept.
func (s Set) addNames(m Manifest) {
	s.byObject[m.DeclaredIn] = append(s.byObject[m.DeclaredIn], m)
	resourceType, ok := m.ResourceType()
	if first := (objectAndType{m.DeclaredIn, resourceType}); s.first[first].position == 0 {
		s.first[first] = m
	}
	if !ok {
		return
	}
	if name := (typeAndName{resourceType, m.Name}); s.byName[name].position == 0 {
		s.byName[name] = m
	}
	if principal := aso.ReadKeyRef(m.Spec["principalIdFromConfig"]); resourceType == types.RoleAssignment && principal != (aso.KeyRef{}) {
		s.roleAssignments[principal] = append(s.roleAssignments[principal], m)
	}
}

// SubscriptionID returns the subscription of the credential.
func (s Set) SubscriptionID() string { return s.subscription }

// UsesLentIdentity reports whether the identity for Azure belongs to another namespace.
func (s Set) UsesLentIdentity() bool { return s.lentIdentity }

// Manifests returns all manifests in their original order. The slice is shared.
func (s Set) Manifests() []Manifest { return s.manifests }

// DeclaredBy returns the manifests of one object. The slice is shared.
func (s Set) DeclaredBy(declaredIn string) []Manifest { return s.byObject[declaredIn] }

// FirstOfType returns the first manifest of a type in an object.
func (s Set) FirstOfType(declaredIn, resourceType string) (Manifest, bool) {
	m, ok := s.first[objectAndType{declaredIn, resourceType}]
	return m, ok
}

// isFirst reports whether a manifest is the first of its type in its object.
func (s Set) isFirst(m Manifest) bool {
	resourceType, _ := m.ResourceType()
	first, ok := s.FirstOfType(m.DeclaredIn, resourceType)
	return ok && first.position == m.position
}

// ResourceID returns the ID of the resource of a manifest. The error is a *field.Error or a WaitingError.
func (s Set) ResourceID(m Manifest) (arm.ID, error) {
	if i := m.position - 1; i >= 0 && i < len(s.ids) && s.manifests[i].DeclaredIn == m.DeclaredIn && s.manifests[i].Key() == m.Key() {
		return s.ids[i].id, s.ids[i].err
	}
	found := s.resolveID(m, maxOwners)
	return found.id, found.err
}

// ManifestsOf returns the manifests of the resource with an ID, usually one.
func (s Set) ManifestsOf(id arm.ID) []Manifest { return s.byID[id.Key()] }

// listChildren returns the manifests of a type whose resources are directly below another resource.
func (s Set) listChildren(parent arm.ID, resourceType string) []Manifest {
	var out []Manifest
	for _, m := range s.byParent[parent.Key()] {
		if of, _ := m.ResourceType(); of == resourceType {
			out = append(out, m)
		}
	}
	return out
}

// declares reports whether an object has a manifest of a resource.
func (s Set) declares(declaredIn string, id arm.ID) bool {
	return slices.ContainsFunc(s.ManifestsOf(id), func(m Manifest) bool { return m.DeclaredIn == declaredIn })
}

// findManifest returns the manifest with a group, kind and name. The version is not compared.
func (s Set) findManifest(group, kind, name string) (Manifest, bool) {
	resourceType, known := aso.ResourceTypeOf(group, kind)
	m, ok := s.byName[typeAndName{resourceType, name}]
	return m, known && ok
}
