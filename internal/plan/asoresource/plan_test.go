package asoresource

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

const (
	aksManifest  = `{apiVersion: containerservice.azure.com/v20251001, kind: ManagedCluster, metadata: {name: mc}, spec: {owner: {name: g}, location: eastus, dnsPrefix: x}}`
	poolManifest = `{apiVersion: containerservice.azure.com/v20251001, kind: ManagedClustersAgentPool, metadata: {name: p}, spec: {owner: {name: mc}, mode: System, vmSize: Standard_D2s_v3}}`
	groupID      = arm.ID("/subscriptions/s/resourceGroups/g")
	aksID        = groupID + "/providers/Microsoft.ContainerService/managedClusters/mc"
	poolID       = aksID + "/agentPools/p"
)

// mustPlanNode returns the node of a resource and its body as JSON.
func mustPlanNode(t *testing.T, in Input, id arm.ID) (body string, node *arm.Node) {
	t.Helper()
	graph, err := BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	if node = graph.Node(id); node == nil {
		t.Fatalf("%s is not planned", id)
	}
	raw, err := json.Marshal(node.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), node
}

// TestClusterIsMadeWithItsPools checks that the first PUT of a managed cluster names all pools, and that none does once Azure shows some.
func TestClusterIsMadeWithItsPools(t *testing.T) {
	in := newInput(t, groupManifest, aksManifest)
	pool := newInput(t, poolManifest).Manifests()[0]
	pool.DeclaredIn = "pool"
	in.replaceManifests(false, func(documents []Manifest) []Manifest { return append(documents, pool) })
	in.Version = "v1.33.2"
	if _, node := mustPlanNode(t, in, aksID); !strings.Contains(node.Blocked, "waits for the MachinePool of AzureASOManagedMachinePool pool") {
		t.Errorf("a cluster without one of its pools is made: %q", node.Blocked)
	}
	machinePool := &clusterv1.MachinePool{}
	machinePool.Spec.Replicas, machinePool.Spec.Template.Spec.Version = new(int32(3)), "v1.33.1"
	in.MachinePools["pool"] = machinePool
	body, node := mustPlanNode(t, in, aksID)
	want := `{"location":"eastus","properties":{"agentPoolProfiles":[{"count":3,"mode":"System","name":"p","orchestratorVersion":"1.33.1","vmSize":"Standard_D2s_v3"}],"dnsPrefix":"x","kubernetesVersion":"1.33.2"},"tags":{"sigs.k8s.io_cluster-api-provider-azure_cluster_c1":"owned"}}`
	if diff := cmp.Diff(want, body); diff != "" || node.Blocked != "" || !node.PlannedWithTag {
		t.Errorf("blocked %q, marked %t (-want +got):\n%s", node.Blocked, node.PlannedWithTag, diff)
	}
	subnet := groupID + "/providers/Microsoft.Network/virtualNetworks/v/subnets/n"
	network := newInput(t, groupManifest,
		`{apiVersion: network.azure.com/v20250501, kind: VirtualNetwork, metadata: {name: v}, spec: {owner: {name: g}}}`,
		`{apiVersion: network.azure.com/v20250501, kind: VirtualNetworksSubnet, metadata: {name: sub}, spec: {azureName: "n", owner: {name: v}}}`).Manifests()[1:]
	in.replaceManifests(false, func(documents []Manifest) []Manifest {
		for _, d := range network {
			d.DeclaredIn = "network"
			documents = append(documents, d)
		}
		documents[2].Spec["vnetSubnetReference"] = map[string]any{"group": "network.azure.com", "kind": "VirtualNetworksSubnet", "name": "sub"}
		return documents
	})
	if !slices.Contains(ListNeededFacts(in), subnet) {
		t.Errorf("no fact is requested for the subnet of a pool: %v", ListNeededFacts(in))
	}
	in.Facts[subnet.Key()] = nil
	if _, node := mustPlanNode(t, in, aksID); node.Blocked != "waits for subnets/n to be created" {
		t.Errorf("the cluster is made before the subnet of its pool: %q", node.Blocked)
	}
	in.Facts[aksID.Key()] = json.RawMessage(`{"tags":{},"properties":{"provisioningState":"Succeeded","agentPoolProfiles":[{"name":"p"}]}}`)
	if body, node = mustPlanNode(t, in, aksID); strings.Contains(body, "agentPoolProfiles") || strings.Contains(body, "owned") ||
		node.PlannedWithTag {
		t.Errorf("pools and marks of a cluster that is adopted are sent: %s", body)
	}
}

