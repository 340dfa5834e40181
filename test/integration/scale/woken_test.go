package scale_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestStatusOfAClusterWakesNoMachine has Cluster API write the status of a Cluster, as it does with each of its machines that changes:
// if that woke all of them, machines would cost passes by their square.
func TestStatusOfAClusterWakesNoMachine(t *testing.T) {
	t.Parallel()
	const machines, changes = 3, 30
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	makeWorkers(stage, machines)
	passes := func(controller string) (out int) {
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
		before[controller] = passes(controller)
		if before[controller] < machines {
			t.Fatalf("%d passes of %s were counted while %d machines were made", before[controller], controller, machines)
		}
	}

	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	for i := range changes {
		harness.ChangeStatus(stage, cluster, func(c *clusterv1.Cluster) {
			c.Status.Workers = &clusterv1.WorkersStatus{Replicas: new(int32(i))}
		})
	}
	// A label is worth a pass. The watch tells of it after the rest.
	harness.ChangeObject(stage, cluster, func(c *clusterv1.Cluster) { metav1.SetMetaDataLabel(&c.ObjectMeta, "team", "b") })
	stage.Eventually("machines are woken by the label",
		func() bool { return passes("azurejson-machine") >= before["azurejson-machine"]+machines })
	for _, controller := range controllers {
		// A pass or two may still have been about their making.
		if got := passes(controller) - before[controller]; got > 3*machines {
			t.Errorf("%d passes of %s while the status of the Cluster changed %d times, want at most %d", got, controller, changes, 3*machines)
		}
	}
}
