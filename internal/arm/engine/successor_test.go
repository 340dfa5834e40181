package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// ruleNode returns a security rule with a node of its own, as resource manifests have.
func ruleNode(name string, priority int, port string) arm.Node {
	return arm.Node{ID: nsg.Child("securityRules", name), Policy: arm.Repair,
		Body: object{"properties": object{"priority": priority, "direction": "Inbound", "access": "Allow",
			"protocol": "Tcp", "sourceAddressPrefix": "*", "sourcePortRange": "*", "destinationAddressPrefix": "*",
			"destinationPortRange": port}}}
}

// TestSuccessorOfARemovedResource replaces one rule by another.
func TestSuccessorOfARemovedResource(t *testing.T) {
	const path = " rg networkSecurityGroups/nsg/securityRules/"
	for name, test := range map[string]struct {
		reason string
		next   arm.Node
		writes []string
		within time.Duration
	}{
		"beside": {"the new rule is in place before the old one is deleted", ruleNode("new", 301, "443"),
			[]string{"PUT" + path + "new", "DELETE" + path + "old"}, 10 * time.Second},
		"in conflict": {"the old rule holds the priority of the new one, which is sent again as soon as the old one is gone",
			ruleNode("new", 300, "443"),
			[]string{"PUT" + path + "new", "DELETE" + path + "old", "PUT" + path + "new"}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			group := networkNodes()[2]
			w, _ := worldWith(t, networkNodes()...)
			before := w.newRequest(append(networkNodes(), ruleNode("old", 300, "443"))...)
			if outcome := w.convergeUntilDone(before, time.Minute); !outcome.IsDone() {
				t.Fatalf("%+v", outcome.RootCauses())
			}
			_ = w.listWrites()
			request := w.newRequest(append(networkNodes(), test.next)...)
			request.Prune = []arm.ID{group.ID.Child("securityRules", "old")}
			begin := w.clock.Now()
			if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
				t.Fatalf("%+v", outcome.RootCauses())
			}
			if took := w.clock.Now().Sub(begin); took > test.within {
				t.Errorf("%s: took %s, want at most %s", test.reason, took, test.within)
			}
			if diff := cmp.Diff(test.writes, w.listWrites()); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}
