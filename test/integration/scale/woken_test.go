package scale_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestStatusOfAClusterWakesNoMachine writes the status of a Cluster, as Cluster API does with each change of its machines; it expects that
// no machine is reconciled. Otherwise the reconciliations would grow with the square of the machines.
func TestStatusOfAClusterWakesNoMachine(t *testing.T) {
	t.Parallel()
	const machines, changes = 3, 30
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	makeWorkers(stage, machines)
	count := func(controller string) (out int) {
		for _, line := range stage.Environment.Logs.LinesContaining(`"msg"="Reconciling"`) {
			if strings.Contains(line, fmt.Sprintf(`"controller"=%q`, controller)) &&
				strings.Contains(line, fmt.Sprintf(`"namespace"=%q "name"="m`, stage.Namespace)) {
				out++
			}
		}
		return out
	}
	controllers := []string{"azuremachine", "azurejson-machine"}
	before := map[string]int{}
	for _, controller := range controllers {
		before[controller] = count(controller)
		if before[controller] < machines {
			t.Fatalf("%d reconciliations of %s were counted while %d machines were created", before[controller], controller, machines)
		}
	}

	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	for i := range changes {
		harness.ChangeStatus(stage, cluster, func(c *clusterv1.Cluster) {
			c.Status.Workers = &clusterv1.WorkersStatus{Replicas: new(int32(i))}
		})
	}
	// A label is worth a reconciliation. The watch delivers it after the rest.
	harness.ChangeObject(stage, cluster, func(c *clusterv1.Cluster) { metav1.SetMetaDataLabel(&c.ObjectMeta, "team", "b") })
	stage.Eventually("machines are woken by the label",
		func() bool { return count("azurejson-machine") >= before["azurejson-machine"]+machines })
	for _, controller := range controllers {
		// A reconciliation or two may still be due to their creation.
		if got := count(controller) - before[controller]; got > 3*machines {
			t.Errorf("%d reconciliations of %s while the status of the Cluster changed %d times, want at most %d", got, controller, changes, 3*machines)
		}
	}
}
