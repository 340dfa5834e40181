// Package contract_test checks Cluster API's demands on a provider with AKS clusters, in virtual time: how soon a stopped cluster
// shows, and how the provider changes the objects that a release before this one has published.
package contract_test

import (
	"testing"
	"testing/synctest"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// shape is one of the ways to ask for an AKS cluster.
type shape struct {
	name string
	// control is the control plane, called aks1.
	control interface {
		client.Object
		conditions.Getter
	}
	make func(w *virtual.Scenario)
}

func listShapes() []shape {
	return []shape{
		{"AzureManagedControlPlane", &infrav1.AzureManagedControlPlane{}, func(w *virtual.Scenario) { w.BuildAKSCluster("aks1", 1) }},
		{"AzureASOManagedControlPlane", &infrav1.AzureASOManagedControlPlane{},
			func(w *virtual.Scenario) { w.CreateASOCluster(w.BuildASOCluster("aks1", "pool0")) }},
	}
}

// playEachShape plays a story for each shape, with a manager that runs.
func playEachShape(t *testing.T, play func(t *testing.T, w *virtual.Scenario, s shape, manager *virtual.Manager)) {
	t.Helper()
	for _, s := range listShapes() {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				manager := w.StartProvider()
				s.make(w)
				play(t, w, s, manager)
			})
		})
	}
}

// readCondition returns a condition of the control plane.
func (s shape) readCondition(w *virtual.Scenario, name string) string {
	w.T.Helper()
	w.ReadObject(s.control, "aks1")
	got := harness.FindCondition(s.control, name)
	return string(got.Status) + " " + got.Reason
}
