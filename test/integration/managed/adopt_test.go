package managed_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// createExisting makes an AKS cluster as its owner would have with other tools: no tag is ours.
func createExisting(stage *harness.Stage) {
	stage.Azure.PutNetwork("net", "vnet", "10.0.0.0/8", map[string]string{"nodes": "10.240.0.0/16"})
	stage.Azure.PutResource("resourceGroups/c1", groupVersion, body{"location": "eastus"})
	subnet := "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/vnet/subnets/nodes"
	pool := func(name, mode string) body {
		return body{"name": name, "mode": mode, "count": 2, "vmSize": "Standard_D2s_v3", "osType": "Linux", "type": "VirtualMachineScaleSets",
			"vnetSubnetID": subnet, "orchestratorVersion": "1.33.2"}
	}
	stage.Azure.PutResource("resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/c1", clusterVersion, body{
		"location": "eastus", "identity": body{"type": "SystemAssigned"}, "tags": body{"team": "platform"},
		"properties": body{
			"dnsPrefix": "c1", "kubernetesVersion": "1.33.2", "enableRBAC": true,
			"networkProfile": body{"networkPlugin": "azure", "loadBalancerSku": "standard", "serviceCidr": "192.168.0.0/16",
				"dnsServiceIP": "192.168.0.10"},
			"agentPoolProfiles": []any{pool("pool0", "System"), pool("pool1", "User")},
		},
	})
}

// buildAdopting returns the manifest for that cluster.
func buildAdopting(stage *harness.Stage) *infrav1.AzureManagedControlPlane {
	controlPlane := stage.ControlPlane("c1")
	controlPlane.Spec.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{
		ResourceGroup: "net", Name: "vnet", CIDRBlock: "10.0.0.0/8",
		Subnet: infrav1.ManagedControlPlaneSubnet{Name: "nodes", CIDRBlock: "10.240.0.0/16"},
	}
	return controlPlane
}

// TestAdopt adopts a cluster whose manifest matches it: nothing is written to Azure. From then on the provider applies changes of the
// spec, and leaves the cluster in Azure when its Cluster is deleted. With the annotation for it the provider deletes the cluster; the
// group and the network of the cluster stay.
func TestAdopt(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	createExisting(stage)
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	mark := stage.Azure.MarkRequests()
	stage.CreateManagedCluster(buildAdopting(stage), pools...)
	stage.WaitManagedClusterReady("c1", pools...)
	if diff := cmp.Diff([]string{}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("the manifest matches the cluster, so nothing is to be written (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}
	stage.Eventually("events report the adoption", func() bool {
		return slices.Contains(stage.ListEvents("AzureManagedControlPlane", "c1"), "Normal Adopted adopted managedClusters/c1") &&
			slices.Contains(stage.ListEvents("AzureManagedMachinePool", "c1-pool0"), "Normal Adopted adopted agentPools/pool0")
	})

	mark = stage.Azure.MarkRequests()
	pool := &infrav1.AzureManagedMachinePool{}
	pool.Name = "c1-pool1"
	harness.ChangeObject(stage, pool, func(p *infrav1.AzureManagedMachinePool) { p.Spec.NodeLabels = map[string]string{"a": "b"} })
	stage.Eventually("the label is on the pool", func() bool {
		_, have := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/c1/agentPools/pool1",
			clusterVersion)
		return harness.FindString(have, "properties.nodeLabels.a") == "b"
	})
	if diff := cmp.Diff([]string{"PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/agentPools/pool1"},
		harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("an adopted pool is kept in line with one write (-want +got):\n%s", diff)
	}

	mark = stage.Azure.MarkRequests()
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	if writes := harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)); len(writes) > 0 {
		t.Errorf("what was adopted is let go, but: %q", writes)
	}
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}

	// Kubernetes' garbage collector, which is not here, takes the Secrets along.
	for _, name := range []string{"c1-kubeconfig", "c1-ca"} {
		if err := stage.Client.Delete(t.Context(),
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: name}}); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	again := buildAdopting(stage)
	again.Annotations = map[string]string{infrav1.DeleteAdoptedAnnotation: "true"}
	labelled := slices.Clone(pools)
	labelled[1].Change = func(p *infrav1.AzureManagedMachinePool) { p.Spec.NodeLabels = map[string]string{"a": "b"} }
	stage.CreateManagedCluster(again, labelled...)
	stage.WaitManagedClusterReady("c1", pools...)
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	want := []string{"resourceGroups/c1", "resourceGroups/net", "resourceGroups/net/Microsoft.Network/virtualNetworks/vnet"}
	if diff := cmp.Diff(want, stage.Azure.ListResources()); diff != "" {
		t.Errorf("what the cluster was put into stays, and nothing else (-want +got):\n%s", diff)
	}
	if status, _ := stage.Azure.GetResource("resourceGroups/net/providers/Microsoft.Network/virtualNetworks/vnet/subnets/nodes",
		networkVersion); status != 200 {
		t.Errorf("GET of the subnet that was brought: %d", status)
	}
}

