package managed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestManifests takes an AKS cluster of documents through its life: it becomes usable by one write per document, follows
// Cluster API, its documents and Azure, and goes whole.
func TestManifests(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	cluster := stage.BuildASOCluster("c1", "pool0", "pool1")
	applied := time.Now()
	stage.CreateManifests(cluster)
	controlPlane := stage.WaitManifestsReady(cluster)
	logCost(t, stage, applied)
	want := []string{"PUT resourceGroups/c1", "PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1"}
	if diff := cmp.Diff(want, harness.DropKubeconfigReads(stage.Azure.WritesSince(0))); diff != "" {
		t.Errorf("one write per document, and none for pools that the cluster is created with (-want +got):\n%s", diff)
	}
	host := controlPlane.Status.ControlPlaneEndpoint.Host
	if !strings.HasSuffix(host, ".hcp.eastus.azmk8s.io") || controlPlane.Status.Version != harness.ManagedVersion {
		t.Errorf("endpoint %q, version %q", host, controlPlane.Status.Version)
	}
	config, err := clientcmd.Load(stage.SecretData("c1-kubeconfig")["value"])
	if err != nil {
		t.Fatalf("Secret c1-kubeconfig: %v", err)
	}
	if server := config.Clusters[config.Contexts[config.CurrentContext].Cluster].Server; server != "https://"+host+":443" {
		t.Errorf("server %q of the kubeconfig is not the endpoint", server)
	}
	infrastructure := &infrav1.AzureASOManagedCluster{}
	stage.ReadObject(infrastructure, "c1")
	if infrastructure.Spec.ControlPlaneEndpoint.Host != host || !*infrastructure.Status.Initialization.Provisioned {
		t.Errorf("the AzureASOManagedCluster has endpoint %v", infrastructure.Spec.ControlPlaneEndpoint)
	}
	pool := &infrav1.AzureASOManagedMachinePool{}
	stage.ReadObject(pool, "c1-pool1")
	if pool.Status.Replicas != 2 || len(pool.Spec.ProviderIDList) != 2 ||
		!strings.Contains(pool.Spec.ProviderIDList[0], "/virtualMachineScaleSets/aks-pool1-") {
		t.Errorf("the pool has %d replicas, %v", pool.Status.Replicas, pool.Spec.ProviderIDList)
	}
	// A resync reads the group, the cluster, one list of pools and one of scale sets, and the machines of both pools. Reads of one
	// resync may fall into two windows of freshness.
	const resyncs, most = 10, 2 * (4 + 2)
	if reads := checkQuiet(t, stage, manager, resyncs); reads > resyncs*most {
		t.Errorf("%d reads in %d resyncs, want at most %d", reads, resyncs, resyncs*most)
	}

	mark := stage.Azure.MarkRequests()
	harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "c1-pool1"}},
		func(o *clusterv1.MachinePool) { o.Spec.Replicas = new(int32(3)) })
	harness.WaitFor(stage, pool, "c1-pool1", "scaled", func(o *infrav1.AzureASOManagedMachinePool) bool {
		return o.Status.Ready && o.Status.Replicas == 3 && len(o.Spec.ProviderIDList) == 3
	})
	if diff := cmp.Diff([]string{"PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/agentPools/pool1"},
		harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("scaling is one write (-want +got):\n%s", diff)
	}

	mark = stage.Azure.MarkRequests()
	stage.DeleteManifests(cluster)
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
	t.Log(harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)))
}
