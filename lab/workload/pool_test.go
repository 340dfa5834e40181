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
		"All":     {"every machine has its Node", "2", `{replicas: 2, readyReplicas: 2, phase: Running, nodeRefs: [{name: a}, {name: b}]}`, true, "2 of 2 nodes"},
		"None":    {"a pool may be empty", "0", `{replicas: 0, phase: Running}`, true, "0 of 0 nodes"},
		"Nodes":   {"Cluster API counts a machine as ready before its Node is", "2", `{replicas: 2, readyReplicas: 2, phase: ScalingUp, nodeRefs: [{name: a}]}`, false, "1 of 2 nodes, ScalingUp"},
		"Surplus": {"a scale-down is not finished", "1", `{replicas: 2, phase: ScalingDown, nodeRefs: [{name: a}, {name: b}]}`, false, "2 of 1 nodes, ScalingDown"},
		"Stale":   {"the phase may be older than the list of nodes", "2", `{replicas: 2, phase: Running, nodeRefs: [{name: a}]}`, false, "1 of 2 nodes"},
		"New":     {"nobody has looked at it yet", "2", `{}`, false, "0 of 2 nodes, Pending"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := object(t, `{kind: MachinePool, metadata: {name: p}, spec: {replicas: `+tc.replicas+`}, status: `+tc.status+`}`)
			if o.Ready != tc.ready || o.Status != tc.want {
				t.Errorf("%s: ready %v, status %q; want %v, %q", tc.reason, o.Ready, o.Status, tc.ready, tc.want)
			}
		})
	}
}

func TestResourceGroups(t *testing.T) {
	root := object(t, `{kind: Cluster, metadata: {name: c}}`, object(t, `{kind: AzureManagedControlPlane, metadata: {name: c}, spec: {
		resourceGroupName: own, nodeResourceGroupName: MC_own, virtualNetwork: {resourceGroup: hub}}}`), object(t, `{kind: AzureManagedCluster, metadata: {name: c}}`))
	if got, want := strings.Join(root.ResourceGroups(), " "), "own MC_own hub"; got != want {
		t.Errorf("resource groups %q, want %q", got, want)
	}
}
