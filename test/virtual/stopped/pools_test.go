package stopped_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// family is an AKS cluster with a pool0 of mode System and a pool1 of mode User, of one of the families of kinds.
type family struct {
	*virtual.Scenario
	cluster      string
	pool         func() harness.Conditioned
	controlPlane harness.Conditioned
}

// eachFamily plays a story with an AKS cluster of each family, whose objects are Ready.
func eachFamily(t *testing.T, story func(t *testing.T, f family)) {
	for name, test := range map[string]struct {
		apply        func(s *virtual.Scenario)
		pool         func() harness.Conditioned
		controlPlane harness.Conditioned
	}{
		"AzureManaged": {apply: func(s *virtual.Scenario) { s.ApplyAKSCluster("c1", 2) },
			pool: func() harness.Conditioned { return &infrav1.AzureManagedMachinePool{} }, controlPlane: &infrav1.AzureManagedControlPlane{}},
		"AzureASOManaged": {apply: func(s *virtual.Scenario) { s.CreateManifests(s.BuildASOCluster("c1", "pool0", "pool1")) },
			pool: func() harness.Conditioned { return &infrav1.AzureASOManagedMachinePool{} }, controlPlane: &infrav1.AzureASOManagedControlPlane{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := family{Scenario: virtual.New(t), cluster: "c1", pool: test.pool, controlPlane: test.controlPlane}
				f.StartProvider()
				test.apply(f.Scenario)
				f.waitPool("c1-pool1", metav1.ConditionTrue, "")
				f.waitPool("c1-pool0", metav1.ConditionTrue, "")
				story(t, f)
			})
		})
	}
}

// read returns a pool.
func (f family) read(name string) harness.Conditioned {
	f.T.Helper()
	pool := f.pool()
	f.ReadObject(pool.(client.Object), name)
	return pool
}

// waitPool waits until Ready and Stopped of a pool have a status; "" is that of an absent condition.
func (f family) waitPool(name string, ready, stopped metav1.ConditionStatus) {
	f.T.Helper()
	f.WaitUntil("pool "+name+" is Ready "+string(ready)+" and Stopped "+string(stopped), func() bool {
		pool := f.read(name)
		return harness.FindCondition(pool, infrav1.ReadyCondition).Status == ready && harness.FindCondition(pool, infrav1.StoppedCondition).Status == stopped
	})
}

// waitControlPlane waits until Stopped of the control plane has a status, and Ready the opposite one.
func (f family) waitControlPlane(stopped bool) {
	f.T.Helper()
	f.WaitUntil("the control plane is stopped or started", func() bool {
		f.ReadObject(f.controlPlane.(client.Object), f.cluster)
		return (harness.FindCondition(f.controlPlane, infrav1.StoppedCondition).Status == metav1.ConditionTrue) == stopped && harness.IsReady(f.controlPlane) != stopped
	})
}

// annotate sets the annotation of a pool; "" removes it.
func (f family) annotate(name, value string) {
	f.T.Helper()
	harness.ChangeObject(f.Stage, f.read(name).(client.Object), func(o client.Object) { setAnnotation(o, infrav1.StopAnnotation, value) })
}

// powerStates returns the power states of the pools in AKS, by the number in their names.
func (f family) powerStates() map[string]string {
	f.T.Helper()
	out := map[string]string{}
	for _, resource := range f.Azure.State() {
		id, _ := resource["id"].(string)
		properties, _ := resource["properties"].(map[string]any)
		power, _ := properties["powerState"].(map[string]any)
		if i := strings.LastIndex(id, "/agentPools/"); i >= 0 {
			out[id[len(id)-1:]], _ = power["code"].(string)
		}
	}
	return out
}

// vms returns the IDs of the VMs of a pool.
func (f family) vms(name string) []string {
	f.T.Helper()
	switch pool := f.read(name).(type) {
	case *infrav1.AzureManagedMachinePool:
		return pool.Spec.ProviderIDList
	case *infrav1.AzureASOManagedMachinePool:
		return pool.Spec.ProviderIDList
	}
	return nil
}

