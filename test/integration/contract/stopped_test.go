package contract_test

import (
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestStopped stops and starts a healthy AKS cluster. The list of all resources does not show this: no documentation states that it
// does.
func TestStopped(t *testing.T) {
	playEachShape(t, func(t *testing.T, w *virtual.Scenario, s shape, _ *virtual.Manager) {
		virtual.WaitForSignal(nil, 2*time.Hour+20*time.Minute)
		if got := s.readCondition(w, clusterv1.AvailableCondition); got != "True Available" {
			t.Errorf("Available of a cluster in order is %s", got)
		}
		id := "/subscriptions/" + w.Azure.SubscriptionID + "/resourceGroups/aks1/providers/Microsoft.ContainerService/managedClusters/aks1"
		for _, step := range []struct{ code, want string }{{"Stopped", "False Stopped"}, {"Running", "True Available"}} {
			patch := map[string]any{"properties": map[string]any{"powerState": map[string]any{"code": step.code}}}
			if err := w.Azure.AddFault(fault.Rule{Now: true, ID: id, Kind: fault.Edit, Patch: patch}); err != nil {
				t.Fatal(err)
			}
			virtual.WaitForSignal(nil, w.Resync+time.Minute)
			if got := s.readCondition(w, clusterv1.AvailableCondition); got != step.want {
				t.Errorf("Available is %s a sync period after the cluster is %s, want %s", got, step.code, step.want)
			}
			if s.name == "AzureManagedControlPlane" && step.code == "Stopped" {
				if got := s.readCondition(w, infrav1.ManagedClusterRunningCondition); got != step.want {
					t.Errorf("%s is %s, want %s", infrav1.ManagedClusterRunningCondition, got, step.want)
				}
			}
		}
	})
}
