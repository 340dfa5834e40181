package contract_test

import (
	"testing"
	"testing/synctest"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// placeholder is an endpoint that users write, as some charts do. Without webhooks it is stored.
var placeholder = infrav1.APIEndpoint{Host: "placeholder.example.com", Port: 6443}

// withPlaceholder creates an AKS cluster with an endpoint of the user. No webhook clears it.
func withPlaceholder(w *virtual.Scenario, identity string, pools ...harness.ManagedPool) {
	w.T.Helper()
	controlPlane := w.ControlPlane("aks1")
	defaults.FillAzureManagedControlPlane(controlPlane)
	controlPlane.Spec.ControlPlaneEndpoint = placeholder
	controlPlane.Spec.IdentityRef.Name = identity
	w.CreateManagedCluster(controlPlane, pools...)
}

// TestEndpointOfUsers lets a user give an AKS cluster an endpoint, in an installation without webhooks. Cluster API never sees it, and
// applying the manifest again writes nothing to Azure.
func TestEndpointOfUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		withPlaceholder(w, "identity",
			harness.ManagedPool{Name: "pool0", Mode: string(infrav1.NodePoolModeSystem), Replicas: 1, Change: defaults.FillAzureManagedMachinePool})
		w.StartProvider()
		controlPlane, azureCluster := &infrav1.AzureManagedControlPlane{}, &infrav1.AzureManagedCluster{}
		inPlace := func() bool {
			w.ReadObject(controlPlane, "aks1")
			w.ReadObject(azureCluster, "aks1")
			if azureCluster.Spec.ControlPlaneEndpoint == placeholder {
				t.Error("the AzureManagedCluster shows Cluster API the endpoint of the user")
			}
			if provisioned := azureCluster.Status.Initialization.Provisioned; provisioned != nil && *provisioned &&
				azureCluster.Spec.ControlPlaneEndpoint.Host == "" {
				t.Error("the AzureManagedCluster is provisioned without an endpoint")
			}
			return harness.IsReady(controlPlane) && controlPlane.Spec.ControlPlaneEndpoint != placeholder && harness.IsReady(azureCluster)
		}
		w.WaitUntil("the cluster is Ready with the endpoint of AKS", inPlace)
		endpoint, mark := controlPlane.Spec.ControlPlaneEndpoint, w.Azure.MarkRequests()

		harness.ChangeObject(w.Stage, controlPlane, func(c *infrav1.AzureManagedControlPlane) { c.Spec.ControlPlaneEndpoint = placeholder })
		w.WaitUntil("the endpoint of AKS is back", inPlace)
		virtual.WaitForSignal(nil, time.Minute)
		if !inPlace() || controlPlane.Spec.ControlPlaneEndpoint != endpoint || azureCluster.Spec.ControlPlaneEndpoint != endpoint {
			t.Errorf("endpoints %v and %v, want %v", controlPlane.Spec.ControlPlaneEndpoint, azureCluster.Spec.ControlPlaneEndpoint, endpoint)
		}
		if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("Azure is written: %q", writes)
		}
	})
}

// TestEndpointOfUsersBlocksNoDeletion deletes a cluster that was never created, because its identity does not exist. The endpoint of the
// user is no proof of a cluster in Azure.
func TestEndpointOfUsersBlocksNoDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		withPlaceholder(w, "missing")
		w.StartProvider()
		virtual.WaitForSignal(nil, time.Minute)
		controlPlane := &infrav1.AzureManagedControlPlane{}
		w.ReadObject(controlPlane, "aks1")
		if len(controlPlane.Finalizers) == 0 || controlPlane.Status.Initialization.ControlPlaneInitialized != nil {
			t.Fatalf("finalizers %v, initialization %v", controlPlane.Finalizers, controlPlane.Status.Initialization)
		}
		w.DeleteObjects(controlPlane)
		w.WaitUntilGone(controlPlane)
	})
}
