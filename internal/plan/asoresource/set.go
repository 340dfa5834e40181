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
	bound        bool

	documents []Document
	// ids are those of documents, in the same order.
	ids []resolvedID
	// byHolder, byID and byParent keep the order of documents.
	byHolder map[string][]Document
	byID     map[string][]Document
	byParent map[string][]Document
	byName   map[typeAndName]Document
	first    map[holderAndType]Document
	// named are the keys of the IDs that follow from names of documents alone, without an armId.
	named map[string]bool
	// assignments are the role assignments by the ConfigMap that has their principal.
	assignments map[Ref][]Document
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
func NewSet(subscription string, documents []Document, bound bool) Set {
	s := Set{
		subscription: subscription, bound: bound, documents: slices.Clone(documents),
		byHolder: map[string][]Document{}, byID: map[string][]Document{}, byParent: map[string][]Document{},
		byName: map[typeAndName]Document{}, first: map[holderAndType]Document{}, named: map[string]bool{}, assignments: map[Ref][]Document{},
	}
	for i := range s.documents {
		s.documents[i].position = i + 1
		s.addNames(s.documents[i])
	}
	s.ids = make([]resolvedID, len(s.documents))
	free := s
	free.bound = false
	for i, d := range s.documents {
		s.ids[i] = free.resolve(d, maxOwners)
		if found := s.ids[i]; found.err == nil && !found.byArmID {
			s.named[found.id.Key()] = true
		}
	}
	for i, d := range s.documents {
		if s.bound && s.ids[i].byArmID {
			s.ids[i] = s.resolve(d, maxOwners)
		}
	}
	for i, d := range s.documents {
		if found := s.ids[i]; found.err == nil {
			s.byID[found.id.Key()] = append(s.byID[found.id.Key()], d)
			parent := found.id.Parent().Key()
			s.byParent[parent] = append(s.byParent[parent], d)
		}
	}
	return s
}

// addNames adds a document to the maps that need no ID. Of two documents of one type and name the first one is found.
func (s Set) addNames(d Document) {
	s.byHolder[d.Holder] = append(s.byHolder[d.Holder], d)
	resourceType, ok := d.Type()
	if first := (holderAndType{d.Holder, resourceType}); s.first[first].position == 0 {
		s.first[first] = d
	}
	if !ok {
		return
	}
	if name := (typeAndName{resourceType, d.Name}); s.byName[name].position == 0 {
		s.byName[name] = d
	}
	if principal := destination(d.Spec["principalIdFromConfig"]); resourceType == types.RoleAssignment && principal != (Ref{}) {
		s.assignments[principal] = append(s.assignments[principal], d)
	}
}

// SubscriptionID is the subscription of the credential.
func (s Set) SubscriptionID() string { return s.subscription }

// Bound tells whether Azure is asked as an identity of another namespace.
func (s Set) Bound() bool { return s.bound }

// Documents are all documents, in the order they were given. The slice is shared.
func (s Set) Documents() []Document { return s.documents }

// Of are the documents of one object. The slice is shared.
func (s Set) Of(holder string) []Document { return s.byHolder[holder] }

// First is the first document of a type in an object.
func (s Set) First(holder, resourceType string) (Document, bool) {
	d, ok := s.first[holderAndType{holder, resourceType}]
	return d, ok
}

// isFirst tells whether a document is the first one of its type in its object.
func (s Set) isFirst(d Document) bool {
	resourceType, _ := d.Type()
	first, ok := s.First(d.Holder, resourceType)
	return ok && first.position == d.position
}

// ID is the ID of the resource of a document. The error is a *field.Error, or Waiting.
func (s Set) ID(d Document) (arm.ID, error) {
	if i := d.position - 1; i >= 0 && i < len(s.ids) && s.documents[i].Holder == d.Holder && s.documents[i].Key() == d.Key() {
		return s.ids[i].id, s.ids[i].err
	}
	found := s.resolve(d, maxOwners)
	return found.id, found.err
}

// With are the documents of the resource with an ID. Mostly that is one.
func (s Set) With(id arm.ID) []Document { return s.byID[id.Key()] }

// below are the documents of a type whose resources are directly below another one.
func (s Set) below(parent arm.ID, resourceType string) []Document {
	var out []Document
	for _, d := range s.byParent[parent.Key()] {
		if of, _ := d.Type(); of == resourceType {
			out = append(out, d)
		}
	}
	return out
}

// documented tells whether a document of an object is about a resource.
func (s Set) documented(holder string, id arm.ID) bool {
	return slices.ContainsFunc(s.With(id), func(d Document) bool { return d.Holder == holder })
}

// find is the document of a group, kind and name. Versions do not tell documents apart.
func (s Set) find(group, kind, name string) (Document, bool) {
	resourceType, known := Document{Group: group, Kind: kind}.Type()
	d, ok := s.byName[typeAndName{resourceType, name}]
	return d, known && ok
}
