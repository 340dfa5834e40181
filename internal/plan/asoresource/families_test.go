package asoresource

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
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
	// mode is that of the pool, "" for System. name is its name, "" for p.
	mode, name string
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

func (c aksCase) poolMode() string {
	if c.mode == "" {
		return "System"
	}
	return c.mode
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
	in := typedInput(c)
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

func typedInput(c aksCase) aks.Input {
	controlPlane := &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "mc", Namespace: "n",
		Annotations: c.clusterAnnotations}}
	controlPlane.Spec.Location, controlPlane.Spec.ResourceGroupName, controlPlane.Spec.Version = "eastus", "g", c.version
	if c.channel != "" {
		controlPlane.Spec.AutoUpgradeProfile = &infrav1.ManagedClusterAutoUpgradeProfile{UpgradeChannel: new(infrav1.UpgradeChannel(c.channel))}
	}
	if c.typedCluster != nil {
		c.typedCluster(&controlPlane.Spec)
	}
	azurePool := &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", Annotations: c.poolAnnotations}}
	azurePool.Spec.Mode, azurePool.Spec.SKU = c.poolMode(), "Standard_D2s_v3"
	if c.typed != nil {
		c.typed(&azurePool.Spec)
	}
	return aks.Input{
		Cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", Namespace: "n"}}, ControlPlane: controlPlane, SubscriptionID: "s",
		Pools: []aks.Pool{{MachinePool: c.machinePool(), AzurePool: azurePool}},
		Facts: aks.Facts{Cluster: json.RawMessage(c.cluster), AgentPool: json.RawMessage(c.pool)},
	}
}

func planManifests(t *testing.T, c aksCase) (cluster, pool *arm.Node) {
	t.Helper()
	in := manifestInput(t, c)
	in.Object = &metav1.ObjectMeta{Annotations: c.clusterAnnotations}
	_, cluster = mustPlanNode(t, in, aksID)
	in.Object = &metav1.ObjectMeta{Annotations: c.poolAnnotations}
	_, pool = mustPlanNode(t, in, poolID)
	return cluster, pool
}

func manifestInput(t *testing.T, c aksCase) Input {
	t.Helper()
	channel := ""
	if c.channel != "" {
		channel = ", autoUpgradeProfile: {upgradeChannel: " + c.channel + "}"
	}
	in := newInput(t, groupManifest, strings.Replace(aksManifest, "dnsPrefix: x", "dnsPrefix: x"+channel+c.clusterManifest, 1),
		strings.Replace(poolManifest, "mode: System", "mode: "+c.poolMode()+c.manifest, 1))
	in.Version, in.MachinePools["it"] = c.version, c.machinePool()
	in.Facts[aksID.Key()], in.Facts[poolID.Key()] = json.RawMessage(c.cluster), json.RawMessage(c.pool)
	return in
}

// readProperties returns those of a node's body.
func readProperties(t *testing.T, node *arm.Node) map[string]any {
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
		"new": {reason: "the version of the object", spec: "v1.33.2", want: "1.33.2"},
		"upgrade": {reason: "the object has a higher version than the one that runs", spec: "v1.34.0", requested: "1.33.2",
			running: "1.33.2", want: "1.34.0"},
		"raised by a channel": {reason: "AKS refuses a lower version", spec: "v1.33.2", channel: "stable", requested: "1.34.0",
			running: "1.34.0", want: "1.34.0"},
		"raised outside": {reason: "AKS refuses a lower version, also after an upgrade from outside", spec: "v1.33.2", requested: "1.34.0",
			running: "1.34.0", want: "1.34.0"},
		"alias": {reason: "AKS keeps the alias and runs its newest patch", spec: "v1.33.2", requested: "1.33", running: "1.33.7",
			want: "1.33"},
		"alias below the object": {reason: "the object asks for a higher patch", spec: "v1.33.9", requested: "1.33", running: "1.33.7",
			want: "1.33.9"},
		"numbers": {reason: "versions are compared as numbers", spec: "v1.9.11", requested: "1.10.1", running: "1.10.1",
			want: "1.10.1"},
		"failed upgrade": {reason: "a version that never ran can be given up", spec: "v1.33.2", requested: "1.34.0", running: "1.33.2",
			want: "1.33.2"},
	} {
		t.Run(name, func(t *testing.T) {
			c := aksCase{version: test.spec, poolVersion: test.spec, channel: test.channel, replicas: new(int32(1))}
			if test.running != "" {
				c.cluster = fmt.Sprintf(`{"properties":{"provisioningState":"Succeeded","kubernetesVersion":%q,"currentKubernetesVersion":%q,"agentPoolProfiles":[{"name":"p"}]}}`, test.requested, test.running)
				c.pool = fmt.Sprintf(`{"properties":{"orchestratorVersion":%q,"currentOrchestratorVersion":%q}}`, test.requested, test.running)
			}
			planFamilies(t, c, func(t *testing.T, cluster, pool *arm.Node) {
				if got := readProperties(t, cluster)["kubernetesVersion"]; got != test.want {
					t.Errorf("%s: the cluster gets %v, want %s", test.reason, got, test.want)
				}
				if got := readProperties(t, pool)["orchestratorVersion"]; got != test.want {
					t.Errorf("%s: the pool gets %v, want %s", test.reason, got, test.want)
				}
			})
		})
	}
}

