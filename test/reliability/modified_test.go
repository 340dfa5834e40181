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
	for name, story := range allStories() {
		if name != "default" && !isWide() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var undisturbed []ended
			synctest.Test(t, func(t *testing.T) { undisturbed = playStory(t, story.stages, nil, 0, nil) })
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 0)
				for _, method := range []string{"PUT", "PATCH"} {
					if err := w.Sim.AddFault(fault.Rule{Kind: fault.Modify, Method: method, Count: -1,
						Patch: body{"tags": body{theirs: "1"}}}); err != nil {
						t.Fatal(err)
					}
				}
				for i, stage := range story.stages {
					mark := w.Azure.MarkRequests()
					stage.play(w)
					w.waitUntilStable()
					if diff := cmp.Diff(undisturbed[i].Writes, w.countAccepted(mark)); diff != "" {
						t.Errorf("%s: accepted requests (-without +with the policy):\n%s", stage.name, diff)
					}
					after := w.Azure.MarkRequests()
					w.waitFor(time.Hour)
					if writes := w.countAccepted(after); len(writes) > 0 {
						t.Errorf("%s: in the hour after: %v", stage.name, writes)
					}
					if i == 0 && !w.hasForeignTag() {
						t.Error("the policy tags nothing")
					}
				}
			})
		})
	}
}

// hasForeignTag reports whether any resource has the tag of another owner.
func (w *world) hasForeignTag() bool {
	for _, resource := range w.Sim.State() {
		if tags, _ := resource["tags"].(body); tags[theirs] != nil {
			return true
		}
	}
	return false
}
