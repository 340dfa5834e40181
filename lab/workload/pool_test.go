package workload

import (
	"strings"
	"testing"
)

func TestDescribePool(t *testing.T) {
	cases := map[string]struct {
		reason, replicas, status string
		ready                    bool
		want                     string
	}{
		"All": {"every machine has its Node", "2", `{replicas: 2, readyReplicas: 2, phase: Running, nodeRefs: [{name: a}, {name: b}]}`, true,
			"2 of 2 nodes"},
		"None": {"a pool may be empty", "0", `{replicas: 0, phase: Running}`, true, "0 of 0 nodes"},
		"Nodes": {"Cluster API counts a machine as ready before its Node is", "2",
			`{replicas: 2, readyReplicas: 2, phase: ScalingUp, nodeRefs: [{name: a}]}`, false, "1 of 2 nodes, ScalingUp"},
		"Surplus": {"a scale-down is not finished", "1", `{replicas: 2, phase: ScalingDown, nodeRefs: [{name: a}, {name: b}]}`, false,
			"2 of 1 nodes, ScalingDown"},
		"Stale": {"the phase may be older than the list of nodes", "2", `{replicas: 2, phase: Running, nodeRefs: [{name: a}]}`, false,
			"1 of 2 nodes"},
		"New": {"it is not reconciled yet", "2", `{}`, false, "0 of 2 nodes, Pending"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := parseObject(t, `{kind: MachinePool, metadata: {name: p}, spec: {replicas: `+tc.replicas+`}, status: `+tc.status+`}`)
			if o.Ready != tc.ready || o.Status != tc.want {
				t.Errorf("%s: ready %v, status %q; want %v, %q", tc.reason, o.Ready, o.Status, tc.ready, tc.want)
			}
		})
	}
}

// documents is the status of an object whose documents are in a resource group.
const documents = `{resources: [{resource: {kind: ManagedCluster, name: c}, id: /subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/mc},
	{resource: {kind: MaintenanceConfiguration, name: w}, id: /subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/mc/maintenanceConfigurations/w},
	{resource: {kind: Extension, name: waits}}]}`

func TestResourceGroups(t *testing.T) {
	for name, tc := range map[string]struct {
		reason       string
		controlPlane string
		want         string
	}{
		"Fields": {"they are named",
			`{kind: AzureManagedControlPlane, spec: {resourceGroupName: own, nodeResourceGroupName: MC_own, virtualNetwork: {resourceGroup: hub}}}`,
			"own MC_own hub"},
		"Documents": {"their resources are in one", `{kind: AzureASOManagedControlPlane, status: ` + documents + `}`, "g"},
	} {
		root := parseObject(t, `{kind: Cluster, metadata: {name: c}}`, parseObject(t, tc.controlPlane),
			parseObject(t, `{kind: AzureManagedCluster, metadata: {name: c}}`))
		if got := strings.Join(root.ResourceGroups(), " "); got != tc.want {
			t.Errorf("%s: resource groups %q, want %q: %s", name, got, tc.want, tc.reason)
		}
	}
}

func TestManagedClusterID(t *testing.T) {
	const of = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/"
	for object, want := range map[*Object]string{
		parseObject(t, `{kind: AzureManagedControlPlane, metadata: {name: c}, spec: {resourceGroupName: g, subscriptionID: s}}`): of + "c",
		parseObject(t, `{kind: AzureASOManagedControlPlane, metadata: {name: x}, status: `+documents+`}`):                        of + "mc",
		parseObject(t, `{kind: AzureASOManagedControlPlane, metadata: {name: x}}`):                                               "",
		parseObject(t, `{kind: KubeadmControlPlane, metadata: {name: c}}`):                                                       "",
		{Kind: "AzureManagedControlPlane", Name: "gone"}:                                                                         "",
	} {
		if got := managedClusterID(object); got != want {
			t.Errorf("%s %s: %q, want %q", object.Kind, object.Name, got, want)
		}
	}
}
