package observed_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestObservedCreation creates clusters of all kinds while they are observed. When that ends, they are created as any others.
func TestObservedCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.annotateNamespace(true)
		w.StartProvider()
		w.apply()
		w.AdvanceClock(30 * time.Minute)
		w.requireNoWrites(0)
		for name, drifted := range w.drifted() {
			if drifted.Reason != infrav1.ObservingReason {
				t.Errorf("%s: Drifted is %+v", name, drifted)
			}
		}
		azureCluster := &infrav1.AzureCluster{}
		w.ReadObject(azureCluster, "c1")
		if ready := harness.FindCondition(azureCluster, infrav1.ReadyCondition); ready.Status != metav1.ConditionFalse ||
			ready.Reason != infrav1.ObservingReason {
			t.Errorf("Ready of a cluster that is not created is %+v", ready)
		}
		mark, listed := w.Azure.MarkRequests(), w.listed()
		w.annotateNamespace(false)
		w.waitReady()
		if missing := listMissing(listed, w.written(mark)); len(missing) > 0 || len(listed) < 10 {
			t.Errorf("listed and not written: %v of %v", missing, listed)
		}
		for name, drifted := range w.drifted() {
			if drifted.Type != "" {
				t.Errorf("%s: Drifted still exists: %+v", name, drifted)
			}
		}
	})
}

// TestObservedChanges changes specs and Azure while clusters of all kinds are observed. The writes that follow are those that were listed.
func TestObservedChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		w.waitReady()
		mark := w.Azure.MarkRequests()
		w.annotate(true)
		w.AdvanceClock(time.Minute)
		for name, drifted := range w.drifted() {
			if drifted.Status != metav1.ConditionFalse || drifted.Reason != infrav1.ObservingReason {
				t.Errorf("%s: Drifted of an object in order is %+v", name, drifted)
			}
		}
		if len(w.drifted()) < len(azureKinds()) {
			t.Fatalf("not all kinds are in the story: %v", w.drifted())
		}
		w.requireMetrics()
		w.requireEvents()
		w.changeAll(1)
		w.AdvanceClock(2 * time.Hour)
		w.requireNoWrites(mark)
		for _, object := range w.objects() {
			drifted := harness.FindCondition(object, infrav1.DriftedCondition)
			if drifted.Status != metav1.ConditionTrue {
				t.Errorf("%T %s: Drifted is %+v", object, object.GetName(), drifted)
			}
			t.Logf("%T %s: %s; Ready %s", object, object.GetName(), drifted.Message,
				harness.FindCondition(object, infrav1.ReadyCondition).Status)
		}
		w.requireMetrics()
		w.requireEvents()
		versions := w.versions()
		w.AdvanceClock(time.Hour)
		if diff := cmp.Diff(versions, w.versions()); diff != "" {
			t.Errorf("objects change although nothing happens (-before +after):\n%s", diff)
		}
		w.requireEvents()
		w.pause(true)
		w.AdvanceClock(time.Minute)
		for name, drifted := range w.drifted() {
			if drifted.Type != "" {
				t.Errorf("%s is paused, and Drifted is %+v", name, drifted)
			}
		}
		w.requireMetrics()
		w.pause(false)
		w.AdvanceClock(time.Minute)
		for name, drifted := range w.drifted() {
			if drifted.Status != metav1.ConditionTrue {
				t.Errorf("%s: Drifted after the pause is %+v", name, drifted)
			}
		}
		w.requireMetrics()
		mark, listed := w.Azure.MarkRequests(), w.listed()
		w.annotate(false)
		w.AdvanceClock(time.Minute)
		w.waitReady()
		if diff := cmp.Diff(listed, w.written(mark)); diff != "" {
			t.Errorf("writes (-listed +written):\n%s", diff)
		}
		w.requireMetrics()
	})
}

