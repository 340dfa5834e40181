package workload

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// addPools hangs MachinePools below the cluster, each with its infrastructure.
func (l *loader) addPools(ctx context.Context, root *Object) error {
	pools, err := l.list(ctx, schema.GroupKind{Group: coreGroup, Kind: "MachinePool"})
	if err != nil {
		return err
	}
	for i := range pools {
		pool := describe(&pools[i])
		child, err := l.reference(ctx, &pools[i], "spec", "template", "spec", "infrastructureRef")
		if err != nil {
			return err
		}
		if child != nil {
			pool.Children = append(pool.Children, child)
		}
		root.Children = append(root.Children, pool)
	}
	if len(pools) > 0 {
		excuseUnknown(root)
	}
	return nil
}

// excuseUnknown judges a cluster with MachinePools without the conditions that Cluster API sums up of its workers: a
// MachinePool reports none, so they stay unknown for ever.
func excuseUnknown(root *Object) {
	root.Problems = slices.DeleteFunc(root.Problems, func(p Problem) bool {
		return p.Unknown && (p.Type == "Available" || p.Type == "WorkersAvailable")
	})
	root.Ready = len(root.Problems) == 0 && root.raw.GetDeletionTimestamp() == nil
	for _, condition := range []string{"InfrastructureReady", "ControlPlaneAvailable", "RemoteConnectionProbe"} {
		root.Ready = root.Ready && isTrue(root.raw, condition)
	}
}

// describePool tells whether a pool has the machines that it should have, each with a Node. Cluster API gives a MachinePool
// no condition for that, and counts a machine as ready before its Node is; the phase tells when all Nodes are.
func describePool(raw *unstructured.Unstructured) (ready bool, status string) {
	want, have, _ := replicas(raw)
	nodes, _, _ := unstructured.NestedSlice(raw.Object, "status", "nodeRefs")
	status = fmt.Sprintf("%d of %d nodes", len(nodes), want)
	if phase := phase(raw); phase != "Running" {
		return false, status + ", " + phase
	}
	return have == want && int64(len(nodes)) == want, status
}
