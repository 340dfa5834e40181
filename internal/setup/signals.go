package setup

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// scrapeTimeout bounds the time that a scrape waits for the cache.
const scrapeTimeout = 5 * time.Second

// watchObjects has the metrics of objects read the manager's cache at each scrape. A replica that is not the leader has no series of
// objects, and a leader has none of objects of other managers, so that a sum over all managers counts each object once.
func (s *shared) watchObjects() {
	elected, kinds := s.mgr.Elected(), s.countedKinds()
	metrics.WatchObjects(func() []metrics.ObjectState {
		select {
		case <-elected:
		default:
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		out, err := reconcile.ListObjectStates(ctx, s.mgr.GetCache(), s.options.WatchFilter, kinds)
		if err != nil {
			s.mgr.GetLogger().V(2).Info("Metrics of objects are incomplete", "error", err.Error())
		}
		return out
	})
}

// countedKinds returns lists of the kinds whose controllers run.
func (s *shared) countedKinds() []client.ObjectList {
	kinds := []client.ObjectList{&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachineTemplateList{},
		&infrav1.AzureClusterIdentityList{}}
	if s.options.Gates.Enabled(gateMachinePool) {
		kinds = append(kinds, &infrav1.AzureMachinePoolList{}, &infrav1.AzureMachinePoolMachineList{}, &infrav1.AzureManagedClusterList{},
			&infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{})
	}
	if s.hasASOKinds() {
		kinds = append(kinds, &infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{},
			&infrav1.AzureASOManagedMachinePoolList{})
	}
	return kinds
}
