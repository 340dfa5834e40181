package asoresource

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// The tests in this file run over both families of AKS kinds: the typed ones, and those with resource manifests. A rule of AKS holds for
// both.

// aksCase is an AKS cluster mc with the pool p, as both families can describe it.
type aksCase struct {
	// version is that of the control plane, channel its upgrade channel, poolVersion that of the MachinePool.
	version, channel, poolVersion string
	replicas                      *int32
	// manager is the value of the annotation replicas-managed-by.
	manager string
	// typed changes the spec of the typed pool, manifest has the same fields for the manifest, as in ", minCount: 1".
	typed    func(spec *infrav1.AzureManagedMachinePoolSpec)
	manifest string
	// typedCluster and clusterManifest do so for the control plane.
	typedCluster    func(spec *infrav1.AzureManagedControlPlaneSpec)
	clusterManifest string
	// cluster and pool are the resources in Azure, "" for those that do not exist.
	cluster, pool string
	// clusterAnnotations and poolAnnotations are those of the objects.
	clusterAnnotations, poolAnnotations map[string]string
}

// families plan the cluster and the pool of a case.
var families = map[string]func(t *testing.T, c aksCase) (cluster, pool *arm.Node){
	"typed":     planTyped,
	"manifests": planManifests,
}

// planFamilies runs a test with the plans of each family.
func planFamilies(t *testing.T, c aksCase, check func(t *testing.T, cluster, pool *arm.Node)) {
	t.Helper()
	for name, build := range families {
		t.Run(name, func(t *testing.T) {
			cluster, pool := build(t, c)
			check(t, cluster, pool)
		})
	}
}

func (c aksCase) machinePool() *clusterv1.MachinePool {
	out := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "mp", Namespace: "n"}}
	if c.manager != "" {
		out.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: c.manager}
	}
	out.Spec.Replicas, out.Spec.Template.Spec.Version = c.replicas, c.poolVersion
	return out
}

func planTyped(t *testing.T, c aksCase) (cluster, pool *arm.Node) {
	t.Helper()
	controlPlane := &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "mc", Namespace: "n", Annotations: c.clusterAnnotations}}
	controlPlane.Spec.Location, controlPlane.Spec.ResourceGroupName, controlPlane.Spec.Version = "eastus", "g", c.version
	if c.channel != "" {
		controlPlane.Spec.AutoUpgradeProfile = &infrav1.ManagedClusterAutoUpgradeProfile{UpgradeChannel: new(infrav1.UpgradeChannel(c.channel))}
	}
	if c.typedCluster != nil {
		c.typedCluster(&controlPlane.Spec)
	}
	azurePool := &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", Annotations: c.poolAnnotations}}
	azurePool.Spec.Mode, azurePool.Spec.SKU = string(infrav1.NodePoolModeSystem), "Standard_D2s_v3"
	if c.typed != nil {
		c.typed(&azurePool.Spec)
	}
	in := aks.Input{
		Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", Namespace: "n"}}, ControlPlane: controlPlane, SubscriptionID: "s",
		Pools: []aks.Pool{{MachinePool: c.machinePool(), AzurePool: azurePool}},
		Facts: aks.Facts{Cluster: json.RawMessage(c.cluster), AgentPool: json.RawMessage(c.pool)},
	}
	graph, _, err := aks.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	pools, err := aks.BuildPoolPlan(in, in.Pools[0])
	if err != nil {
		t.Fatal(err)
	}
	return graph.Node(aksID), pools.Node(poolID)
}

func planManifests(t *testing.T, c aksCase) (cluster, pool *arm.Node) {
	t.Helper()
	channel := ""
	if c.channel != "" {
		channel = ", autoUpgradeProfile: {upgradeChannel: " + c.channel + "}"
	}
	in := newInput(t, groupManifest, strings.Replace(aksManifest, "dnsPrefix: x", "dnsPrefix: x"+channel+c.clusterManifest, 1),
		strings.Replace(poolManifest, "mode: System", "mode: System"+c.manifest, 1))
	in.Version, in.MachinePools["it"] = c.version, c.machinePool()
	in.Object = &metav1.ObjectMeta{Annotations: c.clusterAnnotations}
	in.Facts[aksID.Key()], in.Facts[poolID.Key()] = json.RawMessage(c.cluster), json.RawMessage(c.pool)
	_, cluster = mustPlanNode(t, in, aksID)
	in.Object = &metav1.ObjectMeta{Annotations: c.poolAnnotations}
	_, pool = mustPlanNode(t, in, poolID)
	return cluster, pool
}

// properties returns those of a node's body.
func properties(t *testing.T, node *arm.Node) map[string]any {
	t.Helper()
	raw, err := json.Marshal(node.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Properties map[string]any }
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out.Properties
}

// TestVersionNeverDecreases requests a version of the cluster and the pool beside those that Azure shows.
func TestVersionNeverDecreases(t *testing.T) {
	for name, test := range map[string]struct {
		reason, spec, channel, requested, running, want string
	}{
		"new":                    {reason: "the version of the object", spec: "v1.33.2", want: "1.33.2"},
		"upgrade":                {reason: "the object has a higher version than the one that runs", spec: "v1.34.0", requested: "1.33.2", running: "1.33.2", want: "1.34.0"},
		"raised by a channel":    {reason: "AKS refuses a lower version", spec: "v1.33.2", channel: "stable", requested: "1.34.0", running: "1.34.0", want: "1.34.0"},
		"raised outside":         {reason: "AKS refuses a lower version, whoever raised it", spec: "v1.33.2", requested: "1.34.0", running: "1.34.0", want: "1.34.0"},
		"alias":                  {reason: "AKS keeps the alias and runs its newest patch", spec: "v1.33.2", requested: "1.33", running: "1.33.7", want: "1.33"},
		"alias below the object": {reason: "the object asks for a higher patch", spec: "v1.33.9", requested: "1.33", running: "1.33.7", want: "1.33.9"},
		"numbers":                {reason: "versions are compared as numbers", spec: "v1.9.11", requested: "1.10.1", running: "1.10.1", want: "1.10.1"},
		"failed upgrade":         {reason: "a version that never ran can be given up", spec: "v1.33.2", requested: "1.34.0", running: "1.33.2", want: "1.33.2"},
	} {
		t.Run(name, func(t *testing.T) {
			c := aksCase{version: test.spec, poolVersion: test.spec, channel: test.channel, replicas: new(int32(1))}
			if test.running != "" {
				c.cluster = fmt.Sprintf(`{"properties":{"provisioningState":"Succeeded","kubernetesVersion":%q,"currentKubernetesVersion":%q,"agentPoolProfiles":[{"name":"p"}]}}`, test.requested, test.running)
				c.pool = fmt.Sprintf(`{"properties":{"orchestratorVersion":%q,"currentOrchestratorVersion":%q}}`, test.requested, test.running)
			}
			planFamilies(t, c, func(t *testing.T, cluster, pool *arm.Node) {
				if got := properties(t, cluster)["kubernetesVersion"]; got != test.want {
					t.Errorf("%s: the cluster gets %v, want %s", test.reason, got, test.want)
				}
				if got := properties(t, pool)["orchestratorVersion"]; got != test.want {
					t.Errorf("%s: the pool gets %v, want %s", test.reason, got, test.want)
				}
			})
		})
	}
}
