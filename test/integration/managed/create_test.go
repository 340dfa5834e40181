package managed_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// pools are those of the flavor aks.
var pools = []harness.ManagedPool{
	{Name: "pool0", Mode: "System", Replicas: 2},
	{Name: "pool1", Mode: "User", Replicas: 2},
}

// TestManagedCluster creates the cluster of the flavor aks, leaves it alone for some resyncs, and deletes it.
func TestManagedCluster(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	applied := time.Now()
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)

	controlPlane := stage.WaitManagedClusterReady("c1", pools...)
	logCost(t, stage, applied)
	want := []string{
		"PUT resourceGroups/c1",
		"PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1",
		"PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/c1",
		"PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/c1/subnets/c1",
	}
	if diff := cmp.Diff(want, harness.DropKubeconfigReads(stage.Azure.WritesSince(0))); diff != "" {
		t.Errorf("one write per resource, and none for pools that the cluster is created with (-want +got):\n%s", diff)
	}
	if host, port := controlPlane.Spec.ControlPlaneEndpoint.Host,
		controlPlane.Spec.ControlPlaneEndpoint.Port; !strings.HasSuffix(host, ".hcp.eastus.azmk8s.io") || port != 443 {
		t.Errorf("endpoint %s:%d, want the cluster's public name and 443", host, port)
	}
	if controlPlane.Status.Version != harness.ManagedVersion {
		t.Errorf("status.version is %q, want %s", controlPlane.Status.Version, harness.ManagedVersion)
	}
	azureCluster := harness.WaitFor(stage, &infrav1.AzureManagedCluster{}, "c1", "provisioned", func(c *infrav1.AzureManagedCluster) bool {
		return c.Status.Initialization.Provisioned != nil && harness.IsReady(c)
	})
	if diff := cmp.Diff(controlPlane.Spec.ControlPlaneEndpoint, azureCluster.Spec.ControlPlaneEndpoint); diff != "" {
		t.Errorf("endpoint of the AzureManagedCluster: %s", diff)
	}

	config, err := clientcmd.Load(stage.SecretData("c1-kubeconfig")["value"])
	if err != nil {
		t.Fatalf("Secret c1-kubeconfig: %v", err)
	}
	cluster := config.Clusters[config.Contexts[config.CurrentContext].Cluster]
	if cluster.Server != "https://"+controlPlane.Spec.ControlPlaneEndpoint.Host+":443" {
		t.Errorf("server %q of the kubeconfig is not the endpoint", cluster.Server)
	}
	if diff := cmp.Diff(string(cluster.CertificateAuthorityData), string(stage.SecretData("c1-ca")["tls.crt"])); diff != "" {
		t.Errorf("Secret c1-ca has another authority than the kubeconfig: %s", diff)
	}

	pool := stage.WaitPoolReady("c1-pool1", 2)
	for i, id := range pool.Spec.ProviderIDList {
		prefix := "azure:///subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/mc_c1_c1_eastus/providers/Microsoft.Compute/virtualMachineScaleSets/aks-pool1-"
		if !strings.HasPrefix(id, prefix) || !strings.HasSuffix(id, "-vmss/virtualMachines/"+[]string{"0", "1"}[i]) {
			t.Errorf("providerID %q, want an instance of the pool's scale set", id)
		}
	}

	checkQuiet(t, stage, manager, 10)

	mark := stage.Azure.MarkRequests()
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"DELETE resourceGroups/c1"}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("the group goes whole (-want +got):\n%s", diff)
	}
	for _, name := range []string{"c1-kubeconfig", "c1-ca"} {
		secret := &corev1.Secret{}
		stage.ReadObject(secret, name)
		if len(secret.OwnerReferences) != 1 || secret.OwnerReferences[0].Kind != "AzureManagedControlPlane" {
			t.Errorf("Secret %s has the owners %v, want the control plane, with which it goes", name, secret.OwnerReferences)
		}
	}
}

// checkQuiet leaves a cluster in order alone for some resyncs.
func checkQuiet(t *testing.T, stage *harness.Stage, manager *harness.Manager, resyncs int) int {
	t.Helper()
	reads := stage.QuietManaged(manager, resyncs)
	t.Logf("%d reads in %d resyncs", reads, resyncs)
	return reads
}

// logCost logs the requests and the time of a cluster from being applied to being ready.
func logCost(t *testing.T, stage *harness.Stage, applied time.Time) {
	t.Helper()
	took := time.Since(applied)
	counted := map[string]int{}
	for _, request := range stage.Azure.RequestsSince(0) {
		counted[request]++
	}
	t.Logf("%d requests and %s until the cluster is ready:", len(stage.Azure.RequestsSince(0)), took.Round(100*time.Millisecond))
	for _, request := range slices.Sorted(maps.Keys(counted)) {
		t.Logf("%3d %s", counted[request], request)
	}
}
