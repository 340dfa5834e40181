package managed_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// verdict is the expected reaction to a change that another program makes in Azure.
type verdict string

const (
	// repaired means that the cluster's own value is written back.
	repaired verdict = "repaired"
	// kept means that nothing is written: the spec does not set the value, or the value belongs to AKS or another program.
	kept verdict = "kept"
	// reported means that nothing is written and the objects show it.
	reported verdict = "reported"
)

const (
	vnetPath   = "resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1"
	subnetPath = vnetPath + "/subnets/c1"
	pool1Path  = clusterPath + "/agentPools/pool1"
	pool1Put   = clusterPut + "/agentPools/pool1"
)

// changeInAzure changes a resource as a user of Azure would: it is read, changed and written whole.
func changeInAzure(path, version string, change func(resource body)) func(*harness.Stage) {
	return func(stage *harness.Stage) {
		stage.T.Helper()
		status, have := stage.Azure.GetResource(path, version)
		if status != 200 {
			stage.T.Fatalf("GET %s: %d", path, status)
		}
		change(have)
		stage.Azure.PutResource(path, version, have)
	}
}

// setValue sets the value at a dotted path of a resource.
func setValue(at string, value any) func(body) {
	return func(resource body) {
		parts := strings.Split(at, ".")
		for _, part := range parts[:len(parts)-1] {
			below, _ := resource[part].(body)
			if below == nil {
				below = body{}
				resource[part] = below
			}
			resource = below
		}
		resource[parts[len(parts)-1]] = value
	}
}

// readValue returns the value at a dotted path of a resource as JSON; "null" when there is none.
func readValue(stage *harness.Stage, path, version, at string) string {
	_, have := stage.Azure.GetResource(path, version)
	raw, _ := json.Marshal(harness.FindValue(have, at)) // It was JSON.
	return string(raw)
}

// TestDrift changes a cluster, its pools and their resources in Azure, past the provider. Every row has the expected reaction to its
// change; no reaction is left open.
func TestDrift(t *testing.T) {
	t.Parallel()
	virtual.PlayRows(t, play, playDrift)
}

