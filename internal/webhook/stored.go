package webhook

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// StoredRules applies the rules of the webhooks to objects that are stored already. It changes and stores nothing, so it can be used
// before the webhooks are installed.
type StoredRules struct {
	kinds map[string]served
}

// NewStoredRules returns the rules of all kinds. Rules that depend on other objects read them with the reader.
func NewStoredRules(reader client.Reader, features plan.Features) *StoredRules {
	rules := &StoredRules{kinds: map[string]served{}}
	for _, kind := range servedKinds(reader, features, false) {
		rules.kinds[kind.name()] = kind
	}
	return rules
}

// StoredResult is the result that the webhooks would return for an object that is created in its stored form.
type StoredResult struct {
	// Refused are the causes of a refusal, none if the object would be accepted.
	Refused []metav1.StatusCause
	// Ineffective are errors for which the stored object is not reconciled, or a part of its spec has no effect.
	Ineffective field.ErrorList
	// Defaulted is a copy of the object with the defaults of its kind.
	Defaulted client.Object
}

// CheckStored returns the result for one object of a kind. A kind without webhooks accepts every object.
func (r *StoredRules) CheckStored(ctx context.Context, kind string, object client.Object) (StoredResult, error) {
	rules := r.kinds[kind]
	if rules == nil {
		return StoredResult{Defaulted: object}, nil
	}
	return rules.checkStored(ctx, object)
}

// checkStored fills in defaults on a copy and checks the copy as on creation. An immutable field is in order: it has its value.
func (k kind[T]) checkStored(ctx context.Context, object client.Object) (StoredResult, error) {
	copied := object.DeepCopyObject().(T)
	if k.defaults != nil {
		if err := k.Default(ctx, copied); err != nil {
			return StoredResult{}, err
		}
	}
	out := StoredResult{Defaulted: copied}
	if k.ineffective != nil {
		out.Ineffective = k.ineffective(copied)
	}
	_, err := k.ValidateCreate(ctx, copied)
	var refusal apierrors.APIStatus
	switch {
	case err == nil:
		return out, nil
	case errors.As(err, &refusal) && refusal.Status().Details != nil:
		out.Refused = refusal.Status().Details.Causes
		return out, nil
	default:
		return StoredResult{}, err
	}
}
