package reliability_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// ended is the end of a stage with its costs.
type ended struct {
	State  virtual.State
	Writes map[string]int
	// acts are requests to Azure and writes to Kubernetes.
	acts int
}

// allStories are lives of clusters. The longest stage comes as early as it can: those after it are lived less often.
func allStories() map[string]struct {
	reason string
	// sample is tried when not all rows are.
	sample bool
	stages []stage
} {
	return map[string]struct {
		reason string
		sample bool
		stages []stage
	}{
		"default": {"most clusters are like this", true, []stage{
			networkStage(nil), machineStage("c1-control-plane-0", harness.ControlPlane), machineStage("c1-md-0", harness.Worker),
			changedCluster("tags and rules", func(c *infrav1.AzureCluster) {
				c.Spec.AdditionalTags = infrav1.Tags{"team": "a"}
				node := slices.IndexFunc(c.Spec.NetworkSpec.Subnets, func(s infrav1.SubnetSpec) bool { return s.Role == infrav1.SubnetNode })
				c.Spec.NetworkSpec.Subnets[node].SecurityGroup.SecurityRules = append(c.Spec.NetworkSpec.Subnets[node].SecurityGroup.SecurityRules,
					infrav1.SecurityRule{
						Name: "web", Description: "web", Priority: 2300, Protocol: infrav1.SecurityGroupProtocolTCP,
						Direction: infrav1.SecurityRuleDirectionInbound,
						Source:    new("*"), SourcePorts: new("*"), Destination: new("*"), DestinationPorts: new("443"),
						Action: infrav1.SecurityRuleActionAllow,
					})
			}),
			changedMachine("tags of a machine", "c1-md-0", func(m *infrav1.AzureMachine) { m.Spec.AdditionalTags = infrav1.Tags{"role": "b"} }),
			changedCluster("no tags and rules", func(c *infrav1.AzureCluster) {
				c.Spec.AdditionalTags = nil
				node := slices.IndexFunc(c.Spec.NetworkSpec.Subnets, func(s infrav1.SubnetSpec) bool { return s.Role == infrav1.SubnetNode })
				c.Spec.NetworkSpec.Subnets[node].SecurityGroup.SecurityRules = nil
			}),
			upgradeStage("c1-md-0", "c1-md-1"), withoutMachine("c1-md-1"), withoutCluster("c1-control-plane-0"),
		}},
		"private": {"a zone, its link and a record are made, and go with their group", false, []stage{
			networkStage(makePrivate),
			machineStage("c1-control-plane-0", harness.ControlPlane), withoutCluster("c1-control-plane-0"),
		}},
		"pool":      {"VMs of a scale set are counted, never named", false, poolStages()},
		"documents": {"documents have no fields of ours that record the progress", false, asoStages()},
		"AKS":       {"the provider may not repeat work that AKS does by itself", true, aksStages()},
	}
}

// makePrivate has an API server that only the network reaches.
func makePrivate(c *infrav1.AzureCluster) {
	c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
}

// TestKilledAtEveryCall lives stories with managers that are killed: at each request to Azure and each write to Kubernetes of each stage,
// before it is done and before the manager hears that it is. The next manager brings the stage to the same end, with the same
// writes, and goes on to the next one.
//
//	go test ./test/reliability -run KilledAtEveryCall -every 1
func TestKilledAtEveryCall(t *testing.T) {
	for name, story := range allStories() {
		if !story.sample && !isWide() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var undisturbed []ended
			synctest.Test(t, func(t *testing.T) { undisturbed = playStory(t, story.stages, nil, 0, nil) })
			rows, tried, missed := 0, 0, &atomic.Int64{}
			for i, stage := range undisturbed {
				rows = max(rows, 2*stage.acts)
				t.Logf("%s: %d acts", story.stages[i].name, stage.acts)
			}
			for row := *every - 1; row < rows; row += *every {
				for _, stage := range undisturbed {
					if *every > 1 || row < 2*stage.acts {
						tried++
					}
				}
				t.Run(fmt.Sprint(row), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { playStory(t, story.stages, undisturbed, row, missed) })
				})
			}
			t.Cleanup(func() {
				// The number of reads of a stage depends on which answer comes first, and on the reads of the manager
				// before it: of few calls most may be the last ones of their stages.
				n := int(missed.Load())
				if few := 100; n == tried || tried > few && 2*n > tried {
					t.Errorf("%d of %d calls did not come", n, tried)
				}
				t.Logf("%s: of %d calls at which the manager is killed, %d did not come", story.reason, tried, n)
			})
		})
	}
}

// playStory plays a story. With the ends of an undisturbed story in want, the manager is killed in each stage: a row is
// a number of an act, of those that are not done first. The ends are compared with the undisturbed ones. When all rows
// are tried, a story ends with the last stage that has so many; else those of a shorter stage begin anew. missed counts
// stages that had fewer acts.
func playStory(t *testing.T, stages []stage, want []ended, row int, missed *atomic.Int64) (out []ended) {
	w := newWorld(t, 0)
	last := len(stages) - 1
	for want != nil && *every == 1 && row >= 2*want[last].acts {
		last--
	}
	for i, stage := range stages[:last+1] {
		mark, acts, deaths := w.Azure.MarkRequests(), w.manager.CountCalls(), w.deaths
		if want != nil {
			row := row % (2 * want[i].acts)
			w.manager.KillIn(row%want[i].acts+1, row < want[i].acts)
		}
		stage.play(w)
		w.waitUntilStable()
		end := ended{State: w.ReadState(), Writes: w.countAccepted(mark), acts: w.manager.CountCalls() - acts}
		if want == nil {
			out = append(out, end)
			continue
		}
		w.manager.KillIn(0, false)
		for _, difference := range want[i].State.ListDifferences(end.State) {
			t.Errorf("%s: %s", stage.name, difference)
		}
		if diff := cmp.Diff(want[i].Writes, end.Writes); diff != "" {
			t.Errorf("%s: accepted requests (-undisturbed +killed):\n%s", stage.name, diff)
		}
		if w.deaths == deaths {
			missed.Add(1)
		}
		if t.Failed() {
			break
		}
	}
	return out
}
