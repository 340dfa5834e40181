package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// newForwardingNode returns the node of a CreateOnly interface, with a value that can change on both sides.
func newForwardingNode(on bool) arm.Node {
	node := nicNode()
	properties := node.Body.(object)["properties"].(object)
	properties["enableIPForwarding"] = on
	properties["dnsSettings"] = object{"dnsServers": []string{"10.0.0.4"}}
	return node
}

const (
	forwardingPath = "properties.enableIPForwarding"
	serversPath    = "properties.dnsSettings.dnsServers"
)

// TestDriftOrigin distinguishes changes in Azure from changes of the plan, and reports neither if the origin is unknown.
func TestDriftOrigin(t *testing.T) {
	azure := func(properties object) func(w *world) {
		return func(w *world) {
			w.addFault(fault.Rule{Now: true, ID: string(nic), Kind: fault.Edit, Patch: object{"properties": properties}})
		}
	}
	restart := func(w *world) { w.restartEngine() }
	// look converges with the unchanged plan.
	type look struct{}
	type found struct{ Drift, Outside, Unapplied []string }
	tests := map[string]struct {
		reason string
		// steps follow the creation of the interface with forwarding off: a change in Azure, a look, or a new plan.
		steps []any
		want  found
	}{
		"in Azure": {
			reason: "the desired value is unchanged, so Azure's changed",
			steps:  []any{azure(object{"enableIPForwarding": true})},
			want:   found{Drift: []string{forwardingPath}, Outside: []string{forwardingPath}},
		},
		"in the plan": {
			reason: "Azure has the value that was sent, so the plan changed",
			steps:  []any{true},
			want:   found{Drift: []string{forwardingPath}, Unapplied: []string{forwardingPath}},
		},
		"in both, elsewhere": {
			reason: "each path has its own cause",
			steps:  []any{true, azure(object{"dnsSettings": object{"dnsServers": []any{"9.9.9.9"}}})},
			want: found{Drift: []string{serversPath, forwardingPath}, Outside: []string{serversPath},
				Unapplied: []string{forwardingPath}},
		},
		"in the plan, after another convergence": {
			reason: "a difference is reported each time",
			steps:  []any{true, look{}, look{}},
			want:   found{Drift: []string{forwardingPath}, Unapplied: []string{forwardingPath}},
		},
		"between convergences": {
			reason: "the sent value is not known, and either side may have changed",
			steps:  []any{restart, azure(object{"enableIPForwarding": true})},
			want:   found{Drift: []string{forwardingPath}},
		},
		"after a restart": {
			reason: "the state after the restart is known",
			steps:  []any{restart, look{}, azure(object{"enableIPForwarding": true})},
			want:   found{Drift: []string{forwardingPath}, Outside: []string{forwardingPath}},
		},
		"in the plan after a restart": {
			reason: "as above",
			steps:  []any{restart, look{}, true},
			want:   found{Drift: []string{forwardingPath}, Unapplied: []string{forwardingPath}},
		},
		"another one beside an unknown one": {
			reason: "differences of the first read do not affect later ones",
			steps:  []any{restart, true, look{}, azure(object{"dnsSettings": object{"dnsServers": []any{"9.9.9.9"}}})},
			want:   found{Drift: []string{serversPath, forwardingPath}, Outside: []string{serversPath}},
		},
		"followed": {
			reason: "the change from outside matches the plan, and so does its reversal",
			steps:  []any{true, azure(object{"enableIPForwarding": true}), look{}, azure(object{"enableIPForwarding": false})},
			want:   found{Drift: []string{forwardingPath}, Outside: []string{forwardingPath}},
		},
		"taken back": {
			reason: "no difference is left",
			steps:  []any{true, look{}, false},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, request := worldWith(t, append(networkNodes(), newForwardingNode(false))...)
			see := func() arm.Result {
				w.advanceClock(time.Hour)
				return findResult(t, w.convergeUntilDone(request, time.Minute), nic)
			}
			see()
			for _, step := range test.steps {
				switch step := step.(type) {
				case bool:
					request.Graph = w.newRequest(append(networkNodes(), newForwardingNode(step))...).Graph
				case func(*world):
					step(w)
				case look:
					see()
				}
			}
			last := see()
			if diff := cmp.Diff(test.want, found{last.Drift, last.OutsideChanges, last.UnappliedChanges}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if writes := w.listWrites(); last.State != arm.Ready || len(writes) > 0 {
				t.Errorf("no write is needed, and drift is no failure: %s, wrote %v", last.State, writes)
			}
		})
	}
}

// TestNormalisationIsNoDrift lets Azure store another value than the one sent; it expects that this is no drift, and is not reported when
// the plan changes elsewhere.
func TestNormalisationIsNoDrift(t *testing.T) {
	w := newWorld(t)
	w.addFault(fault.Rule{Method: "GET", ID: nic.Key(), Count: -1, Kind: fault.Edit,
		Patch: object{"properties": object{"dnsSettings": object{"dnsServers": []any{"10.0.0.5"}}}}})
	request := w.newRequest(append(networkNodes(), newForwardingNode(false))...)
	if outcome := w.convergeUntilDone(request, 10*time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	request.BypassCache = true
	for _, step := range []struct {
		forwarding bool
		after      time.Duration
		want       []string
	}{{after: time.Second}, {after: time.Hour}, {true, time.Hour, []string{forwardingPath}}, {false, time.Hour, nil}} {
		request.Graph = w.newRequest(append(networkNodes(), newForwardingNode(step.forwarding))...).Graph
		w.advanceClock(step.after)
		got := findResult(t, w.convergeUntilDone(request, time.Minute), nic)
		if !cmp.Equal(step.want, got.Drift) || !cmp.Equal(step.want, got.UnappliedChanges) || got.OutsideChanges != nil {
			t.Errorf("forwarding %t after %s: drift %v, outside %v, unapplied %v", step.forwarding, step.after, got.Drift,
				got.OutsideChanges, got.UnappliedChanges)
		}
	}
	if writes := w.listWrites(); len(writes) != 6 {
		t.Errorf("one write for each resource: %v", writes)
	}
}