// cleanPool and cleanCluster are an AKS cluster with a pool in Azure that accept changes.
const (
	cleanCluster = `{"properties":{"provisioningState":"Succeeded","kubernetesVersion":"1.33.2","currentKubernetesVersion":"1.33.2","agentPoolProfiles":[{"name":"p"}]}}`
	version1332  = "v1.33.2"
)

// TestPoolCount requests replicas and bounds beside the number of nodes in Azure.
func TestPoolCount(t *testing.T) {
	bounds := func(least, most int) (func(*infrav1.AzureManagedMachinePoolSpec), string) {
		return func(spec *infrav1.AzureManagedMachinePoolSpec) {
			spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: &least, MaxSize: &most}
		}, fmt.Sprintf(", enableAutoScaling: true, minCount: %d, maxCount: %d", least, most)
	}
	off, none := func(*infrav1.AzureManagedMachinePoolSpec) {}, ", enableAutoScaling: false"
	for name, test := range map[string]struct {
		reason      string
		least, most int
		manager     string
		observed    string
		want        float64
	}{
		"new":                    {reason: "the MachinePool decides", want: 3},
		"scaled":                 {reason: "the MachinePool decides", observed: "7", want: 3},
		"autoscaler":             {reason: "AKS's autoscaler decides", least: 1, most: 9, observed: "7", want: 7},
		"autoscaler, new":        {reason: "the pool begins with the replicas", least: 1, most: 9, want: 3},
		"autoscaler, new, below": {reason: "AKS refuses a number outside the bounds", least: 4, most: 9, want: 4},
		"autoscaler, above":      {reason: "AKS refuses a number outside the bounds", least: 1, most: 5, observed: "7", want: 5},
		"another scaler":         {reason: "the program that the annotation names decides", manager: "keda", observed: "7", want: 7},
		"another scaler, new":    {reason: "there is no number to keep yet", manager: "keda", want: 3},
		"no scaler":              {reason: "false is Cluster API's value for none", manager: "false", observed: "7", want: 3},
		"autoscaler, unspecified": {reason: "the autoscaler of AKS may run under any value that names no other program", least: 1, most: 9,
			manager: "true", observed: "7", want: 7},
	} {
		t.Run(name, func(t *testing.T) {
			c := aksCase{version: version1332, poolVersion: version1332, replicas: new(int32(3)), manager: test.manager, cluster: cleanCluster,
				typed: off, manifest: none}
			if test.most > 0 {
				c.typed, c.manifest = bounds(test.least, test.most)
			}
			if test.observed != "" {
				c.pool = `{"properties":{"count":` + test.observed + `}}`
			}
			planFamilies(t, c, func(t *testing.T, _, pool *arm.Node) {
				if got := readProperties(t, pool)["count"]; got != test.want {
					t.Errorf("%s: got %v, want %v", test.reason, got, test.want)
				}
			})
		})
	}
}

