package pools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// joinedPool is the pool of the book's page, in a cluster of the name aks.
const joinedPool = "aks-vmss"

// readDocumentedPool returns the AzureMachinePool of the book's page.
func readDocumentedPool(stage *harness.Stage) *infrav1.AzureMachinePool {
	stage.T.Helper()
	root, err := harness.ModuleDir("")
	if err != nil {
		stage.T.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "aks", "scale-sets.md"))
	if err != nil {
		stage.T.Fatal(err)
	}
	_, manifest, _ := strings.Cut(strings.ReplaceAll(string(page), "my-cluster", "aks"), "```yaml\n")
	manifest, _, _ = strings.Cut(manifest, "```")
	for document := range strings.SplitSeq(manifest, "\n---\n") {
		pool := &infrav1.AzureMachinePool{}
		if err := yaml.Unmarshal([]byte(document), pool); err != nil {
			stage.T.Fatal(err)
		}
		if pool.Kind == "AzureMachinePool" {
			pool.Namespace, pool.Labels = stage.Namespace, map[string]string{clusterv1.ClusterNameLabel: "aks"}
			return pool
		}
	}
	stage.T.Fatal("the page has no AzureMachinePool")
	return nil
}

// nodeGroup is the resource group that AKS makes for the nodes of cluster aks.
const nodeGroup = "MC_aks_aks_eastus"

// TestJoined lets a scale set of the user join an AKS cluster; it expects that it is in the subnet of AKS's nodes, and that the cluster
// waits for its deletion.
func TestJoined(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.PlayPoolMachines(nil)
	controlPlane := stage.ControlPlane("aks")
	controlPlane.Spec.AdditionalTags = infrav1.Tags{"team": "blue"}
	system := harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1}
	stage.CreateManagedCluster(controlPlane, system)
	stage.CreatePool(readDocumentedPool(stage), 2)
	stage.WaitManagedClusterReady("aks", system)
	expectNoScaleSet(stage)
	harness.ChangeStatus(stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "aks"}}, func(c *clusterv1.Cluster) {
		c.Status.Initialization.InfrastructureProvisioned = new(true)
	})
	stage.WaitPool(joinedPool, 2)
	expectBesideNodes(stage)
	expectAzureJSON(stage)

	harness.ChangeObject(stage, controlPlane,
		func(c *infrav1.AzureManagedControlPlane) { c.Spec.AdditionalTags = infrav1.Tags{"team": "green"} })
	stage.Eventually("tags of the control plane are on the scale set", func() bool {
		_, have := stage.Azure.GetResource(joinedScaleSet, computeVersion)
		return harness.FindString(have, "tags.team") == "green"
	})

	// A user deletes the control plane before the pool.
	if err := stage.Client.Delete(t.Context(), controlPlane); err != nil {
		t.Fatal(err)
	}
	harness.WaitFor(stage, &infrav1.AzureManagedControlPlane{}, "aks", "waiting for the pool", func(c *infrav1.AzureManagedControlPlane) bool {
		ready := harness.FindCondition(c, infrav1.ReadyCondition)
		return ready.Reason == infrav1.WaitingForMachinePoolsReason && strings.Contains(ready.Message, "AzureMachinePool "+joinedPool)
	})
	stage.DeletePool(joinedPool)
	stage.DeleteManagedCluster("aks", "pool0")
	if left := stage.Azure.ListResources(); len(left) > 0 {
		t.Errorf("resources left behind: %v", left)
	}
}

const joinedScaleSet = "resourceGroups/" + nodeGroup + "/providers/Microsoft.Compute/virtualMachineScaleSets/" + joinedPool

// expectNoScaleSet expects the pool to wait for the AKS cluster, and its condition to name the control plane.
func expectNoScaleSet(stage *harness.Stage) {
	stage.T.Helper()
	harness.WaitFor(stage, &infrav1.AzureMachinePool{}, joinedPool, "waiting", func(p *infrav1.AzureMachinePool) bool {
		running := harness.FindCondition(p, infrav1.ScaleSetRunningCondition)
		return running.Reason == infrav1.WaitingForClusterInfrastructureReason &&
			strings.Contains(running.Message, "see AzureManagedControlPlane aks")
	})
}

