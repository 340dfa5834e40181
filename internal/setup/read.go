package setup

import (
	"context"
	"encoding/json"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
)

// sharedRead lets facts read through the engine, so that facts and reconciliations share requests for the same resource, or for
// many of one type.
func sharedRead(e *engine.Engine) facts.Reader {
	return func(ctx context.Context, c *armclient.Client, id arm.ID, options engine.ReadOptions) (json.RawMessage, error) {
		observed, err := e.Observe(ctx, c, []arm.ID{id}, false, options)
		if err != nil {
			return nil, err
		}
		resource := observed[id.Key()]
		return resource.Body, resource.Err
	}
}

// sharedLook lets facts keep their results as long as the engine's lists show no write.
func sharedLook(e *engine.Engine) facts.Unchanged {
	return func(ctx context.Context, c *armclient.Client, id arm.ID, at time.Time, mark uint64, options engine.ReadOptions) (uint64, bool) {
		shown, same := e.CheckUnchanged(ctx, c, id, at, engine.DigestMark(mark), options)
		return uint64(shown), same
	}
}
