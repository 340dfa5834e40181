package reliability_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// TestModified lives the lives of clusters under a policy that adds a tag to every write. They take the same writes as without, and nothing is
// written in an hour after each stage.
func TestModified(t *testing.T) {
	for name, story := range stories() {
		if name != "default" && !wide() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var undisturbed []ended
			synctest.Test(t, func(t *testing.T) { undisturbed = live(t, story.stages, nil, 0, nil) })
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 0)
				for _, method := range []string{"PUT", "PATCH"} {
					if err := w.Sim.AddFault(fault.Rule{Kind: fault.Modify, Method: method, Count: -1, Patch: body{"tags": body{theirs: "1"}}}); err != nil {
						t.Fatal(err)
					}
				}
				for i, stage := range story.stages {
					mark := w.Azure.Mark()
					stage.play(w)
					w.settle()
					if diff := cmp.Diff(undisturbed[i].Writes, w.accepted(mark)); diff != "" {
						t.Errorf("%s: what Azure took (-without +with the policy):\n%s", stage.name, diff)
					}
					after := w.Azure.Mark()
					w.passes(time.Hour)
					if writes := w.accepted(after); len(writes) > 0 {
						t.Errorf("%s: in the hour after: %v", stage.name, writes)
					}
					if i == 0 && !w.tagged() {
						t.Error("the policy tags nothing")
					}
				}
			})
		})
	}
}

// tagged tells whether something has the tag of somebody else.
func (w *world) tagged() bool {
	for _, resource := range w.Sim.State() {
		if tags, _ := resource["tags"].(body); tags[theirs] != nil {
			return true
		}
	}
	return false
}
