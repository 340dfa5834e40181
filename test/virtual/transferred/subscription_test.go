package transferred_test

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestManagerOfAnotherSubscription starts a manager with another default subscription than before. Clusters that name no subscription are not
// made again there, and their deletion waits. With the first subscription all is as before.
func TestManagerOfAnotherSubscription(t *testing.T) {
	const other = "00000000-0000-0000-0000-000000000002"
	options := virtual.Options{Azure: server.Options{Seed: 7, Subscriptions: []string{server.DefaultSubscription, other}}}
	virtual.PlayWith(t, options, func(s *virtual.Scenario) {
		sent := recordWrites(s)
		m := s.StartProvider()
		s.ApplyNetwork("c1", func(c *infrav1.AzureCluster) { c.Spec.SubscriptionID = "" })
		s.WaitReady(&infrav1.AzureCluster{}, "c1")
		s.CopyInfrastructure("c1")
		s.ApplyMachine("c1", "m1", harness.ControlPlane)
		s.ApplyPool("c1", "pool", 1)
		controlPlane := s.ControlPlane("aks")
		controlPlane.Spec.SubscriptionID = ""
		defaults.FillAzureManagedControlPlane(controlPlane)
		s.CreateManagedCluster(controlPlane,
			harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1, Change: defaults.FillAzureManagedMachinePool})
		objects := map[string]harness.Conditioned{"c1": &infrav1.AzureCluster{}, "m1": &infrav1.AzureMachine{}, "pool": &infrav1.AzureMachinePool{},
			"aks": &infrav1.AzureManagedControlPlane{}, "aks-pool0": &infrav1.AzureManagedMachinePool{}}
		for name, object := range objects {
			s.WaitReady(object, name)
		}
		before := s.Azure.ListResources()

		restart := func(subscription string) {
			m.StopManager()
			s.DefaultSubscription = subscription
			m = s.StartProvider()
			virtual.WaitForSignal(nil, time.Hour)
		}
		virtual.WaitForSignal(nil, time.Hour)
		sent.take()
		restart(other)
		if got := sent.take(); len(got) > 0 {
			t.Errorf("the default subscription changed, and Azure was written: %v", got)
		}
		for name, object := range objects {
			s.ReadObject(object, name)
			ready := harness.FindCondition(object, infrav1.ReadyCondition)
			field := map[string]string{"c1": "spec.subscriptionID", "m1": "AzureCluster c1.spec.subscriptionID",
				"pool": "AzureCluster c1.spec.subscriptionID", "aks": "spec.subscriptionID",
				"aks-pool0": "AzureManagedControlPlane aks.spec.subscriptionID"}[name]
			if ready.Reason != infrav1.InvalidConfigurationReason || !strings.Contains(ready.Message, field+": Invalid value") || !strings.Contains(ready.Message, other) ||
				!strings.Contains(ready.Message, server.DefaultSubscription) {
				t.Errorf("%T %s: %+v", object, name, ready)
			}
		}
		for name, object := range objects {
			object.(client.Object).SetName(name)
			s.DeleteObjects(object.(client.Object))
		}
		delete(objects, "aks-pool0") // An agent pool goes with its cluster, and its object needs not wait for it.
		virtual.WaitForSignal(nil, time.Hour)
		if got := sent.take(); len(got) > 0 {
			t.Errorf("nothing can be deleted in this subscription: %v", got)
		}
		for name, object := range objects {
			s.ReadObject(object, name)
		}
		if left := s.Azure.ListResources(); len(left) != len(before) {
			t.Errorf("%d resources are left of %d", len(left), len(before))
		}
		restart(server.DefaultSubscription)
		for _, object := range objects {
			s.WaitUntilGone(object.(client.Object))
		}
		if left := s.Azure.ListResources(); len(left) > 0 {
			t.Errorf("left in Azure: %q", left)
		}
	})
}