func playDrift(s *virtual.Scenario, played *virtual.Rows) {
	t, stage := s.T, s.Stage
	s.StartProvider()
	fleet(stage)
	stage.CreateIdentity()
	own := stage.ControlPlane("c1")
	equipControlPlane(stage, own)
	own.Spec.AdditionalTags = infrav1.Tags{"team": "a"}
	own.Spec.APIServerAccessProfile = &infrav1.APIServerAccessProfile{AuthorizedIPRanges: []string{"203.0.113.0/24"}}
	stage.CreateManagedCluster(own, pools[0],
		harness.ManagedPool{Name: "pool1", Mode: "User", Replicas: 2, Change: func(p *infrav1.AzureManagedMachinePool) {
			p.Spec.NodeLabels = map[string]string{"tier": "web"}
			// A pool with mode System, which the pool becomes below, can have this taint.
			p.Spec.Taints = infrav1.Taints{{Key: "dedicated", Value: "web", Effect: "PreferNoSchedule"}}
			p.Spec.AdditionalTags = infrav1.Tags{"pool": "web"}
		}})
	stage.WaitManagedClusterReady("c1", pools...)
	const ownTag = "sigs.k8s.io_cluster-api-provider-azure_cluster_c1"

	rows := []struct {
		name    string
		outside func(*harness.Stage)
		verdict verdict
		// path, version and at are where the value is to be seen that the row is about, want is its JSON in the end.
		path, version, at, want string
		// writes are those of a repair.
		writes []string
		// says checks that an object shows the change.
		says func(*harness.Stage) bool
	}{
		{name: "tag of the spec changed on the cluster", outside: changeInAzure(clusterPath, clusterVersion, setValue("tags.team", "b")),
			verdict: repaired,
			path:    clusterPath, version: clusterVersion, at: "tags.team", want: `"a"`, writes: []string{clusterPut}},
		{name: "tag of others on the cluster", outside: changeInAzure(clusterPath, clusterVersion, setValue("tags.costs", "4711")), verdict: kept,
			path: clusterPath, version: clusterVersion, at: "tags.costs", want: `"4711"`},
		{name: "tag of the spec changed on the group", outside: changeInAzure("resourceGroups/c1", groupVersion, setValue("tags.team", "b")),
			verdict: repaired,
			path:    "resourceGroups/c1", version: groupVersion, at: "tags.team", want: `"a"`, writes: []string{"PUT resourceGroups/c1"}},
		{name: "tag of the spec changed on the network", outside: changeInAzure(vnetPath, networkVersion, setValue("tags.team", "b")),
			verdict: repaired,
			path:    vnetPath, version: networkVersion, at: "tags.team", want: `"a"`, writes: []string{"PUT " + vnetWrite}},
		{name: "authorized ranges changed",
			outside: changeInAzure(clusterPath, clusterVersion,
				setValue("properties.apiServerAccessProfile.authorizedIPRanges", []any{"0.0.0.0/0"})),
			verdict: repaired,
			path:    clusterPath, version: clusterVersion, at: "properties.apiServerAccessProfile.authorizedIPRanges", want: `["203.0.113.0/24"]`,
			writes: []string{clusterPut}},
		{name: "tier raised", outside: changeInAzure(clusterPath, clusterVersion, setValue("sku", body{"name": "Base", "tier": "Standard"})),
			verdict: repaired,
			path:    clusterPath, version: clusterVersion, at: "sku.tier", want: `"Free"`, writes: []string{clusterPut}},
		{name: "KEDA turned on, which the spec says nothing about",
			outside: changeInAzure(clusterPath, clusterVersion, setValue("properties.workloadAutoScalerProfile.keda.enabled", true)), verdict: kept,
			path: clusterPath, version: clusterVersion, at: "properties.workloadAutoScalerProfile.keda.enabled", want: "true"},
		{name: "settings of the autoscaler, which the spec says nothing about",
			outside: changeInAzure(clusterPath, clusterVersion, setValue("properties.autoScalerProfile", body{"scan-interval": "20s"})),
			verdict: kept,
			path:    clusterPath, version: clusterVersion, at: "properties.autoScalerProfile.scan-interval", want: `"20s"`},
		{name: "ownership tag taken off the cluster", outside: changeInAzure(clusterPath, clusterVersion, func(resource body) {
			tags, _ := resource["tags"].(body)
			delete(tags, ownTag)
		}), verdict: repaired, path: clusterPath, version: clusterVersion, at: "properties.provisioningState", want: `"Succeeded"`,
			writes: []string{clusterPut},
			says: func(stage *harness.Stage) bool {
				_, cluster := stage.Azure.GetResource(clusterPath, clusterVersion)
				tags, _ := cluster["tags"].(body)
				return tags[ownTag] == "owned"
			}},

		{name: "count of a pool", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.count", 4)), verdict: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.count", want: "2", writes: []string{pool1Put}},
		{name: "label added to a pool",
			outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.nodeLabels", body{"tier": "web", "by": "hand"})),
			verdict: repaired,
			path:    pool1Path, version: clusterVersion, at: "properties.nodeLabels", want: `{"tier":"web"}`, writes: []string{pool1Put}},
		{name: "label of the spec changed on a pool",
			outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.nodeLabels", body{"tier": "db"})), verdict: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.nodeLabels", want: `{"tier":"web"}`, writes: []string{pool1Put}},
		{name: "taint taken off a pool", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.nodeTaints", []any{})),
			verdict: repaired,
			path:    pool1Path, version: clusterVersion, at: "properties.nodeTaints", want: `["dedicated=web:PreferNoSchedule"]`,
			writes: []string{pool1Put}},
		{name: "tag changed on a pool", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.tags", body{"pool": "db"})),
			verdict: repaired,
			path:    pool1Path, version: clusterVersion, at: "properties.tags", want: `{"pool":"web"}`, writes: []string{pool1Put}},
		{name: "autoscaler turned on", outside: changeInAzure(pool1Path, clusterVersion, func(resource body) {
			setValue("properties.enableAutoScaling", true)(resource)
			setValue("properties.minCount", 1)(resource)
			setValue("properties.maxCount", 3)(resource)
		}), verdict: repaired, path: pool1Path, version: clusterVersion, at: "properties.enableAutoScaling", want: "false",
			writes: []string{pool1Put}},
		{name: "mode of a pool", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.mode", "System")), verdict: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.mode", want: `"User"`, writes: []string{pool1Put}},
		{name: "drain timeout of upgrades, which the spec says nothing about",
			outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.upgradeSettings.drainTimeoutInMinutes", 45)), verdict: kept,
			path: pool1Path, version: clusterVersion, at: "properties.upgradeSettings.drainTimeoutInMinutes", want: "45"},
		{name: "pool deleted", outside: func(stage *harness.Stage) { removeInAzure(stage, pool1Path, clusterVersion) }, verdict: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.count", want: "2", writes: []string{pool1Put}},
		{name: "pool that no object knows", outside: func(stage *harness.Stage) {
			stage.Azure.PutResource(clusterPath+"/agentPools/theirs", clusterVersion,
				body{"properties": body{"mode": "User", "count": 1, "vmSize": "Standard_D2s_v3", "type": "VirtualMachineScaleSets",
					"vnetSubnetID": "/subscriptions/" + stage.Azure.SubscriptionID + "/" + subnetPath}})
		}, verdict: kept, path: clusterPath + "/agentPools/theirs", version: clusterVersion, at: "properties.count", want: "1"},

		{name: "security group put on the subnet", outside: func(stage *harness.Stage) {
			stage.Azure.PutResource(networkGroup, groupVersion, body{"location": "eastus"})
			stage.Azure.PutResource(networkGroupTypes+"networkSecurityGroups/theirs", networkVersion,
				body{"location": "eastus", "properties": body{}})
			changeInAzure(subnetPath, networkVersion,
				setValue("properties.networkSecurityGroup",
					body{"id": "/subscriptions/" + stage.Azure.SubscriptionID + "/" + networkGroupTypes + "networkSecurityGroups/theirs"}))(stage)
		}, verdict: kept, path: subnetPath, version: networkVersion, at: "properties.addressPrefix", want: `"10.240.0.0/16"`},
		{name: "DNS servers of the network",
			outside: changeInAzure(vnetPath, networkVersion, setValue("properties.dhcpOptions", body{"dnsServers": []any{"10.0.0.4"}})),
			verdict: kept,
			path:    vnetPath, version: networkVersion, at: "properties.dhcpOptions.dnsServers", want: `["10.0.0.4"]`},

		{name: "private endpoint deleted", outside: func(stage *harness.Stage) { removeInAzure(stage, endpointPath, networkVersion) },
			verdict: repaired,
			path:    endpointPath, version: networkVersion, at: "properties.provisioningState", want: `"Succeeded"`,
			writes: []string{"PUT " + endpointWrite}},
		{name: "extension deleted", outside: func(stage *harness.Stage) { removeInAzure(stage, extensionPath, extensionVersion) },
			verdict: repaired,
			path:    extensionPath, version: extensionVersion, at: "properties.provisioningState", want: `"Succeeded"`,
			writes: []string{"PUT " + extensionWrite}},
		{name: "settings of the extension changed",
			outside: changeInAzure(extensionPath, extensionVersion,
				setValue("properties.configurationSettings", body{"source-controller.enabled": "false"})),
			verdict: repaired,
			path:    extensionPath, version: extensionVersion, at: "properties.configurationSettings", want: `{"source-controller.enabled":"true"}`,
			writes: []string{"PUT " + extensionWrite}},
		{name: "membership taken away", outside: func(stage *harness.Stage) { removeInAzure(stage, memberPath, fleetVersion) }, verdict: repaired,
			path: memberPath, version: fleetVersion, at: "properties.group", want: `"canary"`, writes: []string{"PUT " + memberWrite}},
		{name: "membership moved to another group", outside: changeInAzure(memberPath, fleetVersion, setValue("properties.group", "prod")),
			verdict: repaired,
			path:    memberPath, version: fleetVersion, at: "properties.group", want: `"canary"`, writes: []string{"PUT " + memberWrite}},

		{name: "cluster deleted", outside: func(stage *harness.Stage) { removeInAzure(stage, clusterPath, clusterVersion) }, verdict: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.count", want: "2", writes: []string{clusterPut, "PUT " + extensionWrite}},
		{name: "control plane upgraded", outside: changeInAzure(clusterPath, clusterVersion, func(resource body) {
			setValue("properties.kubernetesVersion", "1.34.2")(resource)
			delete(resource["properties"].(body), "agentPoolProfiles")
		}), verdict: reported, path: clusterPath, version: clusterVersion, at: "properties.currentKubernetesVersion", want: `"1.34.2"`,
			says: func(stage *harness.Stage) bool {
				c := controlPlane("c1")
				stage.ReadObject(c, "c1")
				return c.Status.Version == "v1.34.2" && harness.IsReady(c)
			}},
		{name: "pool upgraded", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.orchestratorVersion", "1.34.2")),
			verdict: kept,
			path:    pool1Path, version: clusterVersion, at: "properties.currentOrchestratorVersion", want: `"1.34.2"`},
		{name: "cluster stopped", outside: func(stage *harness.Stage) { stage.Azure.PostAction(clusterPath+"/stop", clusterVersion) },
			verdict: reported,
			path:    clusterPath, version: clusterVersion, at: "properties.powerState.code", want: `"Stopped"`,
			says: func(stage *harness.Stage) bool {
				c := controlPlane("c1")
				stage.ReadObject(c, "c1")
				condition, ready := harness.FindCondition(c, infrav1.ManagedClusterRunningCondition), harness.FindCondition(c, infrav1.ReadyCondition)
				return condition.Reason == "Stopped" && strings.Contains(condition.Message, "az aks start") && ready.Status == metav1.ConditionFalse
			}},
		{name: "cluster started", outside: func(stage *harness.Stage) { stage.Azure.PostAction(clusterPath+"/start", clusterVersion) },
			verdict: reported,
			path:    clusterPath, version: clusterVersion, at: "properties.powerState.code", want: `"Running"`,
			says: func(stage *harness.Stage) bool {
				c := controlPlane("c1")
				stage.ReadObject(c, "c1")
				return harness.IsReady(c)
			}},
	}
	for i, row := range rows {
		played.Play(fmt.Sprintf("%02d %s", i, row.name), func() {
			t := s.T
			mark := stage.Azure.MarkRequests()
			row.outside(stage)
			stage.ResyncManaged()
			stage.Eventually(row.at+" is "+row.want, func() bool { return readValue(stage, row.path, row.version, row.at) == row.want })
			if row.says != nil {
				stage.Eventually("the objects show it", func() bool { stage.ResyncManaged(); return row.says(stage) })
			}
			stage.ResyncManaged()
			if got := readValue(stage, row.path, row.version, row.at); got != row.want {
				t.Errorf("%s: %s is %s in the end, want %s", row.verdict, row.at, got, row.want)
			}
			want := slices.Clone(row.writes)
			if row.verdict != repaired {
				want = []string{}
			}
			if diff := cmp.Diff(want, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", row.verdict, diff)
			}
		})
	}
	if got := readValue(stage, subnetPath, networkVersion, "properties.networkSecurityGroup.id"); !strings.HasSuffix(got, `theirs"`) {
		t.Errorf("the security group on the subnet is %s in the end, want the one that was put there", got)
	}
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	want := append([]string{sharedGroup, sharedGroup + "/Microsoft.ContainerService/fleets/fleet"}, networkGroup,
		networkGroup+"/Microsoft.Network/networkSecurityGroups/theirs")
	slices.Sort(want)
	if diff := cmp.Diff(want, stage.Azure.ListResources()); diff != "" {
		t.Errorf("only what others made is left (-want +got):\n%s", diff)
	}
}
