package bench

import (
	"testing"
)

func TestResized(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, scenario          string
		clusters, machines, pools int
		size, fails               string
	}{
		"as it is":    {reason: "no flag is given", scenario: "fleet", size: "200 × 3 machines"},
		"smaller":     {reason: "CI runs it so", scenario: "fleet", clusters: 1, machines: 1, size: "1 × 1 machines"},
		"pools":       {reason: "AKS clusters have pools", scenario: "aks-fleet", clusters: 2, pools: 1, size: "2 × 1 pools"},
		"no pools":    {reason: "these clusters have machines", scenario: "fleet", pools: 1, fails: "--pools 1: the scenario fleet has none"},
		"no machines": {reason: "AKS makes them", scenario: "aks", machines: 1, fails: "--machines 1: the scenario aks has none"},
		"several": {reason: "it becomes Ready as one", scenario: "default", clusters: 2,
			fails: "--clusters 2: the scenario default has one"},
		"less than one": {reason: "a typing error", scenario: "fleet", clusters: -1,
			fails: "--clusters -1, --machines 0, --pools 0: want 1 or more"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := FindScenario(tc.scenario)
			if err != nil {
				t.Fatal(err)
			}
			s, err = s.withSize(tc.clusters, tc.machines, tc.pools)
			switch {
			case tc.fails != "" && (err == nil || err.Error() != tc.fails):
				t.Errorf("%s: error %v, want %s", tc.reason, err, tc.fails)
			case tc.fails == "" && (err != nil || s.Size() != tc.size):
				t.Errorf("%s: %s, %v; want %s", tc.reason, s.Size(), err, tc.size)
			}
		})
	}
}
