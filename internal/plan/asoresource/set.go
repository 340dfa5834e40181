package asoresource

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Set is the documents of a Cluster with the IDs of their resources. NewSet computes every ID once and builds the maps by which
// documents are found: an object has up to 500 documents with thousands of references, and a plan resolves each several times.
// A Set never changes. The zero value has no documents.
type Set struct {
	subscription string
	lentIdentity bool

	manifests []Manifest
	// ids are those of documents, in the same order.
	ids []resolvedID
	// byHolder, byID and byParent keep the order of documents.
	byHolder map[string][]Manifest
	byID     map[string][]Manifest
	byParent map[string][]Manifest
	byName   map[typeAndName]Manifest
	first    map[holderAndType]Manifest
	// idsByName are the keys of the IDs that follow from names of documents alone, without an armId.
	idsByName map[string]bool
	// roleAssignments are the role assignments by the ConfigMap that has their principal.
	roleAssignments map[KeyRef][]Manifest
}

// resolvedID is the ID of the resource of a document, or why there is none.
type resolvedID struct {
	id arm.ID
	// byArmID tells that an owner above the document is an armId.
	byArmID bool
	err     error
}

type typeAndName struct{ resourceType, name string }

type holderAndType struct{ holder, resourceType string }

// NewSet returns the documents of a Cluster whose resources are in a subscription. bound means that Azure is asked as an identity of
// another namespace: then documents are below documents only, and nothing is adopted. The slice is copied, the specs are not.
func NewSet(subscription string, documents []Manifest, lentIdentity bool) Set {
	s := Set{
		subscription: subscription, lentIdentity: lentIdentity, manifests: slices.Clone(documents),
		byHolder: map[string][]Manifest{}, byID: map[string][]Manifest{}, byParent: map[string][]Manifest{},
		byName: map[typeAndName]Manifest{}, first: map[holderAndType]Manifest{}, idsByName: map[string]bool{}, roleAssignments: map[KeyRef][]Manifest{},
	}
	for i := range s.manifests {
		s.manifests[i].position = i + 1
		s.addNames(s.manifests[i])
	}
	s.ids = make([]resolvedID, len(s.manifests))
	unrestricted := s
	unrestricted.lentIdentity = false
	for i, d := range s.manifests {
		s.ids[i] = unrestricted.resolveID(d, maxOwners)
		if found := s.ids[i]; found.err == nil && !found.byArmID {
			s.idsByName[found.id.Key()] = true
		}
	}
	for i, d := range s.manifests {
		if s.lentIdentity && s.ids[i].byArmID {
			s.ids[i] = s.resolveID(d, maxOwners)
		}
	}
	for i, d := range s.manifests {
		if found := s.ids[i]; found.err == nil {
			s.byID[found.id.Key()] = append(s.byID[found.id.Key()], d)
			parent := found.id.Parent().Key()
			s.byParent[parent] = append(s.byParent[parent], d)
		}
	}
	return s
}

// addNames adds a document to the maps that need no ID. Of two documents of one type and name the first one is found.
func (s Set) addNames(d Manifest) {
	s.byHolder[d.DeclaredIn] = append(s.byHolder[d.DeclaredIn], d)
	resourceType, ok := d.ResourceType()
	if first := (holderAndType{d.DeclaredIn, resourceType}); s.first[first].position == 0 {
		s.first[first] = d
	}
	if !ok {
		return
	}
	if name := (typeAndName{resourceType, d.Name}); s.byName[name].position == 0 {
		s.byName[name] = d
	}
	if principal := readDestination(d.Spec["principalIdFromConfig"]); resourceType == types.RoleAssignment && principal != (KeyRef{}) {
		s.roleAssignments[principal] = append(s.roleAssignments[principal], d)
	}
}

// SubscriptionID is the subscription of the credential.
func (s Set) SubscriptionID() string { return s.subscription }

// UsesLentIdentity tells whether Azure is asked as an identity of another namespace.
func (s Set) UsesLentIdentity() bool { return s.lentIdentity }

// Manifests are all documents, in the order they were given. The slice is shared.
func (s Set) Manifests() []Manifest { return s.manifests }

// DeclaredBy are the documents of one object. The slice is shared.
func (s Set) DeclaredBy(holder string) []Manifest { return s.byHolder[holder] }

// FirstOfType is the first document of a type in an object.
func (s Set) FirstOfType(holder, resourceType string) (Manifest, bool) {
	d, ok := s.first[holderAndType{holder, resourceType}]
	return d, ok
}

// isFirst tells whether a document is the first one of its type in its object.
func (s Set) isFirst(d Manifest) bool {
	resourceType, _ := d.ResourceType()
	first, ok := s.FirstOfType(d.DeclaredIn, resourceType)
	return ok && first.position == d.position
}

// ResourceID is the ID of the resource of a document. The error is a *field.Error, or Waiting.
func (s Set) ResourceID(d Manifest) (arm.ID, error) {
	if i := d.position - 1; i >= 0 && i < len(s.ids) && s.manifests[i].DeclaredIn == d.DeclaredIn && s.manifests[i].Key() == d.Key() {
		return s.ids[i].id, s.ids[i].err
	}
	found := s.resolveID(d, maxOwners)
	return found.id, found.err
}

// ManifestsOf are the documents of the resource with an ID. Mostly that is one.
func (s Set) ManifestsOf(id arm.ID) []Manifest { return s.byID[id.Key()] }

// listChildren are the documents of a type whose resources are directly below another one.
func (s Set) listChildren(parent arm.ID, resourceType string) []Manifest {
	var out []Manifest
	for _, d := range s.byParent[parent.Key()] {
		if of, _ := d.ResourceType(); of == resourceType {
			out = append(out, d)
		}
	}
	return out
}

// declares tells whether a document of an object is about a resource.
func (s Set) declares(holder string, id arm.ID) bool {
	return slices.ContainsFunc(s.ManifestsOf(id), func(d Manifest) bool { return d.DeclaredIn == holder })
}

// findManifest is the document of a group, kind and name. Versions do not tell documents apart.
func (s Set) findManifest(group, kind, name string) (Manifest, bool) {
	resourceType, known := Manifest{Group: group, Kind: kind}.ResourceType()
	d, ok := s.byName[typeAndName{resourceType, name}]
	return d, known && ok
}