// TestPoolNodeCount: agent pools get the number of nodes from Cluster API, and keep values that another program owns.
func TestPoolNodeCount(t *testing.T) {
	tests := map[string]struct {
		reason, spec, manager string
		have                  string
		want                  string
		wrong                 string
	}{
		"new":    {"the MachinePool decides", "", "", "", `"count":3`, ""},
		"scaled": {"the MachinePool decides", "", "", `{"properties":{"count":7}}`, `"count":3`, ""},
		"autoscaled": {"AKS decides", ", enableAutoScaling: true, minCount: 1, maxCount: 9", "", `{"properties":{"count":7}}`, `"count":7`,
			""},
		"bounds": {"AKS takes no count outside of them", ", enableAutoScaling: true, minCount: 1, maxCount: 5", "",
			`{"properties":{"count":7}}`, `"count":5`, ""},
		"other autoscaler": {"it is not fought", "", "external", `{"properties":{"count":7}}`, `"count":7`, ""},
		"no other one":     {"false is Cluster API's word for none", "", "false", `{"properties":{"count":7}}`, `"count":3`, ""},
		"unnamed": {"true names no other autoscaler than AKS's", ", enableAutoScaling: true", "true", `{"properties":{"count":7}}`,
			`"count":7`, ""},
		"two autoscalers": {"they would fight", ", enableAutoScaling: true", "external", "", "", "enableAutoScaling: Invalid value"},
		"user's count":    {"the MachinePool owns the count", ", count: 9", "", "", "", "count: Invalid value"},
		"upgraded": {"a pool never goes back", "", "", `{"properties":{"count":3,"currentOrchestratorVersion":"1.34.1"}}`,
			`"orchestratorVersion":"1.34.1"`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := newInput(t, groupManifest, aksManifest, strings.Replace(poolManifest, "mode: System", "mode: System"+test.spec, 1))
			machinePool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}}
			machinePool.Spec.Replicas, machinePool.Spec.Template.Spec.Version = new(int32(3)), "v1.33.2"
			if test.manager != "" {
				machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation] = test.manager
			}
			in.MachinePools["it"] = machinePool
			in.Facts[poolID.Key()] = json.RawMessage(test.have)
			errs := CheckManifests(in)
			if test.wrong != "" {
				if len(errs) != 1 || !strings.Contains(errs[0].Error(), test.wrong) {
					t.Errorf("%s: %v", test.reason, errs)
				}
				return
			}
			if body, _ := mustPlanNode(t, in, poolID); len(errs) > 0 || !strings.Contains(body, test.want) {
				t.Errorf("%s: %v, %s", test.reason, errs, body)
			}
		})
	}
}

// TestPoolWaitsForItsVersion plans a pool above its control plane; it expects that the pool waits, because AKS would refuse it.
func TestPoolWaitsForItsVersion(t *testing.T) {
	tests := map[string]struct{ reason, runs, wants, want string }{
		"above": {"the control plane is upgraded first", "1.33.2", "v1.34.2",
			"waits for the control plane of mc to run v1.34.2: it runs v1.33.2"},
		"as it":   {"AKS takes it", "1.34.2", "v1.34.2", ""},
		"behind":  {"AKS takes it", "1.34.2", "v1.33.2", ""},
		"a minor": {"AKS runs the newest patch of it", "1.34.2", "v1.34", ""},
		"unknown": {"the running version is not known", "", "v1.34.2", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := newInput(t, groupManifest, aksManifest, poolManifest)
			machinePool := &clusterv1.MachinePool{}
			machinePool.Spec.Template.Spec.Version = test.wants
			in.MachinePools["it"] = machinePool
			in.Facts[aksID.Key()] = json.RawMessage(
				`{"properties":{"provisioningState":"Succeeded","currentKubernetesVersion":"` + test.runs + `"}}`)
			if _, node := mustPlanNode(t, in, poolID); node.Blocked != test.want {
				t.Errorf("%s: %q", test.reason, node.Blocked)
			}
		})
	}
}

