package planned_test

import (
	"context"
	"net/http"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/planned"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestOperationBegunDuringTake begins an operation after the objects were read and before Azure is copied, as a manager does that is killed
// while it writes. The moment is not idle: a plan of it lacks what comes after the operation.
func TestOperationBegunDuringTake(t *testing.T) {
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		s.PutAsUser("resourceGroups/c1", "2021-04-01", map[string]any{"location": "eastus"})
		world := planned.World{Kubernetes: s.Client, Azure: s.Sim, Options: server.Options{Subscriptions: []string{s.Azure.SubscriptionID}},
			Endpoint: harness.VirtualEndpoint}
		isIdle := func() bool {
			moment, err := world.Take(t.Context(), s.Azure.SubscriptionID)
			if err != nil {
				t.Fatal(err)
			}
			defer moment.Close()
			return moment.IsIdle()
		}
		if !isIdle() {
			t.Error("there is no operation, and the moment is not idle")
		}
		begun := false
		world.Kubernetes = interceptor.NewClient(s.Client, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if !begun {
					begun = true
					status, answer := s.SendAsUser(http.MethodPut, "resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/net", "2025-05-01",
						map[string]any{"location": "eastus", "properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []string{"10.0.0.0/8"}}}})
					if status != http.StatusCreated {
						t.Errorf("%d %s", status, answer)
					}
				}
				return c.List(ctx, list, options...)
			},
		})
		if isIdle() {
			t.Error("an operation has begun, and the moment is idle")
		}
	})
}