// expectBesideNodes expects the scale set to be where the nodes of AKS are, and to go out as they do.
func expectBesideNodes(stage *harness.Stage) {
	stage.T.Helper()
	_, have := stage.Azure.GetResource(joinedScaleSet, computeVersion)
	group := "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/"
	const address = "properties.virtualMachineProfile.networkProfile.networkInterfaceConfigurations.0.properties.ipConfigurations.0.properties."
	for path, want := range map[string]string{
		"location":            "eastus",
		"tags.team":           "blue",
		address + "subnet.id": group + "aks/providers/Microsoft.Network/virtualNetworks/aks/subnets/aks",
		address + "loadBalancerBackendAddressPools.0.id": group + nodeGroup + "/providers/Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/aksOutboundBackendPool",
	} {
		if got := harness.FindString(have, path); !strings.EqualFold(asString(got), want) {
			stage.T.Errorf("%s is %v, want %s", path, got, want)
		}
	}
	tags, _ := have["tags"].(map[string]any)
	if tags[infrav1.ClusterTagKey("aks")] != infrav1.TagOwned {
		stage.T.Errorf("tags %v do not name the owner of the scale set", tags)
	}
}

func asString(value any) string {
	text, _ := value.(string)
	return text
}

// expectAzureJSON expects the same values in the configuration of the nodes.
func expectAzureJSON(stage *harness.Stage) {
	stage.T.Helper()
	secret := harness.WaitFor(stage, &corev1.Secret{}, joinedPool+"-azure-json", "written",
		func(s *corev1.Secret) bool { return len(s.Data["worker-node-azure.json"]) > 0 })
	var have map[string]any
	if err := json.Unmarshal(secret.Data["worker-node-azure.json"], &have); err != nil {
		stage.T.Fatal(err)
	}
	got := map[string]any{}
	for _, key := range []string{"resourceGroup", "location", "vnetName", "vnetResourceGroup", "subnetName", "loadBalancerName",
		"subscriptionId"} {
		got[key] = have[key]
	}
	want := map[string]any{
		"resourceGroup": nodeGroup, "location": "eastus", "vnetName": "aks", "vnetResourceGroup": "aks", "subnetName": "aks",
		"loadBalancerName": "kubernetes", "subscriptionId": stage.Azure.SubscriptionID,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		stage.T.Errorf("azure.json (-want +got):\n%s", diff)
	}
}

// TestHomeless creates pools of Clusters whose infrastructure does not exist, or is of a kind that no pool can join; it expects that their
// conditions name that object and the remedy, that they create nothing, and that they can be deleted.
func TestHomeless(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	ref := func(kind, name string) clusterv1.ContractVersionedObjectReference {
		return clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: name}
	}
	tests := map[string]struct {
		infrastructure, controlPlane clusterv1.ContractVersionedObjectReference
		says                         string
	}{
		"self": {infrastructure: ref("AzureCluster", "gone"), says: "AzureCluster gone, to which Cluster self refers, does not exist. Create it"},
		"aks": {
			infrastructure: ref("AzureManagedCluster", "aks"), controlPlane: ref("AzureManagedControlPlane", "lost"),
			says: "AzureManagedControlPlane lost, to which Cluster aks refers, does not exist. Create it",
		},
		"mixed": {infrastructure: ref("AzureManagedCluster", "mixed"), controlPlane: ref("Other", "mixed"),
			says: `spec.controlPlaneRef of Cluster mixed has the kind "Other", but an AzureManagedCluster requires an AzureManagedControlPlane. Correct spec.controlPlaneRef`},
		"other": {infrastructure: ref("OtherCluster", "other"),
			says: `spec.infrastructureRef of Cluster other has the kind "OtherCluster", but an AzureMachinePool requires an AzureCluster, or an AzureManagedCluster with an AzureManagedControlPlane. Correct spec.infrastructureRef`},
	}
	for name, test := range tests {
		stage.CreateObject(&clusterv1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: name},
			Spec:       clusterv1.ClusterSpec{InfrastructureRef: test.infrastructure, ControlPlaneRef: test.controlPlane},
		})
		stage.CreatePool(stage.AzureMachinePool(name, name), 1)
	}
	for name, test := range tests {
		var said string
		harness.WaitFor(stage, &infrav1.AzureMachinePool{}, name, "with the message "+test.says, func(p *infrav1.AzureMachinePool) bool {
			said = harness.FindCondition(p, infrav1.ReadyCondition).Message
			return strings.Contains(said, test.says)
		})
		stage.DeletePool(name)
	}
	list := &infrav1.AzureMachinePoolList{}
	if err := stage.Client.List(t.Context(), list, client.InNamespace(stage.Namespace)); err != nil || len(list.Items) > 0 {
		t.Errorf("pools left: %d, %v", len(list.Items), err)
	}
}