// TestObservedMigration observes clusters of all kinds from the first reconciliation after a migration on. Nothing is written while they are
// observed, and nothing afterwards.
func TestObservedMigration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		manager := w.StartProvider()
		w.apply()
		w.waitReady()
		manager.StopManager()
		for _, object := range w.objects() {
			harness.ChangeObject(w.Stage, object.(client.Object), func(o client.Object) {
				annotations := o.GetAnnotations()
				delete(annotations, infrav1.AppliedAnnotation)
				o.SetAnnotations(annotations)
			})
		}
		w.annotate(true)
		mark := w.Azure.MarkRequests()
		w.StartProvider()
		w.AdvanceClock(time.Hour)
		for name, drifted := range w.drifted() {
			if drifted.Status != metav1.ConditionFalse {
				t.Errorf("%s: Drifted of a migrated object in order is %+v", name, drifted)
			}
		}
		w.annotate(false)
		w.AdvanceClock(time.Hour)
		w.waitReady()
		w.requireNoWrites(mark)
	})
}

// TestObservedDeletion deletes clusters of all kinds while they are observed. Their objects stay until that ends.
func TestObservedDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.StartProvider()
		w.apply()
		w.waitReady()
		mark, there := w.Azure.MarkRequests(), len(w.objects())
		w.annotate(true)
		for _, name := range []string{"c1", "aks1", "c2"} {
			w.DeleteObjects(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		for _, object := range w.objects() {
			w.DeleteObjects(object)
		}
		w.AdvanceClock(time.Hour)
		w.requireNoWrites(mark)
		if got := len(w.objects()); got != there {
			t.Fatalf("%d of %d objects are left", got, there)
		}
		for _, object := range w.objects() {
			ready := harness.FindCondition(object, infrav1.ReadyCondition)
			if ready.Status != metav1.ConditionFalse || ready.Reason != infrav1.ObservingReason {
				t.Errorf("%T %s: Ready is %+v", object, object.GetName(), ready)
			}
			if harness.FindCondition(object, infrav1.DriftedCondition).Status != metav1.ConditionTrue {
				t.Errorf("%T %s: Drifted is not True", object, object.GetName())
			}
		}
		w.requireMetrics()
		w.annotate(false)
		w.WaitUntil("all objects are gone", func() bool { return len(w.objects()) == 0 })
		w.AdvanceClock(time.Minute)
		w.requireMetrics()
	})
}

// TestObservedByEachCause observes one machine by each of the settings.
func TestObservedByEachCause(t *testing.T) {
	annotated := func(object client.Object, value string) {
		object.SetAnnotations(map[string]string{infrav1.ObserveAnnotation: value})
	}
	for name, test := range map[string]struct {
		reason string
		flag   bool
		object string // "" for no annotation
		writes bool
	}{
		"flag":            {reason: "the manager writes nothing at all", flag: true},
		"flag and object": {reason: "an object cannot end what the operator has set", flag: true, object: "false"},
		"object":          {reason: "a user observes one object", object: "true"},
		"typing error":    {reason: "an unknown value must not cause a write", object: "yes"},
		"false":           {reason: "false is no annotation", object: "false", writes: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := virtual.NewAtOnce(t)
				s.Observe = test.flag
				s.StartProvider()
				s.ApplyNetwork("c1", func(c *infrav1.AzureCluster) {
					if test.object != "" {
						annotated(c, test.object)
					}
				})
				s.AdvanceClock(10 * time.Minute)
				if writes := len(s.Azure.WritesSince(0)) > 0; writes != test.writes {
					t.Errorf("%s: writes: %t", test.reason, writes)
				}
			})
		})
	}
}

// TestObservedKindsByEachCause observes objects of all kinds by each of the settings, one after the other, changes them, and releases them.
// Each condition names its setting, nothing is written before the release, and the writes after it are those that were listed.
func TestObservedKindsByEachCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		manager := w.StartProvider()
		w.apply()
		w.waitReady()
		restart := func(observed bool) {
			manager.StopManager()
			w.Observe = observed
			manager = w.StartProvider()
		}
		for i, cause := range []struct {
			name, text string
			set        func(observed bool)
		}{
			{"object", "the annotation " + infrav1.ObserveAnnotation + " on Azure", w.annotateObjects},
			{"Cluster", "the annotation " + infrav1.ObserveAnnotation + " on Cluster ", w.annotate},
			{"Namespace", "the annotation " + infrav1.ObserveAnnotation + " on Namespace ", w.annotateNamespace},
			{"flag", "the manager's flag --observe", restart},
		} {
			cause.set(true)
			w.AdvanceClock(time.Minute)
			mark := w.Azure.MarkRequests()
			w.changeAll(i + 1)
			w.AdvanceClock(2 * time.Hour)
			w.requireNoWrites(mark)
			for _, object := range w.objects() {
				drifted := harness.FindCondition(object, infrav1.DriftedCondition)
				if drifted.Status != metav1.ConditionTrue || !strings.Contains(drifted.Message, "because of "+cause.text) {
					t.Errorf("%s: %T %s: Drifted is %+v", cause.name, object, object.GetName(), drifted)
				}
			}
			mark, listed := w.Azure.MarkRequests(), w.listed()
			cause.set(false)
			w.AdvanceClock(time.Minute)
			w.waitReady()
			if diff := cmp.Diff(listed, w.written(mark)); diff != "" {
				t.Errorf("%s: writes (-listed +written):\n%s", cause.name, diff)
			}
		}
	})
}