// TestLeftoverManager plans a pool without autoscaler whose MachinePool still has the annotation that its controller wrote while the
// autoscaler ran.
func TestLeftoverManager(t *testing.T) {
	for name, own := range map[string]string{"typed": aks.ReplicasManagedByAKS, "manifests": ManagedByAKS} {
		c := aksCase{version: version1332, poolVersion: version1332, replicas: new(int32(3)), manager: own, cluster: cleanCluster,
			pool: `{"properties":{"count":7}}`, manifest: ", enableAutoScaling: false"}
		if _, pool := families[name](t, c); readProperties(t, pool)["count"] != 3.0 {
			t.Errorf("%s: the pool gets %v nodes, want the replicas of its MachinePool", name, readProperties(t, pool)["count"])
		}
	}
}

// TestReservedLabelsAndTaints plans a pool with labels and taints beside those that AKS has set. AKS replaces all of them by those of a
// PUT, so leaving its own out would be a difference forever.
func TestReservedLabelsAndTaints(t *testing.T) {
	c := aksCase{
		version: version1332, poolVersion: version1332, replicas: new(int32(1)), mode: "User", cluster: cleanCluster,
		pool: `{"properties":{"nodeLabels":{"kubernetes.azure.com/scalesetpriority":"spot","old":"x"},"nodeTaints":["kubernetes.azure.com/scalesetpriority=spot:NoSchedule","old=x:NoSchedule"]}}`,
		typed: func(spec *infrav1.AzureManagedMachinePoolSpec) {
			spec.NodeLabels = map[string]string{"a": "b"}
			spec.Taints = infrav1.Taints{{Key: "k", Value: "v", Effect: "NoSchedule"}}
		},
		manifest: `, nodeLabels: {a: b}, nodeTaints: ["k=v:NoSchedule"]`,
	}
	planFamilies(t, c, func(t *testing.T, _, pool *arm.Node) {
		got := readProperties(t, pool)
		if diff := cmp.Diff(map[string]any{"a": "b", "kubernetes.azure.com/scalesetpriority": "spot"}, got["nodeLabels"]); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]any{"k=v:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"}, got["nodeTaints"]); diff != "" {
			t.Errorf("taints (-want +got):\n%s", diff)
		}
	})
}

// TestDefaultsNotShown plans values that AKS applies by default and does not show.
func TestDefaultsNotShown(t *testing.T) {
	const pool, cluster = `{"properties":{"mode":"System"}}`,
		`{"properties":{"provisioningState":"Succeeded","currentKubernetesVersion":"1.33.2","agentPoolProfiles":[{"name":"p"}]}}`
	c := aksCase{
		version: version1332, poolVersion: version1332, replicas: new(int32(1)), cluster: cluster, pool: pool, channel: "none",
		typed: func(spec *infrav1.AzureManagedMachinePoolSpec) {
			spec.ScaleSetPriority, spec.SpotMaxPrice = new("Regular"), new(resource.MustParse("-1"))
		},
		manifest: ", scaleSetPriority: Regular, spotMaxPrice: -1",
		typedCluster: func(spec *infrav1.AzureManagedControlPlaneSpec) {
			spec.LoadBalancerProfile = &infrav1.LoadBalancerProfile{AllocatedOutboundPorts: new(0), IdleTimeoutInMinutes: new(30)}
		},
		clusterManifest: ", networkProfile: {loadBalancerProfile: {allocatedOutboundPorts: 0, idleTimeoutInMinutes: 30}}",
	}
	planFamilies(t, c, func(t *testing.T, cluster, pool *arm.Node) {
		for _, key := range []string{"scaleSetPriority", "spotMaxPrice"} {
			if got, ok := readProperties(t, pool)[key]; ok {
				t.Errorf("the pool would be written because of %s: %v", key, got)
			}
		}
		profile := jsonpath.Get(readProperties(t, cluster), "networkProfile.loadBalancerProfile")
		if diff := cmp.Diff(map[string]any{"idleTimeoutInMinutes": 30.0}, profile); diff != "" {
			t.Errorf("the cluster would be written (-want +got):\n%s", diff)
		}
		if got, ok := readProperties(t, cluster)["autoUpgradeProfile"]; ok {
			t.Errorf("the cluster would be written because of %v", got)
		}
	})
}

