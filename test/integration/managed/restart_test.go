package managed_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	endpointPath  = "resourceGroups/c1/providers/Microsoft.Network/privateEndpoints/registry"
	memberPath    = sharedGroup + "/providers/Microsoft.ContainerService/fleets/fleet/members/c1"
	extensionPath = clusterPath + "/providers/Microsoft.KubernetesConfiguration/extensions/flux"

	endpointWrite  = "resourceGroups/c1/Microsoft.Network/privateEndpoints/registry"
	memberWrite    = sharedGroup + "/Microsoft.ContainerService/fleets/fleet/members/c1"
	extensionWrite = "resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/providers/Microsoft.KubernetesConfiguration/extensions/flux"
)

// equip gives a control plane a private endpoint, a membership in the fleet of the shared group, and an extension.
func equip(stage *harness.Stage, controlPlane *infrav1.AzureManagedControlPlane) {
	controlPlane.Spec.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{
		Name: "c1", CIDRBlock: "10.0.0.0/8",
		Subnet: infrav1.ManagedControlPlaneSubnet{Name: "c1", CIDRBlock: "10.240.0.0/16"},
	}
	controlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{
		Name: "registry",
		PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{
			PrivateLinkServiceID: "/subscriptions/" + stage.Azure.SubscriptionID + "/" + sharedGroup + "/providers/Microsoft.ContainerRegistry/registries/registry",
			GroupIDs:             []string{"registry"},
		}},
	}}
	controlPlane.Spec.FleetsMember = &infrav1.FleetsMember{
		FleetsMemberClassSpec: infrav1.FleetsMemberClassSpec{ManagerName: "fleet", ManagerResourceGroup: "shared", Group: "canary"},
		Name:                  "c1",
	}
	controlPlane.Spec.Extensions = []infrav1.AKSExtension{{
		Name: "flux", ExtensionType: new("microsoft.flux"), Scope: &infrav1.ExtensionScope{ScopeType: "Cluster", ReleaseNamespace: "flux-system"},
		ConfigurationSettings: map[string]string{"source-controller.enabled": "true"},
	}}
}

// equipped brings up a cluster with a system pool, a user pool, a private endpoint, a fleet membership and an extension.
func equipped(stage *harness.Stage) {
	stage.T.Helper()
	fleet(stage)
	stage.CreateIdentity()
	controlPlane := stage.ControlPlane("c1")
	equip(stage, controlPlane)
	stage.CreateManagedCluster(controlPlane, pools...)
	stage.WaitManagedClusterReady("c1", pools...)
}

// shared is what is there of what others made.
var shared = []string{sharedGroup, sharedGroup + "/Microsoft.ContainerService/fleets/fleet"}

// TestKilledAtEveryWrite kills the manager at each write that makes a cluster, once before Azure got the write and once
// after Azure took it, with the operation still running, and starts another one: nothing is PUT that Azure took already,
// and deleting the cluster leaves nothing behind.
func TestKilledAtEveryWrite(t *testing.T) {
	undisturbed := harness.NewStage(t, environment)
	undisturbed.StartManager(harness.ManagerOptions{})
	equipped(undisturbed)
	writes, resources := harness.Changes(undisturbed.Azure.Writes(0)), withoutSuffixes(undisturbed.Azure.Resources())
	want := []string{
		"PUT resourceGroups/c1", clusterPut, "PUT " + extensionWrite, "PUT " + endpointWrite,
		"PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/c1", "PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/c1/subnets/c1",
		"PUT " + memberWrite,
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, writes); diff != "" {
		t.Fatalf("writes of an undisturbed run (-want +got):\n%s", diff)
	}

	// Kubeconfigs are asked for by POST, once before the cluster is ready and as often as there are passes after that: one
	// write more than there are PUTs is always reached.
	harness.AtEveryWrite(t, len(writes)+1, func(t *testing.T, kill harness.ManagerOptions) {
		timeScale := 0.01
		if kill.KillBefore {
			timeScale = 0
		}
		stage := harness.NewSlowStage(t, environment, timeScale)
		restarted := stage.RestartWhenKilled(stage.StartManager(kill))
		equipped(stage)
		restarted()
		if diff := cmp.Diff(writes, harness.Changes(stage.Azure.Writes(0))); diff != "" {
			t.Errorf("everything is written once (-undisturbed +killed):\n%s", diff)
		}
		if diff := cmp.Diff(resources, withoutSuffixes(stage.Azure.Resources())); diff != "" {
			t.Errorf("resources (-undisturbed +killed):\n%s", diff)
		}
		stage.DeleteManagedCluster("c1", "pool0", "pool1")
		if diff := cmp.Diff(shared, stage.Azure.Resources()); diff != "" {
			t.Errorf("only what others made is left (-want +got):\n%s", diff)
		}
	})
}