// listMissing returns the elements of want that got lacks.
func listMissing(want, got []string) (out []string) {
	has := map[string]bool{}
	for _, each := range got {
		has[each] = true
	}
	for _, each := range want {
		if !has[each] {
			out = append(out, each)
		}
	}
	return out
}

// changeAll changes an object of each kind, and resources in Azure. Other numbers make other changes.
func (w *world) changeAll(number int) {
	w.T.Helper()
	value := fmt.Sprintf("a%d", number)
	tags := infrav1.Tags{"team": value}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	harness.ChangeObject(w.Stage, &infrav1.AzureCluster{ObjectMeta: named("c1")}, func(c *infrav1.AzureCluster) {
		c.Spec.AdditionalTags = tags
	})
	harness.ChangeObject(w.Stage, &infrav1.AzureMachine{ObjectMeta: named("m1")}, func(m *infrav1.AzureMachine) {
		m.Spec.AdditionalTags = tags
	})
	harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: named("pool")}, func(p *infrav1.AzureMachinePool) {
		p.Spec.AdditionalTags = tags
	})
	harness.ChangeObject(w.Stage, &infrav1.AzureManagedControlPlane{ObjectMeta: named("aks1")}, func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.APIServerAccessProfile = &infrav1.APIServerAccessProfile{AuthorizedIPRanges: []string{fmt.Sprintf("192.0.2.%d/32", number)}}
	})
	harness.ChangeObject(w.Stage, &infrav1.AzureManagedMachinePool{ObjectMeta: named("aks1-pool0")}, func(p *infrav1.AzureManagedMachinePool) {
		p.Spec.NodeLabels = map[string]string{"a": value}
	})
	for _, name := range []string{"aks1-pool1", "c2-pool0", "c2-pool1"} {
		harness.ChangeObject(w.Stage, virtual.MachinePool(name), func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(2 + number)) })
	}
	harness.ChangeObject(w.Stage, &infrav1.AzureASOManagedControlPlane{ObjectMeta: named("c2")},
		func(c *infrav1.AzureASOManagedControlPlane) {
			c.Spec.Resources = append(c.Spec.Resources, w.ParseManifest(`
apiVersion: managedidentity.azure.com/v20241130
kind: UserAssignedIdentity
metadata:
  name: workload-`+value+`
spec:
  location: eastus
  owner: {name: c2}
`))
		})
	harness.ChangeObject(w.Stage, &infrav1.AzureASOManagedCluster{ObjectMeta: named("c2")}, func(c *infrav1.AzureASOManagedCluster) {
		c.Spec.Resources[0] = w.ParseManifest(`
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: c2
spec:
  location: eastus
  tags: {team: ` + value + `}
`)
	})
	// Another program changes Azure.
	if status, answer := w.SendAsUser(http.MethodPatch, "resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/"+
		"providers/Microsoft.Resources/tags/default", "2021-04-01", map[string]any{"operation": "Merge",
		"properties": map[string]any{"tags": map[string]any{"Name": "another-" + value}}}); status > 299 {
		w.T.Fatalf("change tags: %d %s", status, answer)
	}
}

// versions returns the resource versions of all objects.
func (w *world) versions() map[string]string {
	out := map[string]string{}
	for _, object := range w.objects() {
		out[fmt.Sprintf("%T %s", object, object.GetName())] = object.GetResourceVersion()
	}
	return out
}
