package managed_test

import (
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

// equipControlPlane gives a control plane a private endpoint, a membership in the fleet of the shared group, and an extension.
func equipControlPlane(stage *harness.Stage, controlPlane *infrav1.AzureManagedControlPlane) {
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

// bringUpEquipped brings up a cluster with a system pool, a user pool, a private endpoint, a fleet membership and an extension.
func bringUpEquipped(stage *harness.Stage) {
	stage.T.Helper()
	fleet(stage)
	stage.CreateIdentity()
	controlPlane := stage.ControlPlane("c1")
	equipControlPlane(stage, controlPlane)
	stage.CreateManagedCluster(controlPlane, pools...)
	stage.WaitManagedClusterReady("c1", pools...)
}

// shared are the resources that others created.
var shared = []string{sharedGroup, sharedGroup + "/Microsoft.ContainerService/fleets/fleet"}

// deleteAll asks for the deletion of all objects of the cluster at once, and returns a function that waits until they are gone.
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
