package backup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Has reports whether the backup has an object of the operator.
func (b *Backup) Has(uid types.UID) bool {
	return b != nil && slices.ContainsFunc(b.Operator, func(o OperatorObject) bool { return o.UID == uid })
}

// withoutGone returns the backup without objects of the operator that were deleted since. Those of a newer backup were not.
func (b *Backup) withoutGone(ctx context.Context, c client.Reader, newer *Backup) (*Backup, error) {
	out := *b
	out.Operator = nil
	known := newer.operatorUIDs()
	for _, object := range b.Operator {
		if known[object.UID] {
			continue
		}
		found := &metav1.PartialObjectMetadata{}
		found.SetGroupVersionKind(object.GroupVersionKind)
		err := c.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: object.Name}, found)
		if client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
			return nil, fmt.Errorf("get %s: %w", object.Describe(), err)
		}
		if err == nil && found.UID == object.UID {
			out.Operator = append(out.Operator, object)
		}
	}
	return &out, nil
}

func (b *Backup) operatorUIDs() map[types.UID]bool {
	out := map[types.UID]bool{}
	for _, object := range b.Operator {
		out[object.UID] = true
	}
	return out
}

// AddMissing adds the entries of another backup that this one lacks, and reports whether there were any. It replaces none: an object that
// the migration has changed is not as it was before.
func (b *Backup) AddMissing(other *Backup) (added bool) {
	if other == nil {
		return false
	}
	known := b.operatorUIDs()
	for _, object := range other.Operator {
		if known[object.UID] {
			continue
		}
		b.Operator, added = append(b.Operator, object), true
		// The operator has applied the spec of this generation, not a later one.
		for _, owner := range object.OwnerReferences {
			if was, has := other.Generations[owner.UID]; has && was < cmp.Or(b.Generations[owner.UID], was) {
				b.Generations[owner.UID] = was
			}
		}
	}
	for _, definition := range other.Definitions {
		if !slices.ContainsFunc(b.Definitions, func(d Definition) bool { return d.Name == definition.Name }) {
			b.Definitions, added = append(b.Definitions, definition), true
		}
	}
	added = addMissing(&b.Generations, other.Generations) || added
	added = addMissing(&b.Variables, other.Variables) || added
	added = addMissing(&b.Contracts, other.Contracts) || added
	return addMissing(&b.Ready, other.Ready) || added
}

// addMissing adds the entries that a map lacks.
func addMissing[K comparable, V any](to *map[K]V, from map[K]V) (added bool) {
	before := len(*to)
	all := maps.Clone(from)
	if all == nil {
		all = map[K]V{}
	}
	maps.Copy(all, *to)
	*to = all
	return len(all) > before
}
