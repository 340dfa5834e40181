package rollout_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
)

// parseVMs are VMs by a word each: letters are n(ew), o(ld model), r(eady), b(roken), m(arked), h(eld), l(eaving), f(ree), d(eleting). Their
// IDs are a, b and so on, in the order in which they were made.
func parseVMs(words string) []rollout.Instance {
	var out []rollout.Instance
	for i, word := range strings.Fields(words) {
		has := func(letter string) bool { return strings.Contains(word, letter) }
		out = append(out, rollout.Instance{
			ID: string(rune('a' + i)), Created: time.Unix(int64(i), 0), Outdated: has("o"), Ready: has("r"), Broken: has("b"), Marked: has("m"),
			Paused:          has("h"),
			MachineDeleting: has("l"), Drained: has("f"), Deleting: has("d"),
		})
	}
	return out
}

// describeActions returns actions as text, as in "retire a b, delete c, capacity 4".
func describeActions(actions rollout.Actions) string {
	var out []string
	if len(actions.Retire) > 0 {
		out = append(out, "retire "+strings.Join(actions.Retire, " "))
	}
	if len(actions.Delete) > 0 {
		out = append(out, "delete "+strings.Join(actions.Delete, " "))
	}
	if len(actions.Upgrade) > 0 {
		out = append(out, "upgrade "+strings.Join(actions.Upgrade, " "))
	}
	if actions.Capacity != nil {
		out = append(out, "capacity "+strconv.Itoa(*actions.Capacity))
	}
	if actions.HoldTemplate {
		out = append(out, "hold")
	}
	return strings.Join(out, ", ")
}