// TestBoundsWithoutAutoscaler plans a pool whose autoscaler is off. AKS rejects bounds without it.
func TestBoundsWithoutAutoscaler(t *testing.T) {
	c := aksCase{version: version1332, poolVersion: version1332, replicas: new(int32(1)), cluster: cleanCluster,
		pool: `{"properties":{"enableAutoScaling":true,"minCount":1,"maxCount":3}}`, manifest: ", enableAutoScaling: false"}
	planFamilies(t, c, func(t *testing.T, _, pool *arm.Node) {
		if diff := cmp.Diff([]string{"properties.minCount", "properties.maxCount"}, pool.OwnedPaths); diff != "" {
			t.Errorf("the bounds stay (-want +got):\n%s", diff)
		}
	})
}

// TestPoolWaitsForCluster plans a pool while its cluster or itself changes.
func TestPoolWaitsForCluster(t *testing.T) {
	for name, test := range map[string]struct{ reason, cluster, pool, version, want string }{
		"changing": {"AKS refuses operations at once on a cluster and its pools", "Updating", "", version1332,
			"waits for the managed cluster mc: its provisioning state is Updating"},
		"pool is changing": {"the operation of the pool is followed", "Updating", "Scaling", version1332, ""},
		"accepting":        {"nothing is in progress", "Succeeded", "Succeeded", version1332, ""},
		"failed":           {"AKS accepts changes", "Failed", "Failed", version1332, ""},
		"newer pool": {"the control plane is upgraded first", "Succeeded", "Succeeded", "v1.34.1",
			"waits for the control plane of mc to run v1.34.1: it runs v1.33.2"},
		"changing and newer": {"the version is compared when the cluster has changed", "Upgrading", "Succeeded", "v1.34.1",
			"waits for the managed cluster mc: its provisioning state is Upgrading"},
	} {
		t.Run(name, func(t *testing.T) {
			c := aksCase{version: "v1.34.1", poolVersion: test.version, replicas: new(int32(1)),
				cluster: strings.Replace(cleanCluster, "Succeeded", test.cluster, 1)}
			if test.pool != "" {
				c.pool = `{"properties":{"provisioningState":"` + test.pool + `"}}`
			}
			planFamilies(t, c, func(t *testing.T, _, pool *arm.Node) {
				if pool.Blocked != test.want {
					t.Errorf("%s: got %q, want %q", test.reason, pool.Blocked, test.want)
				}
			})
		})
	}
}

// TestClusterNeedsSystemPool plans a cluster whose only pool has mode User.
func TestClusterNeedsSystemPool(t *testing.T) {
	c := aksCase{version: version1332, poolVersion: version1332, replicas: new(int32(1)), mode: "User"}
	for name, build := range families {
		cluster, _ := build(t, c)
		if !strings.Contains(cluster.Blocked, "MachinePool with mode System: AKS creates no cluster without one") {
			t.Errorf("%s: the cluster waits for %q", name, cluster.Blocked)
		}
	}
}

// TestOutboundAddressesChange plans other outbound addresses than those of an earlier plan. AKS accepts one kind, and keeps the others
// until they are null.
func TestOutboundAddressesChange(t *testing.T) {
	const id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/a"
	c := aksCase{
		version: version1332, poolVersion: version1332, replicas: new(int32(1)), cluster: cleanCluster,
		typedCluster: func(spec *infrav1.AzureManagedControlPlaneSpec) {
			spec.LoadBalancerProfile = &infrav1.LoadBalancerProfile{OutboundIPs: []string{id}}
		},
		clusterManifest: ", networkProfile: {loadBalancerProfile: {outboundIPs: {publicIPs: [{reference: {armId: " + id + "}}]}}}",
	}
	planFamilies(t, c, func(t *testing.T, cluster, _ *arm.Node) {
		want := []string{"properties.networkProfile.loadBalancerProfile.managedOutboundIPs",
			"properties.networkProfile.loadBalancerProfile.outboundIPPrefixes"}
		if diff := cmp.Diff(want, cluster.OwnedPaths); diff != "" {
			t.Errorf("other kinds stay (-want +got):\n%s", diff)
		}
	})
}

