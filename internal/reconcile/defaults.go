package reconcile

import (
	"context"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Defaults has the methods of Kind that a kind need not have. They do nothing. A kind embeds it.
type Defaults[I any] struct{}

// LoadPlanInput implements Kind.
func (Defaults[I]) LoadPlanInput(context.Context, Session, *I) error { return nil }

// Act implements Kind.
func (Defaults[I]) Act(context.Context, Session, *I, arm.Outcome) error { return nil }

// BeforeDelete implements Kind.
func (Defaults[I]) BeforeDelete(context.Context, *I) error { return nil }
