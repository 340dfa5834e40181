package reliability_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// broughtStages are lives in resource groups that users bring, where everything is deleted by itself.
var broughtStages = map[string]struct {
	reason string
	stages []stage
}{
	"brought": {"resources of a group that stays go one by one", []stage{
		{"group", func(w *world) { w.PutAsUser("resourceGroups/c1", "2021-04-01", map[string]any{"location": "eastus"}) }},
		networkStage(nil), machineStage("c1-control-plane-0", harness.ControlPlane), machineStage("c1-md-0", harness.Worker),
		withoutCluster("c1-control-plane-0", "c1-md-0"),
	}},
	"AKS, brought": {"an endpoint, a membership in a fleet and an extension go by themselves, too", []stage{
		{"group and fleet", func(w *world) {
			for _, group := range []string{"resourceGroups/aks1", "resourceGroups/shared"} {
				w.PutAsUser(group, "2021-04-01", map[string]any{"location": "eastus"})
			}
			w.PutAsUser("resourceGroups/shared/providers/Microsoft.ContainerService/fleets/fleet", "2025-03-01",
				map[string]any{"location": "eastus", "properties": map[string]any{}})
		}},
		{"create", func(w *world) {
			own := w.ControlPlane("aks1")
			addExtras(own)
			defaults.FillAzureManagedControlPlane(own)
			w.CreateManagedCluster(own,
				harness.ManagedPool{Name: "pool0", Mode: string(infrav1.NodePoolModeSystem), Replicas: 1, Change: defaults.FillAzureManagedMachinePool})
			w.managedReady("aks1-pool0")
		}},
		withoutManaged("aks1-pool0"),
	}},
}

// addExtras adds resources beside the managed cluster to a control plane.
func addExtras(controlPlane *infrav1.AzureManagedControlPlane) {
	controlPlane.Spec.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{
		Name: "aks1", CIDRBlock: "10.0.0.0/8", Subnet: infrav1.ManagedControlPlaneSubnet{Name: "aks1", CIDRBlock: "10.240.0.0/16"},
	}
	controlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{
		Name: "registry",
		PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{
			PrivateLinkServiceID: "/subscriptions/" + controlPlane.Spec.SubscriptionID + "/resourceGroups/shared/providers/Microsoft.ContainerRegistry/registries/registry",
			GroupIDs:             []string{"registry"},
		}},
	}}
	controlPlane.Spec.FleetsMember = &infrav1.FleetsMember{
		FleetsMemberClassSpec: infrav1.FleetsMemberClassSpec{ManagerName: "fleet", ManagerResourceGroup: "shared", Group: "canary"}, Name: "aks1",
	}
	controlPlane.Spec.Extensions = []infrav1.AKSExtension{{
		Name: "flux", ExtensionType: new("microsoft.flux"), Scope: &infrav1.ExtensionScope{ScopeType: "Cluster", ReleaseNamespace: "flux-system"},
		ConfigurationSettings: map[string]string{"source-controller.enabled": "true"},
	}}
}

// TestKilledAtEveryWrite lives stories with managers none of which outlives a write to Azure: one dies before Azure gets it, and the next
// one after that, before it hears so. Each stage comes to the same end as without, and Azure has taken everything once.
func TestKilledAtEveryWrite(t *testing.T) {
	known := allStories()
	// Pools and documents have tests of their own, which know the work that a manager that dies may leave to others
	// there.
	for name, stages := range map[string][]stage{
		"default": known["default"].stages, "private": known["private"].stages, "AKS": known["AKS"].stages,
		"brought": broughtStages["brought"].stages, "AKS, brought": broughtStages["AKS, brought"].stages,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var undisturbed []ended
			synctest.Test(t, func(t *testing.T) { undisturbed = playStory(t, stages, nil, 0, nil) })
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 0)
				w.mortal = true
				w.manager.DieAtWrite(1, true)
				for i, stage := range stages {
					mark, deaths := w.Azure.MarkRequests(), w.deaths
					stage.play(w)
					w.waitUntilStable()
					for _, difference := range undisturbed[i].State.ListDifferences(w.ReadState()) {
						t.Errorf("%s: %s", stage.name, difference)
					}
					taken := w.countAccepted(mark)
					if diff := cmp.Diff(undisturbed[i].Writes, taken); diff != "" {
						t.Errorf("%s: accepted requests (-undisturbed +killed):\n%s", stage.name, diff)
					}
					if died := w.deaths - deaths; died < len(taken) && i > 0 {
						t.Errorf("%s: %d managers died at %d writes", stage.name, died, len(taken))
					}
					if t.Failed() {
						break
					}
				}
				t.Logf("%d managers died", w.deaths)
			})
		})
	}
}

// startNextManager returns the manager that comes after one that died.
func (w *world) startNextManager() *virtual.Manager {
	if w.mortal {
		return w.StartDyingManager(1, w.deaths%2 == 1)
	}
	return w.StartProvider()
}

// withoutManaged deletes the AKS cluster with its pools.
func withoutManaged(pools ...string) stage {
	return stage{"delete", func(w *world) {
		owner := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "aks1"}}
		w.DeleteObjects(owner)
		for _, pool := range pools {
			w.removeManagedPool(pool)
		}
		for _, object := range []harness.Conditioned{controlPlane(), &infrav1.AzureManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "aks1"}}} {
			w.DeleteObjects(object)
			w.WaitUntilGone(object)
		}
		w.RemoveFinalizers(owner)
	}}
}