func TestDecide(t *testing.T) {
	type seen = rollout.Observed
	surge := rollout.Limits{MaxSurge: 1}
	unavailable := rollout.Limits{MaxUnavailable: 1}
	tests := map[string]struct {
		reason   string
		limits   rollout.Limits
		replicas int
		policy   rollout.Policy
		vms      string
		seen     seen
		want     string
	}{
		"in order":   {"a quiet pool", surge, 3, "", "nr nr nr", seen{Capacity: 3}, ""},
		"made":       {"a pool that is new gets its VMs", surge, 3, "", "", seen{}, "capacity 3"},
		"being made": {"Azure's operation is running", surge, 3, "", "nr", seen{Capacity: 3, Updating: true}, ""},
		"given up":   {"VMs that Azure could not create are requested again", surge, 3, "", "nr", seen{Capacity: 3}, "capacity 3"},
		"given up and unwanted": {"the size becomes the number of existing VMs, so that none is added later", surge, 1, "", "nr",
			seen{Capacity: 3},
			"capacity 1"},
		"template kept": {"VMs that come would be no better", surge, 3, "", "or or or", seen{Capacity: 3, Outdated: true, TemplateKept: true}, ""},
		"template kept, larger": {"VMs of the former template are added", surge, 4, "", "or or or",
			seen{Capacity: 3, Outdated: true, TemplateKept: true}, "capacity 4"},
		"template kept, smaller": {"the oldest goes", surge, 2, rollout.Oldest, "or or or", seen{Capacity: 3, Outdated: true, TemplateKept: true}, "retire a"},
		"template kept, broken":  {"a VM of the former template replaces it", surge, 3, "", "or ob or", seen{Capacity: 3, Outdated: true, TemplateKept: true}, "retire b, capacity 4"},
		"surge":                  {"one more comes before one goes", surge, 3, "", "or or or", seen{Capacity: 3}, "capacity 4"},
		"surge coming":           {"it does not exist yet", surge, 3, "", "or or or", seen{Capacity: 4, Updating: true}, ""},
		"surge not ready":        {"its node is not Ready yet", surge, 3, "", "or or or n", seen{Capacity: 4}, ""},
		"surge ready":            {"the oldest goes", surge, 3, rollout.Oldest, "or or or nr", seen{Capacity: 4}, "retire a"},
		"surge ready, newest": {"the newest of the old ones goes", surge, 3, rollout.Newest, "or or or nr", seen{Capacity: 4},
			"retire c"},
		"drained":  {"nothing holds it any more", surge, 3, "", "orlf or or nr", seen{Capacity: 4}, "delete a"},
		"draining": {"Cluster API decides when", surge, 3, "", "orl or or nr", seen{Capacity: 4}, ""},
		"being deleted": {"it counts until it is gone, as it takes quota", surge, 3, "", "orlfd or or nr", seen{Capacity: 3},
			""},
		"next one": {"the next one comes", surge, 3, "", "or or nr", seen{Capacity: 3}, "capacity 4"},
		"last one": {"nothing has to come for the last that goes", surge, 3, "", "or nr nr nr", seen{Capacity: 4},
			"retire a"},
		"unavailable":         {"one goes first", unavailable, 3, "", "or or or", seen{Capacity: 3}, "retire a"},
		"unavailable already": {"one is not Ready, so no other one goes", unavailable, 3, "", "or or n", seen{Capacity: 3}, ""},
		"not ready and old":   {"it goes before one that is Ready", unavailable, 3, "", "or or o", seen{Capacity: 3}, "retire c"},
		"none ready": {"nodes may all come back in a minute: they go one after the other", unavailable, 3, "", "o o o",
			seen{Capacity: 3}, "retire a"},
		"refill": {"the one that went is made again", unavailable, 3, "", "or or", seen{Capacity: 2}, "capacity 3"},
		"both": {"room and patience are used at once", rollout.Limits{MaxSurge: 1, MaxUnavailable: 1}, 3, "",
			"or or or", seen{Capacity: 3}, "retire a, capacity 4"},
		"broken": {"it is of no use, and goes at once", surge, 3, "", "nr nr nb", seen{Capacity: 3},
			"retire c, capacity 4"},
		"broken, no room": {"it goes before another one comes", unavailable, 3, "", "nr nr nb", seen{Capacity: 3}, "retire c"},
		"held": {"nothing comes for it, and the next one goes", unavailable, 3, "", "orh or or", seen{Capacity: 3},
			"retire b"},
		"held alone":         {"it is not replaced in any state", surge, 2, "", "orbmh nr", seen{Capacity: 2}, ""},
		"held, and too many": {"the other one is Ready, and one has to be", surge, 1, "", "oh nr", seen{Capacity: 2}, ""},
		"held, one too many": {"another one goes", surge, 2, "", "orh nr nr", seen{Capacity: 3}, "retire b"},
		"held and drained":   {"its VM stays nevertheless", surge, 2, "", "orhlf nr", seen{Capacity: 2}, "capacity 3"},
		"held, all of them":  {"there is nothing to do", surge, 1, "", "oh oh", seen{Capacity: 2}, ""},
		"broken but ready": {"Azure's state of a VM is temporary, and its node works", surge, 3, "", "nr nr nrb", seen{Capacity: 3},
			""},
		"all evicted":           {"all are replaced", surge, 2, "", "nb nb", seen{Capacity: 2}, "retire a b, capacity 3"},
		"marked":                {"a mark alone does nothing", surge, 2, "", "nr nrm", seen{Capacity: 2}, ""},
		"marked, room to spare": {"also where VMs may be unavailable", unavailable, 2, "", "nr nrm", seen{Capacity: 2}, ""},
		"marked, smaller":       {"it is the one that goes, and nothing comes", surge, 1, "", "nr nrm", seen{Capacity: 2}, "retire b"},
		"marked, smaller by two": {"the marked one goes, and the next one by the policy", surge, 1, "", "nr nr nrm", seen{Capacity: 3},
			"retire c a"},
		"two marked, smaller by one": {"one goes, and the other one stays", surge, 2, "", "nr nrm nrm", seen{Capacity: 3}, "retire b"},
		"marked and old, bigger": {"a mark is no reason to be replaced first, age is", surge, 3, "", "or orm nr nr", seen{Capacity: 4},
			"retire a"},
		"marked, smaller, another old": {"the old VM goes: the pool looks like one with a replacement for it", surge, 1,
			"", "or nrm", seen{Capacity: 2}, "retire a"},
		"marked, smaller by two, an old": {"the marked one goes, and the old one as well", surge, 1, "", "or nr nrm", seen{Capacity: 3},
			"retire c a"},
		"marked, smaller, another not up": {"the user has chosen, and its node is drained already", surge, 2, "", "nr n nrm", seen{Capacity: 3},
			"retire c"},
		"marked, smaller, another broken": {"the broken one is replaced at the same time", surge, 2, "", "nr nb nrm", seen{Capacity: 3},
			"retire c b"},
		"marked, one more for an old one": {"the new one replaces the old one, so the pool does not get smaller", surge, 2, "",
			"or nr nrm", seen{Capacity: 3}, "retire a"},
		"marked, smaller while rolling": {"the marked one goes, and the old one as well", surge, 2, "", "or nr nr nrm", seen{Capacity: 4},
			"retire d a"},
		"marked and held, smaller": {"a paused VM stays, and another one goes", surge, 1, "", "nr nrmh", seen{Capacity: 2}, "retire a"},
		"marked, model refused, smaller": {"the pool can still be made smaller", surge, 1, "", "or orm", seen{Capacity: 2, Outdated: true},
			"retire b"},
		"marked, smaller, already leaving": {"the other one that goes makes the pool small enough", surge, 1, "", "nrl nrm", seen{Capacity: 2},
			""},
		"smaller":                {"the oldest goes", surge, 2, rollout.Oldest, "nr nr nr", seen{Capacity: 3}, "retire a"},
		"smaller, newest":        {"the newest goes", surge, 2, rollout.Newest, "nr nr nr", seen{Capacity: 3}, "retire c"},
		"smaller, one not ready": {"it goes before those that work", surge, 2, "", "nr nr n", seen{Capacity: 3}, "retire c"},
		"smaller, two not ready": {"the one that is Ready stays", surge, 1, "", "n nr n", seen{Capacity: 3}, "retire a c"},
		"smaller while rolling":  {"old ones go before new ones", surge, 2, "", "or or nr nr", seen{Capacity: 4}, "retire a b"},
		"smaller, size not reached": {"VMs in creation count, and no existing one is too many yet", surge, 2, "", "nr",
			seen{Capacity: 2, Updating: true}, ""},
		"bigger":               {"all at once", surge, 5, "", "nr nr", seen{Capacity: 2}, "capacity 5"},
		"bigger while rolling": {"with the surge", surge, 4, "", "or or", seen{Capacity: 2}, "capacity 5"},
		"to none":              {"all go", surge, 0, "", "nr nr", seen{Capacity: 2}, "retire a b"},
		"stale": {"a state from before the last write leads to no action", surge, 3, "", "or or or nr",
			seen{Capacity: 4, Stale: true}, ""},
		"model not stored": {"new VMs would be of the old model", surge, 3, "", "or or or", seen{Capacity: 3, Outdated: true},
			""},
		"model refused, smaller": {"the pool can still be made smaller", surge, 1, "", "or or", seen{Capacity: 2, Outdated: true},
			"retire a"},
		"model refused, bigger": {"the pool can still be made bigger",
			surge, 3, "", "or or", seen{Capacity: 2, Outdated: true}, "capacity 3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.policy == "" {
				test.policy = rollout.Oldest
			}
			test.seen.Instances = parseVMs(test.vms)
			before := cmp.Diff(nil, test.seen)
			got := rollout.DecideActions(rollout.Spec{Limits: test.limits, Replicas: test.replicas, Policy: test.policy}, test.seen)
			if diff := cmp.Diff(test.want, describeActions(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if after := cmp.Diff(nil, test.seen); before != after {
				t.Errorf("the input was changed:\n%s", after)
			}
		})
	}
}

