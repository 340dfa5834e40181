package virtual

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// watchMetrics makes the metrics of the process show the objects, reads and budgets of this manager.
func (m *Manager) watchMetrics(budgets *armclient.Budgets) {
	m.reads = metrics.NewReads()
	metrics.WatchReads(m.reads)
	metrics.WatchBudgets(budgets)
	metrics.WatchObjects(func() []metrics.ObjectState {
		out, err := reconcile.ListObjectStates(context.Background(), m.client, "", CountedKinds())
		if err != nil {
			panic(err) // The API server is in memory.
		}
		return out
	})
}

// CountedKinds returns empty lists of the kinds with conditions.
func CountedKinds() []client.ObjectList {
	return []client.ObjectList{
		&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachineTemplateList{}, &infrav1.AzureClusterIdentityList{},
		&infrav1.AzureMachinePoolList{}, &infrav1.AzureMachinePoolMachineList{}, &infrav1.AzureManagedClusterList{},
		&infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureASOManagedClusterList{},
		&infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{},
	}
}