// TestReviewBeforeAdoption runs the commands with which a user reviews a manifest that differs from the cluster. Nothing is written before the last one.
func TestReviewBeforeAdoption(t *testing.T) {
	t.Parallel()
	page := flavors.ReadPage(t, "aks", "adoption.md")
	_, section, found := strings.Cut(page, "### Review a manifest first\n")
	_, block, hasCommands := strings.Cut(section, "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	commands := strings.Split(strings.TrimSpace(block), "\n")
	annotation := regexp.MustCompile("`Cluster` with the annotation `([^`]+): \"([^`]+)\"`").FindStringSubmatch(section)
	if !found || !hasCommands || len(commands) != 2 || annotation == nil {
		t.Fatalf("the page has the commands %q and the annotation %q", commands, annotation)
	}
	stage := harness.NewStage(t, environment)
	createExisting(stage)
	stage.CreateIdentity()
	mark := stage.Azure.MarkRequests()
	differing := buildAdopting(stage)
	differing.Spec.AdditionalTags = infrav1.Tags{"team": "other"}
	stage.CreateManagedCluster(differing, pools...)
	stage.RunShell("kubectl annotate cluster c1 " + annotation[1] + "=" + annotation[2])
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.Eventually("the review lists the write", func() bool {
		out := stage.RunShell(commands[0])
		return strings.Contains(out, "AzureManagedControlPlane c1: ") && strings.Contains(out, "update managedClusters/c1") &&
			strings.Contains(out, "AzureManagedMachinePool c1-pool1: ")
	})
	if writes := harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)); len(writes) > 0 {
		t.Errorf("writes during the review: %q", writes)
	}
	stage.RunShell(commands[1])
	stage.WaitManagedClusterReady("c1", pools...)
	stage.Eventually("the difference is written", func() bool {
		return slices.Contains(stage.Azure.WritesSince(mark), "PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1") ||
			slices.Contains(stage.Azure.WritesSince(mark), "PATCH resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1")
	})
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
}

// TestAdoptAnotherClusters creates an object of the same name as an AKS cluster that another Cluster owns; it expects that nothing of it is
// handed out or shown, and that it is not changed, stopped or deleted.
func TestAdoptAnotherClusters(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	createExisting(stage)
	path := "resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/c1"
	_, owned := stage.Azure.GetResource(path, clusterVersion)
	owned["tags"] = body{infrav1.ClusterTagKey("other"): infrav1.TagOwned}
	stage.Azure.PutResource(path, clusterVersion, owned)
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	mark := stage.Azure.MarkRequests()
	adopting := buildAdopting(stage)
	metav1.SetMetaDataAnnotation(&adopting.ObjectMeta, infrav1.StopAnnotation, "true")
	stage.CreateManagedCluster(adopting, pools...)
	controlPlane := &infrav1.AzureManagedControlPlane{}
	stage.Eventually("the object names the owner", func() bool {
		stage.ReadObject(controlPlane, "c1")
		condition := harness.FindCondition(controlPlane, infrav1.ManagedClusterRunningCondition)
		return condition.Reason == infrav1.ResourceExistsNotOwnedReason &&
			strings.Contains(condition.Message, infrav1.ClusterTagKey("other")+"=owned of another cluster")
	})
	shown := controlPlane.Status
	if endpoint := controlPlane.Spec.ControlPlaneEndpoint; endpoint.Host != "" || shown.Version != "" || shown.OIDCIssuerProfile != nil {
		t.Errorf("what another cluster is like is shown: endpoint %v, version %q, issuer %v", endpoint, shown.Version, shown.OIDCIssuerProfile)
	}
	azureCluster := &infrav1.AzureManagedCluster{}
	if stage.ReadObject(azureCluster, "c1"); azureCluster.Status.Ready || azureCluster.Spec.ControlPlaneEndpoint.Host != "" {
		t.Errorf("the AzureManagedCluster is ready with the endpoint %v", azureCluster.Spec.ControlPlaneEndpoint)
	}
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("nothing of another cluster is asked for or written: %v", writes)
	}
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}
}

// TestRestoredWithoutStatus removes the status and the annotations of the objects of a cluster that this provider, or the established one,
// created, as a restore does; it expects that everything is found again by names and tags, and that nothing is written.
func TestRestoredWithoutStatus(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	manager := stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	stage.WaitManagedClusterReady("c1", pools...)
	manager.Kill()

	controlPlane := &infrav1.AzureManagedControlPlane{}
	controlPlane.Name = "c1"
	harness.ChangeObject(stage, controlPlane, func(c *infrav1.AzureManagedControlPlane) {
		maps.DeleteFunc(c.Annotations, func(string, string) bool { return true })
	})
	harness.ChangeStatus(stage, controlPlane,
		func(c *infrav1.AzureManagedControlPlane) { c.Status = infrav1.AzureManagedControlPlaneStatus{} })
	mark := stage.Azure.MarkRequests()
	stage.StartManager(harness.ManagerOptions{})
	stage.WaitControlPlaneReady("c1")
	stage.WaitPoolReady("c1-pool1", 2)
	if diff := cmp.Diff([]string{}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}
