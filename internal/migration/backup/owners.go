package backup

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OwnerState is the state of the owners of an object of the operator.
type OwnerState int

// The states.
const (
	// OwnerUnchanged means that the specs of all owners are those of the backup.
	OwnerUnchanged OwnerState = iota
	// OwnerChanged means that the spec of an owner was changed. The operator would write its old spec to Azure, so the policy skip stays
	// until the established provider has applied the present spec.
	OwnerChanged
	// OwnerGone means that an owner does not exist. With an owner reference, Kubernetes would delete the object, and the operator would
	// delete the resource in Azure.
	OwnerGone
)

// ReadGenerations returns the generations of the provider's objects, by ID.
func ReadGenerations(ctx context.Context, c client.Reader) (map[types.UID]int64, error) {
	out := map[types.UID]int64{}
	err := ForEachMetadata(ctx, c, func(object client.Object) error {
		out[object.GetUID()] = object.GetGeneration()
		return nil
	})
	return out, err
}

// OwnerState returns the state of the owners of an object of the operator. Owners of other groups are not considered.
func (b *Backup) OwnerState(object OperatorObject, current map[types.UID]int64) OwnerState {
	state := OwnerUnchanged
	for _, owner := range object.OwnerReferences {
		was, known := b.Generations[owner.UID]
		is, exists := current[owner.UID]
		switch {
		case known && !exists:
			return OwnerGone
		case known && is != was:
			state = OwnerChanged
		}
	}
	return state
}
