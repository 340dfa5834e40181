package facts

import (
	"context"
	"encoding/json"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// Engine is the part of the engine that facts read through.
type Engine interface {
	Observe(ctx context.Context, c *client.Client, ids []arm.ID, fresh bool, options observe.ReadOptions) (map[string]observe.Observed, error)
	CheckUnchanged(ctx context.Context, c *client.Client, id arm.ID, at time.Time, mark observe.DigestMark,
		options observe.ReadOptions) (observe.DigestMark, bool)
}

// ReadThrough lets facts read through the engine, so that facts and reconciliations share requests for the same resource, or for
// many of one type.
func ReadThrough(e Engine) Reader {
	return func(ctx context.Context, c *client.Client, id arm.ID, options observe.ReadOptions) (json.RawMessage, error) {
		observed, err := e.Observe(ctx, c, []arm.ID{id}, false, options)
		if err != nil {
			return nil, err
		}
		resource := observed[id.Key()]
		return resource.Body, resource.Err
	}
}

// UnchangedIn lets facts keep their results as long as the engine's lists show no write.
func UnchangedIn(e Engine) Unchanged {
	return func(ctx context.Context, c *client.Client, id arm.ID, at time.Time, mark uint64, options observe.ReadOptions) (uint64, bool) {
		shown, same := e.CheckUnchanged(ctx, c, id, at, observe.DigestMark(mark), options)
		return uint64(shown), same
	}
}
