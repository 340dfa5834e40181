package workload

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// addPools hangs MachinePools below the cluster, each with its infrastructure.
func (l *loader) addPools(ctx context.Context, root *Object) error {
	pools, err := l.listObjects(ctx, schema.GroupKind{Group: coreGroup, Kind: "MachinePool"})
	if err != nil {
		return err
	}
	for i := range pools {
		pool := summarizeObject(&pools[i])
		child, err := l.followReference(ctx, &pools[i], "spec", "template", "spec", "infrastructureRef")
		if err != nil {
			return err
		}
		if child != nil {
			pool.Children = append(pool.Children, child)
		}
		root.Children = append(root.Children, pool)
	}
	return nil
}

// describePool reports whether a pool has the machines that it should have, each with a Node. Cluster API gives a MachinePool
// no condition for that, and counts a machine as ready before its Node is; the phase tells when all Nodes are.
func describePool(raw *unstructured.Unstructured) (ready bool, status string) {
	want, have, _ := replicasOf(raw)
	nodes, _, _ := unstructured.NestedSlice(raw.Object, "status", "nodeRefs")
	status = fmt.Sprintf("%d of %d nodes", len(nodes), want)
	if phase := phaseOf(raw); phase != "Running" {
		return false, status + ", " + phase
	}
	return have == want && int64(len(nodes)) == want, status
}