// TestAKSPool stops one pool of an AKS cluster for two hours, meanwhile also the whole cluster, and starts it. The other pool runs on.
func TestAKSPool(t *testing.T) {
	eachFamily(t, func(t *testing.T, f family) {
		vms := f.vms("c1-pool1")
		machinePool := &clusterv1.MachinePool{}
		f.ReadObject(machinePool, "c1-pool1")
		before := machinePool.Spec
		mark := f.Azure.MarkRequests()
		f.annotate("c1-pool1", "true")
		f.waitPool("c1-pool1", metav1.ConditionFalse, metav1.ConditionTrue)
		ready := harness.FindCondition(f.read("c1-pool1"), infrav1.ReadyCondition)
		if ready.Reason != infrav1.StoppedAsRequestedReason || !strings.Contains(ready.Message, "The agent pool is stopped. This is because of the annotation") ||
			harness.FindCondition(f.read("c1-pool1"), infrav1.StalledCondition).Type != "" {
			t.Errorf("Ready of the stopped pool is %+v", ready)
		}
		if diff := cmp.Diff(map[string]string{"0": "Running", "1": "Stopped"}, f.powerStates()); diff != "" {
			t.Errorf("power states (-want +got):\n%s", diff)
		}
		f.AdvanceClock(2 * time.Hour)
		writes := slices.DeleteFunc(f.Azure.WritesSince(mark), func(write string) bool { return strings.Contains(write, "/list") })
		if len(writes) != 1 || !strings.HasPrefix(writes[0], "PUT ") || !strings.HasSuffix(writes[0], "pool1") {
			t.Errorf("writes to stop the pool: %v", writes)
		}
		f.waitPool("c1-pool0", metav1.ConditionTrue, "")
		f.waitControlPlane(false)

		cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: f.cluster}}
		harness.ChangeObject(f.Stage, cluster, func(c *clusterv1.Cluster) { setAnnotation(c, infrav1.StopAnnotation, "true") })
		f.waitControlPlane(true)
		f.AdvanceClock(time.Hour)
		f.waitPool("c1-pool1", metav1.ConditionFalse, metav1.ConditionTrue)
		harness.ChangeObject(f.Stage, cluster, func(c *clusterv1.Cluster) { setAnnotation(c, infrav1.StopAnnotation, "") })
		f.waitControlPlane(false)
		f.AdvanceClock(time.Hour)
		if diff := cmp.Diff(map[string]string{"0": "Running", "1": "Stopped"}, f.powerStates()); diff != "" {
			t.Errorf("power states after the cluster was started (-want +got):\n%s", diff)
		}

		f.annotate("c1-pool1", "")
		f.waitPool("c1-pool1", metav1.ConditionTrue, "")
		mark = f.Azure.MarkRequests()
		f.AdvanceClock(2 * time.Hour)
		for _, write := range f.Azure.WritesSince(mark) {
			if !strings.Contains(write, "/list") {
				t.Errorf("written after the start: %s", write)
			}
		}
		if diff := cmp.Diff(map[string]string{"0": "Running", "1": "Running"}, f.powerStates()); diff != "" {
			t.Errorf("power states after the start (-want +got):\n%s", diff)
		}
		f.ReadObject(machinePool, "c1-pool1")
		if diff := cmp.Diff(before, machinePool.Spec); diff != "" {
			t.Errorf("spec of the MachinePool (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(vms, f.vms("c1-pool1")); diff != "" {
			t.Errorf("VMs (-before +after):\n%s", diff)
		}
	})
}

// TestAKSPoolOfModeSystem asks to stop a pool that AKS stops with its cluster only: it is refused, and nothing is written.
func TestAKSPoolOfModeSystem(t *testing.T) {
	eachFamily(t, func(t *testing.T, f family) {
		mark := f.Azure.MarkRequests()
		f.annotate("c1-pool0", "true")
		f.waitPool("c1-pool0", metav1.ConditionFalse, "")
		f.AdvanceClock(time.Hour)
		ready := harness.FindCondition(f.read("c1-pool0"), infrav1.ReadyCondition)
		if !status.NeedsAction(ready.Reason) || !strings.Contains(ready.Message, "metadata.annotations["+infrav1.StopAnnotation+"]") ||
			!strings.Contains(ready.Message, "a pool with mode System cannot be stopped alone") {
			t.Errorf("Ready is %+v", ready)
		}
		for _, write := range f.Azure.WritesSince(mark) {
			if !strings.Contains(write, "/list") {
				t.Errorf("written: %s", write)
			}
		}
		f.annotate("c1-pool0", "")
		f.waitPool("c1-pool0", metav1.ConditionTrue, "")
	})
}
