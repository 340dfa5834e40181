package reliability_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// How long after an edit its outcome is reached: changes that Azure's list of all resources shows are found every ten
// minutes, all others every hour, and a repair takes Azure some minutes.
const (
	soon  = 25 * time.Minute
	later = 95 * time.Minute
)

// bystander is a resource of another owner in the group of a cluster.
const bystander = "bystander"

// grown is the number of stages of a story until everything exists.
var grown = map[string]int{"default": 3, "private": 2, "pool": 2, "documents": 1, "AKS": 1}

// TestEditedAtRest edits each resource of clusters that are in order, in each way. Each edit is repaired with as few
// writes as possible, or reported, or left alone. After that nothing is written, and others' tags and resources stay as
// they are.
//
//	go test ./test/reliability -run EditedAtRest -v -every 1
func TestEditedAtRest(t *testing.T) {
	var tried, impossible atomic.Int64
	for name, n := range grown {
		if name != "default" && !isWide() {
			continue
		}
		stages := allStories()[name].stages[:n]
		var resources []string
		synctest.Test(t, func(t *testing.T) { resources = playedWorld(t, stages).editableResources() })
		seen := map[string]bool{}
		for _, short := range resources {
			short = virtual.MaskRandomText(short)
			key := short
			if strings.Contains(short, "/MC_") {
				// One of a type will do, of those that a pool looks at.
				if key = "MC_" + arm.ID("/subscriptions/s/"+short).Type(); !slices.Contains(looked, key) {
					continue
				}
			}
			if seen[key] || strings.HasSuffix(short, "/"+bystander) || !isWide() && !strings.HasSuffix(short, sampled) || isWide() &&
				!isDrawn(name+short) {
				continue
			}
			seen[key] = true
			t.Run(name+"/"+strings.ReplaceAll(short, "/", "."), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					w := playedWorld(t, stages)
					here := w.editableResources()
					actual := here[slices.IndexFunc(here, func(other string) bool { return virtual.MaskRandomText(other) == short })]
					for _, e := range edits {
						if w.playEdit(name, actual, e) {
							tried.Add(1)
						} else {
							impossible.Add(1)
						}
					}
				})
			})
		}
	}
	t.Cleanup(func() { t.Logf("%d edits, %d that cannot be made", tried.Load(), impossible.Load()) })
}

// sampled is the end of the ID of the edited resource when only a sample is edited.
const sampled = "/publicIPAddresses/pip-c1-node-natgw"

// looked are the types of what AKS makes that a pool looks at.
var looked = []string{"MC_" + types.ResourceGroup, "MC_" + types.ScaleSet, "MC_" + scaleSetVM}

// playedWorld returns a world in which stages were played, with a resource of another owner beside the cluster.
func playedWorld(t *testing.T, stages []stage) *world {
	w := newWorld(t, 0)
	for _, stage := range stages {
		stage.play(w)
		w.waitUntilStable()
	}
	for _, group := range []string{"c1", "aks1"} {
		if status, _ := w.sendAsUser(http.MethodGet, "resourceGroups/"+group, nil); status == http.StatusOK {
			w.PutAsUser("resourceGroups/"+group+"/providers/Microsoft.Network/networkSecurityGroups/"+bystander, "2025-01-01",
				body{"location": "eastus", "tags": body{"whose": "another owner's"}})
		}
	}
	return w
}

// waitFor lets time go by.
func (w *world) waitFor(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		virtual.WaitForSignal(nil, 30*time.Second)
		w.Meanwhile()
	}
}

// playEdit makes an edit and looks at what becomes of it. It is false where the edit cannot be made.
func (w *world) playEdit(story, short string, e edit) bool {
	t := w.T
	t.Helper()
	before, mark := w.takeMoment(), w.Azure.MarkRequests()
	foreign := w.foreignTag(short)
	done, undo := e.applyEdit(w, short)
	if !done {
		return false
	}
	edited, want := w.takeMoment(), expectedOutcome(story, short, w.expandID(short).Type(), e)
	// Azure shows no write if the deletion of a resource changes resources of others.
	if w.waitFor(soon); e == deletion {
		w.waitFor(later - soon)
	}
	got := w.judgeEdit(short, e, before, edited, w.countAccepted(mark))
	if !got.meetsExpectation(want) && e != deletion {
		w.waitFor(later - soon)
		got = w.judgeEdit(short, e, before, edited, w.countAccepted(mark))
	}
	if got.meetsExpectation(want) {
		t.Logf("%s: %s: %s", short, e, got)
	} else {
		t.Errorf("%s: %s: %s, want %s: %s", short, e, got, want.outcome, want.reason)
	}
	for write, often := range got.writes {
		if often > max(1, repeated[w.expandID(short).Type()+": "+string(e)]) {
			t.Errorf("%s: %s: %d times %s", short, e, often, write)
		}
	}
	after := w.Azure.MarkRequests()
	w.waitFor(time.Hour)
	if writes := w.countAccepted(after); len(writes) > 0 {
		t.Errorf("%s: %s: in the hour after: %v", short, e, writes)
	}
	if e == foreignTag && !w.foreignTag(short) || foreign && e != allTags && e != deletion && !w.foreignTag(short) {
		t.Errorf("%s: %s: the tag of another owner is gone", short, e)
	}
	if undo == nil || got.outcome == repaired || e == foreignTag {
		return true
	}
	undo()
	w.waitFor(later)
	for _, difference := range before.ListDifferences(w.takeMoment().State) {
		t.Errorf("%s: %s: after it was taken back: %s", short, e, difference)
	}
	return true
}

// foreignTag reports whether a resource has the tag of another owner.
func (w *world) foreignTag(short string) bool {
	w.T.Helper()
	_, resource := w.sendAsUser(http.MethodGet, short, nil)
	tags, _ := resource["tags"].(body)
	return tags[theirs] != nil
}
