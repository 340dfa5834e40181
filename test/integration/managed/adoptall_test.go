package managed_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/azurecli"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestAdoptAsAzureManaged adopts clusters as AzureManaged kinds with the manifests of the command: all become Ready without a write
// to Azure, scaling a pool is one write, and after the deletion of the objects the clusters stay in Azure.
func TestAdoptAsAzureManaged(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.CreateIdentity()
	clusters := azurecli.ExampleClusters(stage)
	azurecli.CreatePrerequisites(stage)
	manifests := map[string]string{}
	omitted := 0
	for name, made := range clusters {
		made.CreateCluster(stage, name)
		if made.Nameless {
			continue
		}
		printed, messages, err := azurecli.RunAdopt(stage, "--subscription", stage.Azure.SubscriptionID, "--resource-group", name, "--name", name,
			"--identity", harness.IdentityName)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, messages)
			continue
		}
		omitted += strings.Count(messages, "not in the manifests")
		manifests[name] = printed
	}
	mark := stage.Azure.MarkRequests()
	for _, printed := range manifests {
		applyManifest(stage, printed)
	}
	stage.StartManager(harness.ManagerOptions{})
	for name := range manifests {
		stage.PlayManagedCluster(name, name, name)
		for _, pool := range clusters[name].Pools {
			object := name + "-" + pool["name"].(string)
			stage.PlayManagedPool(harness.PlayedPool{MachinePool: object, AzurePool: object})
		}
	}
	for name := range manifests {
		stage.WaitControlPlaneReady(name)
		for _, pool := range clusters[name].Pools {
			stage.WaitPoolReady(name+"-"+pool["name"].(string), pool["count"].(int))
		}
	}
	if diff := cmp.Diff([]string{}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("the manifests have the values of Azure, so nothing is to be written (-want +got):\n%s", diff)
	}
	t.Logf("%d clusters adopted, %d writes, %d values that the manifests cannot express", len(manifests),
		len(harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))), omitted)

	mark = stage.Azure.MarkRequests()
	scaled := clusters["kubenet"].Pools[0]["count"].(int) + 1
	harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "kubenet-nodepool1"}},
		func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(scaled)) })
	stage.WaitPoolReady("kubenet-nodepool1", scaled)
	if diff := cmp.Diff([]string{"PUT resourceGroups/kubenet/Microsoft.ContainerService/managedClusters/kubenet/agentPools/nodepool1"},
		harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("scaling is one write (-want +got):\n%s", diff)
	}
	before := stage.Azure.ListResources()
	mark = stage.Azure.MarkRequests()
	for name := range manifests {
		var pools []harness.PlayedPool
		for _, pool := range clusters[name].Pools {
			object := name + "-" + pool["name"].(string)
			pools = append(pools, harness.PlayedPool{MachinePool: object, AzurePool: object})
		}
		stage.EndManagedCluster(name, name, name, pools...)
	}
	if writes := harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)); len(writes) > 0 {
		t.Errorf("what was taken over is let go, but: %q", writes)
	}
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}
}

// TestAdoptAsAzureASOManaged is TestAdoptAsAzureManaged with AzureASOManaged kinds, which can express every property.
func TestAdoptAsAzureASOManaged(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.CreateOperatorSecret(harness.OperatorSecret)
	clusters := azurecli.ExampleClusters(stage)
	azurecli.CreatePrerequisites(stage)
	taken := map[string]*harness.ASOCluster{}
	var printed []string
	for azureName, made := range clusters {
		made.CreateCluster(stage, azureName)
		name := strings.ReplaceAll(strings.ToLower(azureName), "_", "-")
		manifest, messages, err := azurecli.RunAdopt(stage, "--subscription", stage.Azure.SubscriptionID, "--resource-group", azureName, "--name",
			azureName,
			"--as", "azureasomanaged", "--cluster-name", name, "--credential-from", harness.OperatorSecret)
		if err != nil || strings.Contains(messages, "not in the manifests") {
			t.Errorf("%s: %v\n%s", azureName, err, messages)
			continue
		}
		printed, taken[name] = append(printed, manifest), nil
	}
	mark := stage.Azure.MarkRequests()
	for _, manifest := range printed {
		applyManifest(stage, manifest)
	}
	stage.StartManager(harness.ManagerOptions{})
	for _, made := range slices.Sorted(maps.Keys(clusters)) {
		name := strings.ReplaceAll(strings.ToLower(made), "_", "-")
		if _, ok := taken[name]; !ok {
			continue
		}
		var pools []string
		for _, pool := range clusters[made].Pools {
			pools = append(pools, name+"-"+pool["name"].(string))
		}
		taken[name] = stage.PlayManifests(name, pools...)
	}
	for _, cluster := range taken {
		stage.WaitManifestsReady(cluster)
	}
	if diff := cmp.Diff([]string{}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("the resource manifests have the values of Azure, so nothing is to be written (-want +got):\n%s", diff)
	}
	t.Logf("%d clusters taken over, %d writes", len(taken), len(harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))))

	mark = stage.Azure.MarkRequests()
	harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "overlay-batch"}},
		func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(2)) })
	harness.WaitFor(stage, &infrav1.AzureASOManagedMachinePool{}, "overlay-batch", "scaled", func(o *infrav1.AzureASOManagedMachinePool) bool {
		return o.Status.Ready && o.Status.Replicas == 2 && len(o.Spec.ProviderIDList) == 2
	})
	if diff := cmp.Diff([]string{"PUT resourceGroups/overlay/Microsoft.ContainerService/managedClusters/overlay/agentPools/batch"},
		harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("scaling is one write (-want +got):\n%s", diff)
	}
	before := stage.Azure.ListResources()
	mark = stage.Azure.MarkRequests()
	for name, cluster := range taken {
		cluster.ControlPlane.Name = name
		stage.DeleteManifests(cluster)
	}
	if writes := harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)); len(writes) > 0 {
		t.Errorf("what was taken over is let go, but: %q", writes)
	}
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}
}
