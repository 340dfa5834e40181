package reliability_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestExplored lives stories in which an explorer chooses the order of all requests and events, loses answers and kills the manager. Each stage
// ends as in the undisturbed life.
//
//	go test ./test/reliability -run Explored -seed 1 -seeds 100
func TestExplored(t *testing.T) {
	for name, story := range allStories() {
		if !story.sample && !isWide() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var undisturbed []ended
			synctest.Test(t, func(t *testing.T) { undisturbed = playStory(t, story.stages, nil, 0, nil) })
			lost := 0
			for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { lost += playExplored(t, story.stages, undisturbed, seed) })
				})
			}
			if lost == 0 {
				t.Error("no answer was lost, so that nothing was explored")
			}
		})
	}
}

// playExplored lives a story with an explorer, and returns how many answers were lost.
func playExplored(t *testing.T, stages []stage, want []ended, seed uint64) int {
	in := virtual.New(t)
	explorer := virtual.NewExplorer(seed, virtual.Rates{LoseAnswer: 0.02, Kill: 0.002, Wait: 0.05, Longest: 20 * time.Second})
	in.Explore(explorer)
	w := withManager(in)
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		trace := explorer.Trace()
		t.Logf("%d choices, the last of them:\n%s", len(trace), strings.Join(trace[max(0, len(trace)-*shown):], "\n"))
	})
	for i, stage := range stages {
		stage.play(w)
		w.waitSettled()
		for end := time.Now().Add(2*w.Resync + quiet); time.Now().Before(end) && len(listDifferences(want[i].State, w.ReadState())) > 0; {
			w.waitSettled()
		}
		for _, difference := range listDifferences(want[i].State, w.ReadState()) {
			t.Errorf("%s: %s", stage.name, difference)
		}
		if t.Failed() {
			break
		}
	}
	lost := explorer.CountMet("answer lost")
	t.Logf("%d choices, %d answers lost, %d deaths", len(explorer.Trace()), lost, w.deaths)
	return lost
}