// TestLentIdentityAdoptsNothing lets an object use an identity of another namespace, which may reach resources of other tenants; it expects
// that no existing resource is adopted or used, whatever names it.
func TestLentIdentityAdoptsNothing(t *testing.T) {
	in := newInput(t, groupManifest, aksManifest)
	in.replaceManifests(true, keepManifests)
	for _, d := range in.Manifests() {
		id, err := in.ResourceID(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, node := mustPlanNode(t, in, id); node.Foreign != arm.RefuseForeign {
			t.Errorf("%s of others is taken: %q", id, node.Foreign)
		}
	}
	in.replaceManifests(true, func(documents []Manifest) []Manifest {
		documents[0].DeclaredIn = "other"
		return documents
	})
	in.Facts[groupID.Key()] = json.RawMessage(`{"tags":{},"properties":{"provisioningState":"Succeeded"}}`)
	if _, node := mustPlanNode(t, in, aksID); !strings.Contains(node.Blocked, "resourceGroups/g to belong to the Cluster") {
		t.Errorf("something is made in the group of others: %q", node.Blocked)
	}
	in.Facts[groupID.Key()] = json.RawMessage(
		`{"tags":{"` + infrav1.ClusterTagKey("c1") + `":"owned"},"properties":{"provisioningState":"Succeeded"}}`)
	in.MachinePools["it"] = nil
	if _, node := mustPlanNode(t, in, aksID); strings.Contains(node.Blocked, "to belong to the Cluster") {
		t.Errorf("nothing is made in the Cluster's own group: %q", node.Blocked)
	}
	in.Owner = &metav1.ObjectMeta{Namespace: "b", Annotations: map[string]string{infrav1.AppliedAnnotation: `{"ownerID":"b"}`}}
	in.Facts[groupID.Key()] = json.RawMessage(`{"tags":{"` +
		infrav1.ClusterTagKey("c1") + `":"owned","` + infrav1.OwnerTag + `":"a/c1/1"},"properties":{"provisioningState":"Succeeded"}}`)
	if _, node := mustPlanNode(t, in, aksID); !strings.Contains(node.Blocked, "to belong to the Cluster") {
		t.Errorf("something is made in the group of another Cluster of the name: %q", node.Blocked)
	}
}

// TestPolicySkipRevealsNoForeignResources plans resource manifests with policy skip, which only read existing resources. It expects that
// they reveal no resources of others: AKS clusters hand out their kubeconfig, and resources that are read can own new ones.
func TestPolicySkipRevealsNoForeignResources(t *testing.T) {
	skipped := strings.Replace(aksManifest, "{name: mc}", "{name: mc, annotations: {serviceoperator.azure.com/reconcile-policy: skip}}", 1)
	const pools = `"properties":{"agentPoolProfiles":[{"name":"p"}]}`
	for name, test := range map[string]struct {
		reason string
		bound  bool
		tags   string
		want   string
	}{
		"untagged": {"the credential reaches it", false, "", ""},
		"own":      {"it is the Cluster's", true, `"` + infrav1.ClusterTagKey("c1") + `":"owned"`, ""},
		"another cluster's": {"its kubeconfig is that one's", false, `"` + infrav1.ClusterTagKey("c2") + `":"owned"`,
			"belongs to another cluster by its tag"},
		"another owner's": {"so it is in another namespace", false,
			`"` + infrav1.ClusterTagKey("c1") + `":"owned","` + infrav1.OwnerTag + `":"a/c1/1"`, "belongs to another cluster by its tag"},
		"borrowed, untagged": {"the identity is another's", true, "", "can only use resources of the Cluster"},
		"borrowed, in letters": {"keys have no case", true, `"` + strings.ToUpper(infrav1.ClusterTagKey("c2")) + `":"owned"`,
			"belongs to another cluster by its tag"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInput(t, groupManifest, skipped)
			in.replaceManifests(test.bound, keepManifests)
			in.Facts[aksID.Key()] = json.RawMessage(`{"tags":{` + test.tags + `},` + pools + `}`)
			_, node := mustPlanNode(t, in, aksID)
			if test.want == "" && node.Refused != "" || !strings.Contains(node.Refused, test.want) || node.Policy != arm.Observe {
				t.Errorf("%s: %s %q", test.reason, node.Policy, node.Refused)
			}
		})
	}
}

// TestPolicies deletes resources by their policy: those with policy skip or detach stay.
func TestPolicies(t *testing.T) {
	with := func(policy string) string {
		return strings.Replace(aksManifest, "{name: mc}", "{name: mc, annotations: {serviceoperator.azure.com/reconcile-policy: "+policy+"}}", 1)
	}
	for policy, want := range map[string]struct {
		policy  arm.Policy
		deleted bool
	}{PolicyManage: {arm.Repair, true}, PolicySkip: {arm.Observe, false}, PolicyDetach: {arm.Repair, false}} {
		in := newInput(t, groupManifest, with(policy))
		_, node := mustPlanNode(t, in, aksID)
		graph, err := BuildDeletePlan(in, false)
		if err != nil {
			t.Fatal(err)
		}
		if deleted := graph.Node(aksID).Policy != arm.Observe; node.Policy != want.policy || deleted != want.deleted {
			t.Errorf("%s: policy %s, deleted %t", policy, node.Policy, deleted)
		}
	}
}
