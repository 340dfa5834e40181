package reliability_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// begun are clusters that are asked for, and not waited for.
var begun = map[string]func(w *world){
	"network": func(w *world) { w.ApplyNetwork("c1", nil) },
	"private": func(w *world) { w.ApplyNetwork("c1", makePrivate) },
	"AKS":     func(w *world) { w.ApplyAKSCluster("aks1", 2) },
}

// early is what becomes of an edit in the midst of creation where that is something else than later.
var early = map[string]expectation{
	types.PublicIPAddress + ": " + string(
		property): {"it is created once, and a difference half a minute after that counts as Azure's normalisation", kept},
}

// TestEditedInCreation edits each resource of clusters as soon as Azure shows it, while others are still being created.
// The outcome is the same as of an edit at rest, and the cluster is the same, too.
//
//	go test ./test/reliability -run EditedInCreation -v -every 1
func TestEditedInCreation(t *testing.T) {
	var tried, impossible atomic.Int64
	for name, begin := range begun {
		if name != "network" && !isWide() {
			continue
		}
		var undisturbed moment
		var resources []string
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 0)
			begin(w)
			w.waitFor(later)
			undisturbed, resources = w.takeMoment(), w.editableResources()
		})
		for _, short := range resources {
			if strings.Contains(short, "/MC_") || !isWide() && !strings.HasSuffix(short, sampled) {
				continue
			}
			for _, e := range edits {
				if isWide() && !isDrawn(name+short+string(e)) {
					continue
				}
				t.Run(name+"/"+strings.ReplaceAll(short, "/", ".")+"/"+string(e), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t, 0)
						begin(w)
						if w.editedEarly(short, e, undisturbed) {
							tried.Add(1)
						} else {
							impossible.Add(1)
						}
					})
				})
			}
		}
	}
	t.Cleanup(func() { t.Logf("%d edits, %d that cannot be made", tried.Load(), impossible.Load()) })
}

// editedEarly edits a resource as soon as it exists, and checks the outcome when all is at rest. It returns false if
// the edit cannot be made.
func (w *world) editedEarly(short string, e edit, undisturbed moment) bool {
	t := w.T
	t.Helper()
	for deadline := time.Now().Add(later); !slices.Contains(w.editableResources(), short); virtual.WaitForSignal(nil, time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come", short)
		}
	}
	done := false
	for end := time.Now().Add(time.Minute); !done && time.Now().Before(end); virtual.WaitForSignal(nil, time.Second) {
		done, _ = e.applyEdit(w, short) // It may come without the edited property.
	}
	if !done {
		return false
	}
	w.waitFor(later)
	resourceType := w.expandID(short).Type()
	want, differs := early[resourceType+": "+string(e)]
	if !differs {
		want = expectedOutcome("", short, resourceType, e)
	}
	now := w.takeMoment()
	differences := slices.DeleteFunc(undisturbed.ListDifferences(now.State),
		func(line string) bool { return strings.Contains(line, "/MC_") }) // AKS's business
	got := editResult{words: now.newMessages(undisturbed, w.expandID(short)), differs: undisturbed.azureState().ListDifferences(now.azureState())}
	switch {
	case e == foreignTag && w.foreignTag(short):
		got.outcome = kept
	case len(differences) == 0:
		got.outcome = repaired
	case len(got.words) > 0 && len(got.differs) > 0:
		got.outcome = reported
	case len(now.newMessages(undisturbed, "")) == 0:
		got.outcome = kept
	default:
		got.outcome, got.words = "neither as it was nor as it was made", now.newMessages(undisturbed, "")
	}
	if got.outcome != want.outcome {
		t.Errorf("%s: %s: %s, want %s: %s", short, e, got, want.outcome, want.reason)
		for _, difference := range differences {
			t.Log(difference)
		}
	}
	after := w.Azure.MarkRequests()
	w.waitFor(time.Hour)
	if writes := w.countAccepted(after); len(writes) > 0 {
		t.Errorf("%s: %s: in an hour after it was over: %v", short, e, writes)
	}
	return true
}