// TestKilledWhileDeleting kills the manager at each write that deletes a cluster in a group that the user brought, where
// every resource is deleted by itself.
func TestKilledWhileDeleting(t *testing.T) {
	brought := func(stage *harness.Stage) {
		stage.Azure.Put("resourceGroups/c1", groupVersion, body{"location": "eastus"})
		equipped(stage)
	}
	undisturbed := harness.NewStage(t, environment)
	undisturbed.StartManager(harness.ManagerOptions{})
	brought(undisturbed)
	mark := undisturbed.Azure.Mark()
	undisturbed.DeleteManagedCluster("c1", "pool0", "pool1")
	deletes := harness.Changes(undisturbed.Azure.Writes(mark))
	t.Logf("an undisturbed run sends %q", deletes)
	if len(deletes) < 4 {
		t.Fatalf("cluster, membership, endpoint and network go one by one, got %q", deletes)
	}

	harness.AtEveryWrite(t, len(deletes), func(t *testing.T, kill harness.ManagerOptions) {
		stage := harness.NewStage(t, environment)
		first := stage.StartManager(harness.ManagerOptions{})
		brought(stage)
		if err := first.Stop(); err != nil {
			t.Fatal(err)
		}
		// The new manager asks for the kubeconfig of a cluster that is not deleted yet, so it starts with the deletion.
		gone := deleteAll(stage)
		mark := stage.Azure.Mark()
		restarted := stage.RestartWhenKilled(stage.StartManager(kill))
		gone()
		restarted()
		if diff := cmp.Diff(deletes, harness.Changes(stage.Azure.Writes(mark))); diff != "" {
			t.Errorf("everything is deleted once (-undisturbed +killed):\n%s", diff)
		}
		if diff := cmp.Diff(append([]string{"resourceGroups/c1"}, shared...), stage.Azure.Resources()); diff != "" {
			t.Errorf("only what others made is left (-want +got):\n%s", diff)
		}
	})
}

// suffix is what AKS draws anew for every cluster, in the names of scale sets and disks.
var suffix = regexp.MustCompile(`[0-9a-f]{8,}(-[0-9a-f]{4,}){0,4}`)

// withoutSuffixes are IDs with everything drawn by lot replaced, sorted.
func withoutSuffixes(ids []string) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, suffix.ReplaceAllString(id, "#"))
	}
	slices.Sort(out)
	return out
}

// deleteAll asks for the deletion of all objects of the cluster at once, and returns what waits until they are gone.
func deleteAll(stage *harness.Stage) (gone func()) {
	stage.T.Helper()
	objects := []client.Object{&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}}
	for _, pool := range pools {
		objects = append(objects, machinePool("c1-"+pool.Name), azurePool("c1-"+pool.Name))
	}
	objects = append(objects, controlPlane("c1"))
	for _, object := range objects {
		object.SetNamespace(stage.Namespace)
		if err := stage.Client.Delete(stage.T.Context(), object); err != nil {
			stage.T.Fatalf("delete %T %s: %v", object, object.GetName(), err)
		}
	}
	return func() {
		stage.T.Helper()
		for _, object := range objects {
			switch object.(type) {
			case *infrav1.AzureManagedMachinePool, *infrav1.AzureManagedControlPlane:
				stage.WaitGone(object, object.GetName())
			}
		}
	}
}
