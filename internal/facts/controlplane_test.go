package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func TestClusterControlPlaneZones(t *testing.T) {
	tests := map[string]struct {
		reason string
		size   string
		want   []string
	}{
		"no template":   {"the size is not known", "", nil},
		"all zones":     {"as the catalog has it", "Standard_D2s_v5", []string{"1", "2", "3"}},
		"one zone":      {"zones that the subscription may not use do not count", "Standard_D4s_v5", []string{"1"}},
		"other casing":  {"Azure compares the names of sizes so", "standard_d4S_V5", []string{"1"}},
		"no zone":       {"the subscription may not use the size at all", "Standard_NC6", nil},
		"unknown size":  {"the machine reports it, not the cluster", "Standard_D4s_v99", nil},
		"size of disks": {"only rows of VM sizes count", "Premium_LRS", nil},
	}
	a := newFakeAzure(regionBodies)
	f, caller := New(Options{}), newCaller(t, a, "p")
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := clusterInput(nil)
			in.ControlPlaneSize = test.size
			got, err := waitForClusterFacts(f, caller, in)
			if err != nil {
				t.Fatal(err)
			}
			want := plan.ClusterFacts{Zones: []string{"1", "2", "3"}, ControlPlaneZones: test.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
	if asked := a.countRequests(skusPath); asked != 1 {
		t.Errorf("the catalog was asked for %d times; sizes are looked up in memory", asked)
	}
}
