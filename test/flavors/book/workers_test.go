package book_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// checkWorkers refuses a manifest with a pool of 0 nodes. That is clusterctl's own default, and AKS has no cluster without system nodes.
func checkWorkers(manifest string) error {
	objects, err := flavors.DecodeManifest([]byte(manifest))
	if err != nil {
		return err
	}
	for _, object := range objects {
		var pools []any
		switch object.GetKind() {
		case "MachineDeployment", "MachinePool":
			pools = []any{object.Object["spec"]}
		case "Cluster":
			for _, field := range []string{"machineDeployments", "machinePools"} {
				list, _, _ := unstructured.NestedSlice(object.Object, "spec", "topology", "workers", field)
				pools = append(pools, list...)
			}
		}
		for _, pool := range pools {
			replicas, found, err := unstructured.NestedInt64(pool.(map[string]any), "replicas")
			if err != nil {
				return err
			}
			if found && replicas == 0 {
				return fmt.Errorf("%s %s has a pool of 0 nodes. Add --worker-machine-count to the command", object.GetKind(), object.GetName())
			}
		}
	}
	return nil
}
