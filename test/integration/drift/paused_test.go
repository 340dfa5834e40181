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
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestPausedObjectsAreLeftAlone changes the resources of paused objects outside: the provider neither reads nor writes them until the
// pause ends, however often a resync is due and whatever else changes. Then it repairs the change with no more writes than necessary.
func TestPausedObjectsAreLeftAlone(t *testing.T) {
	virtual.PlayRows(t, virtual.PlayComplete, func(s *virtual.Scenario, rows *virtual.Rows) {
		w, stage := &world{Scenario: s}, s.Stage
		s.Full = 0 // Each sync reads everything.
		s.StartProvider()
		stage.CreateIdentity()
		// p1 is never paused: by its resyncs one sees that time has passed for all.
		for _, name := range []string{"c1", "p1"} {
			stage.CreateCluster(stage.AzureCluster(name))
			stage.WaitClusterProvisioned(name)
		}
		stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.Worker, "")
		stage.WaitMachineProvisioned("m1")
		w.waitReady("c1")

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
			// objects are the paused objects, quiet the beginnings of the paths in the group that they do not read. A machine that is
			// not paused reads its own resources.
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
			rows.Play(name, func() {
				before := map[string]body{}
				for _, path := range []string{nsg, machine, nic} {
					before[path] = w.takeSnapshot(path)
				}
				test.pause(true)
				for _, o := range test.objects {
					w.WaitUntil(o+" is paused", func() bool {
						return harness.FindCondition(w.readObject(o), clusterv1.PausedCondition).Status == metav1.ConditionTrue
					})
				}
				w.WaitQuiet()

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
					w.EditResource(path, patch)
				}
				for range 2 {
					w.touchObjects(test.objects...)
					round := w.Azure.MarkRequests()
					w.AdvanceClock(time.Hour)
					w.WaitUntil("a resync of another cluster", func() bool { return w.hasAsked(round, "resourceGroups/p1/", network) })
				}
				if w.hasAsked(mark, "resourceGroups/c1/", test.quiet...) {
					w.T.Errorf("%s: asked %s", test.reason, strings.Join(w.Azure.RequestsSince(mark), ", "))
				}
				if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
					w.T.Errorf("%s: wrote %s", test.reason, strings.Join(writes, ", "))
				}

				mark = w.Azure.MarkRequests()
				test.pause(false)
				for path := range changed {
					w.waitAsBefore(before[path], path)
				}
				for _, o := range test.objects {
					w.waitReady(o)
				}
				round := w.Azure.MarkRequests()
				w.AdvanceClock(time.Hour)
				w.WaitUntil("a resync", func() bool { return w.hasAsked(round, "resourceGroups/c1/", test.quiet...) })
				w.WaitQuiet()
				writes := w.Azure.WritesSince(mark)
				slices.Sort(writes)
				if diff := cmp.Diff(test.writes, writes); diff != "" {
					w.T.Errorf("%s: writes (-want +got):\n%s", test.reason, diff)
				}
			})
		}
	})
}

// hasAsked reports whether the provider has sent requests for paths with one of the prefixes in a group after the mark.
func (w *world) hasAsked(mark harness.Mark, group string, paths ...string) bool {
	w.T.Helper()
	return slices.ContainsFunc(w.Azure.RequestsSince(mark), func(request string) bool {
		_, asked, _ := strings.Cut(request, " ")
		asked, inside := strings.CutPrefix(asked, group)
		return inside && slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(asked, path) })
	})
}

// touchObjects changes objects, so that their controllers are called.
func (w *world) touchObjects(names ...string) {
	w.T.Helper()
	for _, name := range names {
		w.TouchObject(newObject(name))
	}
}
