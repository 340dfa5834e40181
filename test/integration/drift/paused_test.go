package drift_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestPaused changes the resources of paused objects outside: nothing of them is read or written, however often a resync is
// due and whatever else changes, until they go on. Then the change is repaired with no more writes than that takes.
func TestPaused(t *testing.T) {
	stage := harness.NewStage(t, environment)
	w := &world{Stage: stage, t: t}
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	// p1 is never paused: by its resyncs one sees that time has passed for all.
	for _, name := range []string{"c1", "p1"} {
		stage.CreateCluster(stage.AzureCluster(name))
		stage.WaitClusterProvisioned(name)
	}
	stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.Worker, "")
	stage.WaitMachineProvisioned("m1")
	w.ready("c1")

	const nsg, machine, nic = network + "networkSecurityGroups/c1-controlplane-nsg", compute + "virtualMachines/m1",
		network + "networkInterfaces/m1-nic"
	ofCluster, ofMachine := []string{network}, []string{compute, network + "networkInterfaces"}
	annotation := func(o client.Object) func(paused bool) {
		return func(paused bool) {
			harness.ChangeObject(stage, o, func(o client.Object) {
				meta := metav1.ObjectMeta{Annotations: o.GetAnnotations()}
				delete(meta.Annotations, clusterv1.PausedAnnotation)
				if paused {
					metav1.SetMetaDataAnnotation(&meta, clusterv1.PausedAnnotation, "")
				}
				o.SetAnnotations(meta.Annotations)
			})
		}
	}
	tests := map[string]struct {
		reason string
		pause  func(paused bool)
		// objects are those that are paused, quiet what is not asked for of the group, by the beginning of its path. A machine
		// that goes on looks at its own resources.
		objects, quiet []string
		writes         []string
	}{
		"the Cluster": {
			reason: "the field pauses the cluster with its machines",
			pause: func(paused bool) {
				harness.ChangeObject(stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
					func(c *clusterv1.Cluster) { c.Spec.Paused = new(paused) })
			},
			objects: []string{"c1", "m1"}, quiet: append(ofMachine, ofCluster...),
			writes: []string{"PATCH resourceGroups/c1/" + machine + "/providers/Microsoft.Resources/tags/default", "PUT resourceGroups/c1/" + nic,
				"PUT resourceGroups/c1/" + nsg},
		},
		"the AzureCluster": {
			reason:  "the annotation pauses the object that has it",
			pause:   annotation(&infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}),
			objects: []string{"c1"}, quiet: []string{network + "networkSecurityGroups", network + "routeTables", network + "natGateways"},
			writes: []string{"PUT resourceGroups/c1/" + nsg},
		},
		"the AzureMachine": {
			reason:  "as above",
			pause:   annotation(&infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m1"}}),
			objects: []string{"m1"}, quiet: ofMachine,
			writes: []string{"PATCH resourceGroups/c1/" + machine + "/providers/Microsoft.Resources/tags/default", "PUT resourceGroups/c1/" + nic},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w.t, w.Stage.T = t, t
			before := map[string]body{}
			for _, path := range []string{nsg, machine, nic} {
				before[path] = w.snapshot(path)
			}
			test.pause(true)
			for _, o := range test.objects {
				w.Eventually(o+" is paused", func() bool {
					return harness.FindCondition(w.found(o), clusterv1.PausedCondition).Status == metav1.ConditionTrue
				})
			}
			w.quiet()

			mark := w.Azure.MarkRequests()
			changed := map[string]body{}
			if slices.Contains(test.objects, "c1") {
				changed[nsg] = body{"tags": body{infrav1.ClusterTagKey("c1"): "owned", infrav1.NameTag: "theirs"},
					"properties": body{"securityRules": []any{}}}
			}
			if slices.Contains(test.objects, "m1") {
				changed[machine] = body{"tags": body{infrav1.NameTag: "theirs"}}
				changed[nic] = body{"properties": body{"enableIPForwarding": true}}
			}
			for path, patch := range changed {
				w.edit(path, patch)
			}
			for range 2 {
				w.touch(test.objects...)
				round := w.Azure.MarkRequests()
				w.AdvanceClock(time.Hour)
				w.Eventually("a resync of another cluster", func() bool { return w.asked(round, "resourceGroups/p1/", network) })
			}
			if w.asked(mark, "resourceGroups/c1/", test.quiet...) {
				t.Errorf("%s: asked %s", test.reason, strings.Join(w.Azure.RequestsSince(mark), ", "))
			}
			if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
				t.Errorf("%s: wrote %s", test.reason, strings.Join(writes, ", "))
			}

			mark = w.Azure.MarkRequests()
			test.pause(false)
			for path := range changed {
				w.as(before[path], path)
			}
			for _, o := range test.objects {
				w.ready(o)
			}
			round := w.Azure.MarkRequests()
			w.AdvanceClock(time.Hour)
			w.Eventually("a resync", func() bool { return w.asked(round, "resourceGroups/c1/", test.quiet...) })
			w.quiet()
			writes := w.Azure.WritesSince(mark)
			slices.Sort(writes)
			if diff := cmp.Diff(test.writes, writes); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// asked reports whether the provider has asked for something in a group after the mark, by the beginnings of paths.
func (w *world) asked(mark harness.Mark, group string, paths ...string) bool {
	w.t.Helper()
	return slices.ContainsFunc(w.Azure.RequestsSince(mark), func(request string) bool {
		_, asked, _ := strings.Cut(request, " ")
		asked, inside := strings.CutPrefix(asked, group)
		return inside && slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(asked, path) })
	})
}

// touch changes objects, so that their controllers are called.
func (w *world) touch(names ...string) {
	w.t.Helper()
	for _, name := range names {
		harness.ChangeObject(w.Stage, object(name), func(o client.Object) {
			meta := metav1.ObjectMeta{Annotations: o.GetAnnotations()}
			metav1.SetMetaDataAnnotation(&meta, "example.com/touched", time.Now().String())
			o.SetAnnotations(meta.Annotations)
		})
	}
}