// TestAutoscalerOwnsTheSize lets an autoscaler own the size; it expects that only VMs that others deleted go.
func TestAutoscalerOwnsTheSize(t *testing.T) {
	spec := rollout.Spec{Limits: rollout.Limits{MaxSurge: 1, MaxUnavailable: 1}, Replicas: 3, Policy: rollout.Oldest, ScaledByAutoscaler: true}
	if got := describeActions(rollout.DecideActions(spec,
		rollout.Observed{Capacity: 5, Instances: parseVMs("or or nb nr orlf")})); got != "delete e" {
		t.Errorf("got %q", got)
	}
}

func TestResolve(t *testing.T) {
	percent := func(text string) *intstr.IntOrString { return new(intstr.FromString(text)) }
	number := func(n int) *intstr.IntOrString { return new(intstr.FromInt32(int32(n))) }
	tests := map[string]struct {
		reason             string
		surge, unavailable *intstr.IntOrString
		replicas           int
		want               rollout.Limits
		err                string
	}{
		"nothing": {"the defaults of the API", nil, nil, 3, rollout.Limits{MaxSurge: 1}, ""},
		"numbers": {"as they are", number(2), number(1), 3, rollout.Limits{MaxSurge: 2, MaxUnavailable: 1}, ""},
		"percentages": {"up for maxSurge, down for maxUnavailable", percent("25%"), percent("45%"), 3,
			rollout.Limits{MaxSurge: 1, MaxUnavailable: 1}, ""},
		"rounded to none": {"30 % of 3 VMs is none", number(1), percent("30%"), 3, rollout.Limits{MaxSurge: 1}, ""},
		"nothing left":    {"without that no VM could ever be replaced", percent("0%"), percent("30%"), 3, rollout.Limits{MaxUnavailable: 1}, ""},
		"more than there": {"no more can be unavailable than there are", number(0), number(9), 2, rollout.Limits{MaxUnavailable: 2}, ""},
		"no VMs":          {"a pool of none", percent("25%"), percent("25%"), 0, rollout.Limits{}, ""},
		"no percentage": {"the field is named", percent("many"), nil, 3, rollout.Limits{},
			`maxSurge "many": write a number, or a percentage such as 25%`},
		"negative": {"the field is named", nil, number(-1), 3, rollout.Limits{}, `maxUnavailable "-1": write a number from 0`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := rollout.ResolveLimits(test.surge, test.unavailable, test.replicas)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v, want %q", test.reason, err, test.err)
			}
		})
	}
}