// TestSSHKeyInOtherWhiteSpace plans a key that differs from that in Azure in a newline. AKS keeps it and refuses to change keys.
func TestSSHKeyInOtherWhiteSpace(t *testing.T) {
	c := aksCase{
		version: version1332, poolVersion: version1332, replicas: new(int32(1)),
		cluster: strings.Replace(cleanCluster, `"properties":{`,
			`"properties":{"linuxProfile":{"adminUsername":"azureuser","ssh":{"publicKeys":[{"keyData":"ssh-rsa AAAA x\n"}]}},`, 1),
		typedCluster: func(spec *infrav1.AzureManagedControlPlaneSpec) {
			spec.SSHPublicKey = new(base64.StdEncoding.EncodeToString([]byte("ssh-rsa AAAA x")))
		},
		clusterManifest: `, linuxProfile: {adminUsername: azureuser, ssh: {publicKeys: [{keyData: "ssh-rsa AAAA x"}]}}`,
	}
	planFamilies(t, c, func(t *testing.T, cluster, _ *arm.Node) {
		keys, _ := jsonpath.Get(readProperties(t, cluster), "linuxProfile.ssh.publicKeys").([]any)
		if diff := cmp.Diff([]any{map[string]any{"keyData": "ssh-rsa AAAA x\n"}}, keys); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestPoolAboveControlPlane plans a pool with a higher version than the object of its control plane has. AKS refuses it, alone or with
// its cluster.
func TestPoolAboveControlPlane(t *testing.T) {
	for name, test := range map[string]struct {
		reason, controlPlane, pool, cluster string
		refused                             bool
	}{
		"new cluster":        {"AKS would refuse the cluster with the pool", "v1.33.2", "v1.34.1", "", true},
		"cluster exists":     {"the control plane is not going to run the version", "v1.33.2", "v1.34.1", cleanCluster, true},
		"control plane next": {"the pool waits for the control plane", "v1.34.1", "v1.34.1", cleanCluster, false},
		"raised by AKS":      {"the control plane runs the version", "v1.33.1", "v1.33.2", cleanCluster, false},
		"older pool":         {"AKS accepts it", "v1.33.2", "v1.32.9", cleanCluster, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := aksCase{version: test.controlPlane, poolVersion: test.pool, replicas: new(int32(1)), cluster: test.cluster}
			planFamilies(t, c, func(t *testing.T, cluster, pool *arm.Node) {
				for _, node := range []*arm.Node{cluster, pool} {
					refused := strings.Contains(node.Refused, "MachinePool mp spec.template.spec.version "+test.pool+" is above ")
					if want := test.refused && (node == pool || test.cluster == ""); refused != want {
						t.Errorf("%s: %s is refused with %q", test.reason, node.ID.ShortName(), node.Refused)
					}
				}
			})
		})
	}
}

// TestOwnershipTag plans a cluster that Azure shows with and without the tag of its Cluster. What exists without the tag is adopted, and
// gets none.
func TestOwnershipTag(t *testing.T) {
	key := infrav1.ClusterTagKey("c1")
	for name, test := range map[string]struct {
		reason, tags string
		want         bool
	}{
		"own":           {"the cluster was created for the Cluster", `"` + key + `":"owned"`, true},
		"other case":    {"names of tags in Azure ignore case", `"` + strings.ToUpper(key) + `":"owned"`, true},
		"no tag":        {"adopting a cluster that equals its object writes nothing", "", false},
		"shared":        {"the cluster is used and not owned", `"` + key + `":"shared"`, false},
		"other Cluster": {"the tag names another Cluster", `"` + infrav1.ClusterTagKey("c2") + `":"owned"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := aksCase{version: version1332, poolVersion: version1332, replicas: new(int32(1)),
				cluster: strings.Replace(cleanCluster, "{", `{"tags":{`+test.tags+`},`, 1)}
			planFamilies(t, c, func(t *testing.T, cluster, _ *arm.Node) {
				tags, _ := jsonpath.Get(cluster.Body, "tags").(map[string]any)
				if sent := tags[key] == "owned"; cluster.PlannedWithTag != test.want || sent != test.want {
					t.Errorf("%s: planned with the tag %t, sent %v", test.reason, cluster.PlannedWithTag, tags)
				}
			})
		})
	}
}
