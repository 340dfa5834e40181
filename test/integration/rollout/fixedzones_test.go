package rollout_test

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestFixedZones changes the failure domains of a pool in a way that Azure refuses, and adds two VMs. The pool names the field and grows in
// the zones that the scale set has, with one PUT. The former failure domains end it.
func TestFixedZones(t *testing.T) {
	for name, test := range map[string]struct {
		before, after []string
		inZones       bool
	}{
		"one less": {[]string{"1", "2", "3"}, []string{"1", "2"}, true},
		"none":     {[]string{"1", "2", "3"}, nil, true},
		"first":    {nil, []string{"1", "2"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, three)
				w.StartProvider()
				w.createNetwork()
				set := func(zones []string, replicas int32) {
					harness.ChangeObject(w.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}}, func(p *clusterv1.MachinePool) {
						p.Spec.FailureDomains, p.Spec.Replicas = zones, &replicas
					})
				}
				azurePool := w.AzureMachinePool("c1", poolName)
				azurePool.Spec.OrchestrationMode = infrav1.UniformOrchestration
				azurePool.Spec.Strategy = infrav1.AzureMachinePoolDeploymentStrategy{Type: infrav1.RollingUpdateAzureMachinePoolDeploymentStrategyType,
					RollingUpdate: &w.settings.strategy}
				azurePool.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
				w.CreatePool(azurePool, 3)
				set(test.before, 3)
				harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
					func(p *infrav1.AzureMachinePool) { p.Annotations = nil })
				w.waitUntil("the pool exists", w.isWhole)
				mark := w.Azure.MarkRequests()

				set(test.after, 5)
				read := func() *infrav1.AzureMachinePool {
					pool := &infrav1.AzureMachinePool{}
					w.ReadObject(pool, poolName)
					return pool
				}
				w.waitUntil("the pool is larger", func() bool {
					pool := read()
					return pool.Status.Replicas == 5 &&
						harness.FindCondition(pool, infrav1.ScaleSetDesiredReplicasCondition).Status == metav1.ConditionTrue
				})
				for range 30 {
					virtual.WaitForSignal(nil, time.Minute)
				}
				writes := countCalls(w.Azure, mark)
				maps.DeleteFunc(writes, func(call string, _ int) bool { return strings.HasPrefix(call, "GET") })
				if diff := cmp.Diff(map[string]int{"PUT": 1}, writes); diff != "" {
					t.Errorf("writes, of which one adds VMs (-want +got):\n%s", diff)
				}
				machines := &infrav1.AzureMachinePoolMachineList{}
				if err := w.Client.List(t.Context(), machines); err != nil {
					t.Fatal(err)
				}
				for _, machine := range machines.Items {
					if inZones := machine.Status.FailureDomain != ""; inZones != test.inZones {
						t.Errorf("%s is in zone %q", machine.Name, machine.Status.FailureDomain)
					}
				}
				model := harness.FindCondition(read(), infrav1.ScaleSetModelUpdatedCondition)
				if model.Status != metav1.ConditionFalse || model.Reason != infrav1.InvalidConfigurationReason ||
					!strings.Contains(model.Message, "MachinePool.spec.failureDomains: Invalid value: ") {
					t.Errorf("the condition does not name the field: %s %s: %s", model.Status, model.Reason, model.Message)
				}

				set(test.before, 5)
				w.settings.replicas = 5
				w.waitUntil("the former failure domains end it", w.isWhole)
			})
		})
	}
}
