package reliability_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/properties"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// enoughSeeds is from how many seeds on everything that can go wrong is met.
const enoughSeeds = 40

// TestExplored lives stories in which an explorer chooses the order of all requests and events, with faults of every kind. Each stage ends as in
// the undisturbed life. A failure is reduced to the decisions that it needs, as a test file that runs as it is.
//
//	go test ./test/reliability -run Explored -seed 1 -seeds 100
func TestExplored(t *testing.T) {
	all := map[string]int{}
	for name, story := range allStories() {
		// A private cluster has no other kinds than the default one.
		if name == "private" && !isWide() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			undisturbed := playUndisturbed(t, story.stages)
			for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
				explorer := virtual.NewExplorer(seed, virtual.UsualRates())
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					// A test that fails in a bubble ends here.
					defer func() {
						if t.Failed() {
							t.Log(describeFailure(t, name, seed, explorer))
						}
					}()
					synctest.Test(t, func(t *testing.T) {
						for what, often := range playExplored(t, story.stages, undisturbed, explorer) {
							all[what] += often
						}
					})
					if !t.Failed() && seed == *firstSeed {
						checkReplay(t, story.stages, undisturbed, explorer)
					}
				})
			}
		})
	}
	t.Logf("met: %v", all)
	for _, what := range properties.Sometimes() {
		if all[what] == 0 && *seeds >= enoughSeeds {
			t.Errorf("%q was not met, so that nothing was explored about it", what)
		}
	}
}

// checkReplay lives a life again with the same decisions, which has the same requests and events in the same order.
func checkReplay(t *testing.T, stages []stage, undisturbed []ended, explorer *virtual.Explorer) {
	t.Helper()
	replay := virtual.NewReplay(explorer.Decisions())
	synctest.Test(t, func(t *testing.T) { playExplored(t, stages, undisturbed, replay) })
	if diff := cmp.Diff(explorer.Trace(), replay.Trace()); diff != "" {
		t.Errorf("the same decisions had other effects, -first +again:\n%s", diff)
	}
}

// playUndisturbed returns the ends of the stages of a life in which nothing goes wrong.
func playUndisturbed(t *testing.T, stages []stage) (out []ended) {
	synctest.Test(t, func(t *testing.T) { out = playStory(t, stages, nil, 0, nil) })
	return out
}

// playExplored lives a story with an explorer, and returns how often things went wrong.
func playExplored(t *testing.T, stages []stage, want []ended, explorer *virtual.Explorer) map[string]int {
	in := virtual.New(t)
	in.Explore(explorer)
	in.RecordProperties(in.Azure.ClientSecret)
	w := withManager(in)
	w.replaceLeaseholders(explorer)
	t.Cleanup(func() {
		if trace := explorer.Trace(); t.Failed() {
			t.Logf("%d requests and events, the last of them:\n%s", len(trace), strings.Join(trace[max(0, len(trace)-*shown):], "\n"))
		}
	})
	for i, stage := range stages {
		w.MarkStable()
		stage.play(w)
		w.waitUntilStable()
		if want == nil {
			continue
		}
		for end := time.Now().Add(2*w.Resync + quiet); time.Now().Before(end) && len(listExploredDifferences(want[i].State, w.ReadState())) > 0; {
			w.waitUntilStable()
		}
		for _, difference := range listExploredDifferences(want[i].State, w.ReadState()) {
			t.Errorf("%s: %s", stage.name, difference)
		}
		if t.Failed() {
			break
		}
	}
	w.MarkStable()
	return w.CheckProperties()
}

// listExploredDifferences returns the differences between an explored and an undisturbed life. If the event of a pool is late, the pool is created after
// its AKS cluster instead of with it. AKS then shows enableAutoScaling in answers also where it is false, as recording Test_AKS_ManagedCluster_20251002preview_CRUD shows.
func listExploredDifferences(want, is virtual.State) []string {
	return slices.DeleteFunc(listDifferences(want, is),
		func(difference string) bool {
			return strings.HasSuffix(difference, ".enableAutoScaling: false is too much")
		})
}

// replaceLeaseholders starts another manager when the explorer has one lose its lease. The former one continues until its lease would have ended.
func (w *world) replaceLeaseholders(explorer *virtual.Explorer) {
	type former struct {
		manager *virtual.Manager
		until   time.Time
	}
	var formers []former
	look := w.Meanwhile
	w.Meanwhile = func() {
		if explorer.TakeLostLease() {
			formers = append(formers, former{w.manager, time.Now().Add(lease)})
			w.manager = w.startNextManager()
		}
		for len(formers) > 0 && time.Now().After(formers[0].until) {
			formers[0].manager.StopManager()
			formers = formers[1:]
		}
		look()
	}
}
