package observed_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// azureKinds are the lists of all kinds with resources in Azure.
func azureKinds() map[string]client.ObjectList {
	return map[string]client.ObjectList{
		"AzureCluster": &infrav1.AzureClusterList{}, "AzureMachine": &infrav1.AzureMachineList{},
		"AzureMachinePool":            &infrav1.AzureMachinePoolList{},
		"AzureManagedControlPlane":    &infrav1.AzureManagedControlPlaneList{},
		"AzureManagedMachinePool":     &infrav1.AzureManagedMachinePoolList{},
		"AzureASOManagedCluster":      &infrav1.AzureASOManagedClusterList{},
		"AzureASOManagedControlPlane": &infrav1.AzureASOManagedControlPlaneList{},
		"AzureASOManagedMachinePool":  &infrav1.AzureASOManagedMachinePoolList{},
	}
}

// world has a self-managed cluster c1 with a machine and a pool, an AKS cluster aks1 with two pools, and an AKS cluster c2 of resource
// manifests.
type world struct {
	*virtual.Scenario
	documents *harness.ASOCluster
	// events are the notes of the events with the reason Drifted, by kind and name of the object.
	events map[string][]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Scenario: virtual.New(t), events: map[string][]string{}}
	var recording sync.Mutex
	w.EventRecorded = func(event virtual.Event) {
		recording.Lock()
		defer recording.Unlock()
		if event.Reason == infrav1.DriftedReason {
			name := event.Kind + " " + event.Name
			w.events[name] = append(w.events[name], event.Type+" "+event.Note)
		}
	}
	w.documents = w.BuildASOCluster("c2", "pool0", "pool1")
	player := &harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
	w.Meanwhile = func() {
		player.PlayOnce(w.T.Context())
		owner, azureCluster := &clusterv1.Cluster{}, &infrav1.AzureCluster{}
		key := client.ObjectKey{Namespace: w.Namespace, Name: "c1"}
		if w.Kubernetes.Get(w.T.Context(), key, owner) != nil || w.Kubernetes.Get(w.T.Context(), key, azureCluster) != nil {
			return // It is being deleted.
		}
		if azureCluster.Status.Initialization.Provisioned != nil && owner.Status.Initialization.InfrastructureProvisioned == nil {
			w.CopyInfrastructure(owner.Name)
		}
	}
	return w
}

// apply applies all objects.
func (w *world) apply() {
	w.T.Helper()
	w.ApplyNetwork("c1", nil)
	w.ApplyMachine("c1", "m1", harness.ControlPlane)
	w.ApplyPool("c1", "pool", 1)
	w.ApplyAKSCluster("aks1", 2)
	w.CreateManifests(w.documents)
}

// waitReady waits until all objects are Ready.
func (w *world) waitReady() {
	w.T.Helper()
	w.WaitUntil("all objects are Ready", func() bool {
		for _, object := range w.objects() {
			ready := harness.FindCondition(object, infrav1.ReadyCondition)
			if ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != object.GetGeneration() {
				return false
			}
		}
		return true
	})
	w.AdvanceClock(5 * time.Minute)
}

// objects returns all objects with resources in Azure.
func (w *world) objects() (out []harness.Conditioned) {
	w.T.Helper()
	for _, list := range azureKinds() {
		if err := w.Kubernetes.List(w.T.Context(), list); err != nil {
			w.T.Fatal(err)
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			out = append(out, item.(harness.Conditioned))
			return nil
		}); err != nil {
			w.T.Fatal(err)
		}
	}
	return out
}

// annotate sets or removes the annotation on all Clusters.
func (w *world) annotate(observed bool) {
	w.T.Helper()
	for _, name := range []string{"c1", "aks1", "c2"} {
		harness.ChangeObject(w.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, func(c *clusterv1.Cluster) {
			setObserve(c, observed)
		})
	}
}

// pause pauses all Clusters, or ends that.
func (w *world) pause(paused bool) {
	w.T.Helper()
	for _, name := range []string{"c1", "aks1", "c2"} {
		harness.ChangeObject(w.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, func(c *clusterv1.Cluster) {
			c.Spec.Paused = new(paused)
		})
	}
}

