package stopped_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// aksPath is the path of the cluster.
const aksPath = "Microsoft.ContainerService/managedClusters/c1"

// waitReason waits until Ready of an object is False with a reason, and returns the message.
func (f family) waitReason(object harness.Conditioned, name, reason string) (message string) {
	f.T.Helper()
	f.WaitUntil(name+" has the reason "+reason, func() bool {
		f.ReadObject(object.(client.Object), name)
		ready := harness.FindCondition(object, infrav1.ReadyCondition)
		message = ready.Message
		return ready.Status == metav1.ConditionFalse && ready.Reason == reason
	}, func() string { return harness.FindCondition(object, infrav1.ReadyCondition).Message })
	return message
}

// specWrites returns the writes since mark that are no credentials and no starts or stops.
func (f family) specWrites(mark harness.Mark) []string {
	f.T.Helper()
	return slices.DeleteFunc(f.Azure.WritesSince(mark), func(write string) bool { return !strings.HasPrefix(write, "PUT ") })
}

// TestAKSClusterIsStoppedInAzure stops the cluster by another program: control plane and pools show it with the remedy, and are in order
// soon after the start.
func TestAKSClusterIsStoppedInAzure(t *testing.T) {
	eachFamily(t, func(t *testing.T, f family) {
		f.PostAction(aksPath, "stop")
		f.waitReason(f.controlPlane, f.cluster, infrav1.StoppedReason)
		for _, name := range []string{"c1-pool0", "c1-pool1"} {
			if message := f.waitReason(f.pool(), name, infrav1.StoppedReason); !strings.Contains(message, "with its AKS cluster") ||
				!strings.Contains(message, "az aks start") {
				t.Errorf("%s: %s", name, message)
			}
		}
		f.PostAction(aksPath, "start")
		f.waitControlPlane(false)
		f.AdvanceClock(time.Minute)
		for _, name := range []string{"c1-pool0", "c1-pool1"} {
			if !harness.IsReady(f.read(name)) {
				t.Errorf("%s a minute after the control plane: %+v", name, f.read(name).GetConditions())
			}
		}
	})
}

// TestAKSPoolsOfStoppedCluster stops the cluster by the annotation: its pools show it without asking for an action.
func TestAKSPoolsOfStoppedCluster(t *testing.T) {
	eachFamily(t, func(t *testing.T, f family) {
		f.annotateCluster("true")
		f.waitControlPlane(true)
		f.AdvanceClock(time.Minute)
		for _, name := range []string{"c1-pool0", "c1-pool1"} {
			pool := f.read(name)
			ready := harness.FindCondition(pool, infrav1.ReadyCondition)
			if ready.Status != metav1.ConditionFalse || ready.Reason != infrav1.StoppedAsRequestedReason ||
				!strings.Contains(ready.Message, infrav1.StopAnnotation+" on Cluster ") || harness.FindCondition(pool, infrav1.StalledCondition).Type != "" {
				t.Errorf("%s: Ready is %+v", name, ready)
			}
		}
		f.annotateCluster("")
		f.waitControlPlane(false)
		f.AdvanceClock(time.Minute)
		f.waitPool("c1-pool1", metav1.ConditionTrue, "")
	})
}

// TestAKSPoolIsStoppedInAzure stops one pool by another program: the pool shows it with the remedy, and only this pool.
func TestAKSPoolIsStoppedInAzure(t *testing.T) {
	eachFamily(t, func(t *testing.T, f family) {
		change := func(power string) {
			f.RewriteResource(aksPath+"/agentPools/pool1", func(pool map[string]any) {
				pool["properties"].(map[string]any)["powerState"] = map[string]any{"code": power}
			})
		}
		change("Stopped")
		if message := f.waitReason(f.pool(), "c1-pool1", infrav1.StoppedReason); !strings.Contains(message, "az aks nodepool start") {
			t.Error(message)
		}
		if !harness.IsReady(f.read("c1-pool0")) {
			t.Errorf("the other pool: %+v", f.read("c1-pool0").GetConditions())
		}
		mark := f.Azure.MarkRequests()
		f.AdvanceClock(2 * time.Hour)
		if writes := f.specWrites(mark); len(writes) > 0 {
			t.Errorf("written: %v", writes)
		}
		change("Running")
		f.waitPool("c1-pool1", metav1.ConditionTrue, "")
	})
}

// annotateCluster sets the annotation of the Cluster; "" removes it.
func (f family) annotateCluster(value string) {
	f.T.Helper()
	harness.ChangeObject(f.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: f.cluster}},
		func(c *clusterv1.Cluster) { setAnnotation(c, infrav1.StopAnnotation, value) })
}
