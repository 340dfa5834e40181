package stopped_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// powered are the types of resources that are stopped and started.
var powered = []string{"Microsoft.Compute/virtualMachines", "Microsoft.Compute/virtualMachineScaleSets", "Microsoft.ContainerService/managedClusters"}

// TestResourcesOfOthers hands everything that can be stopped over to another cluster, by its tags, and then stops the Clusters that made it.
// Nothing of others is stopped, and no object reports that.
func TestResourcesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		handedOver := 0
		for _, resource := range w.Azure.ListResources() {
			if strings.HasPrefix(resource, "resourceGroups/MC_") ||
				!slices.ContainsFunc(powered, func(kind string) bool { return strings.Contains(resource, "/"+kind+"/") }) {
				continue
			}
			handedOver++
			group, path, _ := strings.Cut(resource, "/Microsoft.")
			id := group + "/providers/Microsoft." + path
			if status, answer := w.SendAsUser(http.MethodPatch, id+"/providers/Microsoft.Resources/tags/default", "2021-04-01", map[string]any{
				"operation":  "Replace",
				"properties": map[string]any{"tags": map[string]any{infrav1.ClusterTagKey("other"): infrav1.TagOwned}},
			}); status > 299 {
				t.Fatalf("tags of %s: %d %s", id, status, answer)
			}
		}
		if handedOver < 6 {
			t.Fatalf("%d resources were handed over", handedOver)
		}
		w.AdvanceClock(30 * time.Minute) // The manager has read everything again.
		mark := w.Azure.MarkRequests()
		w.annotate(infrav1.StopAnnotation, "true")
		w.AdvanceClock(time.Hour)
		for _, request := range w.Azure.WritesSince(mark) {
			for _, action := range []string{"/stop", "/start", "/deallocate"} {
				if strings.Contains(request, action) {
					t.Errorf("sent to a resource of another cluster: %s", request)
				}
			}
		}
		for _, object := range w.objects() {
			if stopped := harness.FindCondition(object, infrav1.StoppedCondition); stopped.Status == metav1.ConditionTrue {
				t.Errorf("%T %s is shown as stopped: %s", object, object.GetName(), stopped.Message)
			}
			if ready := harness.FindCondition(object, infrav1.ReadyCondition); ready.Status == metav1.ConditionTrue {
				t.Errorf("%T %s is Ready", object, object.GetName())
			}
		}
	})
}

// TestReadOnlyManifest stops a Cluster whose resource manifest of the AKS cluster has the policy skip: the provider only reads that cluster.
func TestReadOnlyManifest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.CreateASOCluster(w.documents)
		replace := func(former, text string) {
			harness.ChangeObject(w.Stage, &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "c2"}},
				func(c *infrav1.AzureASOManagedControlPlane) {
					for i := range c.Spec.Resources {
						c.Spec.Resources[i].Raw = bytes.Replace(c.Spec.Resources[i].Raw, []byte(former), []byte(text), 1)
					}
				})
		}
		replace(`"annotations":{`, `"annotations":{"serviceoperator.azure.com/reconcile-policy":"skip",`)
		w.AdvanceClock(30 * time.Minute)
		mark := w.Azure.MarkRequests()
		harness.ChangeObject(w.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c2"}},
			func(c *clusterv1.Cluster) { setAnnotation(c, infrav1.StopAnnotation, "true") })
		w.AdvanceClock(time.Hour)
		if i := slices.IndexFunc(w.Azure.WritesSince(mark), func(request string) bool { return strings.Contains(request, "/managedClusters/c2/stop") }); i >= 0 {
			t.Error("an AKS cluster that is only read was stopped")
		}
		// With another policy, the same annotation stops it.
		replace(`"skip"`, `"manage"`)
		w.AdvanceClock(time.Hour)
		if !slices.ContainsFunc(w.Azure.WritesSince(mark), func(request string) bool { return strings.Contains(request, "/managedClusters/c2/stop") }) {
			t.Error("the AKS cluster was not stopped")
		}
	})
}

// TestMistypedAnnotation stops clusters, mistypes the value that is to start them, and removes it then: everything runs again.
func TestMistypedAnnotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		w.annotate(infrav1.StopAnnotation, "true")
		w.waitStopped(metav1.ConditionTrue)
		w.annotate(infrav1.StopAnnotation, "fasle")
		w.AdvanceClock(time.Hour)
		for _, object := range w.objects() {
			ready, stopped := harness.FindCondition(object, infrav1.ReadyCondition), harness.FindCondition(object, infrav1.StoppedCondition)
			if !strings.Contains(ready.Message, "fasle") || stopped.Status != metav1.ConditionTrue {
				t.Errorf("%T %s: Ready has %q, and Stopped is %q: its VMs are still stopped", object, object.GetName(), ready.Message, stopped.Status)
			}
		}
		w.annotate(infrav1.StopAnnotation, "")
		w.waitReady(metav1.ConditionTrue)
		w.waitStopped("")
	})
}

// TestQuietWhileStopped leaves stopped clusters alone: no object is written, and its conditions keep the times of their last changes.
func TestQuietWhileStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		w.annotate(infrav1.StopAnnotation, "true")
		w.waitStopped(metav1.ConditionTrue)
		w.AdvanceClock(time.Hour)
		before := map[string]string{}
		for _, object := range w.objects() {
			before[object.GetName()] = object.(client.Object).GetResourceVersion()
		}
		w.AdvanceClock(time.Hour)
		for _, object := range w.objects() {
			if version := object.(client.Object).GetResourceVersion(); version != before[object.GetName()] {
				t.Errorf("%T %s was written while nothing changed:\n%s", object, object.GetName(), w.describe())
			}
		}
	})
}

// TestAbortedStart aborts the start of AKS clusters in Azure, which leaves them Canceled and stopped. They are started again.
func TestAbortedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		w.annotate(infrav1.StopAnnotation, "true")
		w.waitStopped(metav1.ConditionTrue)
		mark := w.Azure.MarkRequests()
		w.annotate(infrav1.StopAnnotation, "")
		clusters := []string{"/managedClusters/aks1", "/managedClusters/c2"}
		starts := func(cluster string) (n int) {
			for _, request := range w.Azure.WritesSince(mark) {
				if strings.HasSuffix(request, cluster+"/start") {
					n++
				}
			}
			return n
		}
		w.WaitUntil("AKS starts the clusters", func() bool {
			return !slices.ContainsFunc(clusters, func(cluster string) bool { return starts(cluster) == 0 })
		}, w.describe)
		for _, name := range []string{"aks1", "c2"} {
			id := "resourceGroups/" + name + "/providers/Microsoft.ContainerService/managedClusters/" + name
			if status, answer := w.SendAsUser(http.MethodPost, id+"/abort", "2025-10-01", nil); status > 299 {
				t.Fatalf("abort the start of %s: %d %s", name, status, answer)
			}
		}
		w.waitReady(metav1.ConditionTrue)
		for _, cluster := range clusters {
			if n := starts(cluster); n != 2 {
				t.Errorf("%s was started %d times, want twice", cluster, n)
			}
		}
	})
}