// annotateObjects sets or removes the annotation on all objects of this provider with resources in Azure.
func (w *world) annotateObjects(observed bool) {
	w.T.Helper()
	for _, object := range w.objects() {
		harness.ChangeObject(w.Stage, object.(client.Object), func(o client.Object) { setObserve(o, observed) })
	}
}

// annotateNamespace sets or removes the annotation on the Namespace.
func (w *world) annotateNamespace(observed bool) {
	w.T.Helper()
	namespace := &corev1.Namespace{}
	if err := w.Kubernetes.Get(w.T.Context(), client.ObjectKey{Name: w.Namespace}, namespace); err != nil {
		w.T.Fatal(err)
	}
	setObserve(namespace, observed)
	if err := w.Kubernetes.Update(w.T.Context(), namespace); err != nil {
		w.T.Fatal(err)
	}
}

func setObserve(object client.Object, observed bool) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	delete(annotations, infrav1.ObserveAnnotation)
	if observed {
		annotations[infrav1.ObserveAnnotation] = "true"
	}
	object.SetAnnotations(annotations)
}

// requireNoWrites fails if anything was written to Azure since the mark.
func (w *world) requireNoWrites(since harness.Mark) {
	w.T.Helper()
	if writes := w.writes(since); len(writes) > 0 {
		w.T.Fatalf("written while everything is observed: %v", writes)
	}
}

// writes returns the writes of the provider since the mark.
func (w *world) writes(since harness.Mark) []string { return w.SentWrites(since) }

// listed returns the writes that the objects list.
func (w *world) listed() []string {
	w.T.Helper()
	return virtual.ListIntended(slices.Collect(maps.Values(w.drifted()))...)
}

// written returns the writes since the mark in the form of listed.
func (w *world) written(since harness.Mark) []string { return w.ListSent(since) }

// drifted returns the condition Drifted of each object.
func (w *world) drifted() map[string]metav1.Condition {
	out := map[string]metav1.Condition{}
	for _, object := range w.objects() {
		out[fmt.Sprintf("%T %s", object, object.GetName())] = harness.FindCondition(object, infrav1.DriftedCondition)
	}
	return out
}

// requireMetrics compares the metrics of observed objects with the conditions Drifted.
func (w *world) requireMetrics() {
	w.T.Helper()
	got, want := map[string]float64{}, map[string]float64{}
	families, err := metrics.Registry.Gather()
	if err != nil {
		w.T.Fatal(err)
	}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "capz_observed_") {
			continue
		}
		for _, series := range family.GetMetric() {
			if value := series.GetGauge().GetValue(); value != 0 {
				got[family.GetName()+" "+series.GetLabel()[0].GetValue()] = value
			}
		}
	}
	for _, object := range w.objects() {
		drifted, kind := harness.FindCondition(object, infrav1.DriftedCondition), reflect.TypeOf(object).Elem().Name()
		if drifted.Type == "" {
			continue
		}
		want["capz_observed_objects "+kind]++
		if writes := virtual.IntendedWrites(drifted); len(writes) > 0 {
			want["capz_observed_objects_drifted "+kind]++
			want["capz_observed_writes "+kind] += float64(len(writes))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.T.Errorf("metrics (-conditions +metrics):\n%s", diff)
	}
}

// requireEvents requires that the last event of each object has its list of writes, if there is one, and that no list has two events.
func (w *world) requireEvents() {
	w.T.Helper()
	for _, object := range w.objects() {
		name := reflect.TypeOf(object).Elem().Name() + " " + object.GetName()
		notes := w.events[name]
		if len(slices.Compact(slices.Clone(notes))) < len(notes) {
			w.T.Errorf("%s: a list has more than one event: %q", name, notes)
		}
		drifted, last := harness.FindCondition(object, infrav1.DriftedCondition), ""
		if len(notes) > 0 {
			last = notes[len(notes)-1]
		}
		if want := "Normal " + text.Truncate(drifted.Message, text.MaxNote); drifted.Status == metav1.ConditionTrue && last != want {
			w.T.Errorf("%s: the last event is %q, want %q", name, last, want)
		}
	}
}
