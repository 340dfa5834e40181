package deletion_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runCommand runs a command in a shell and returns the programs that it runs, with their arguments in brackets. listed is the
// output of az list.
func runCommand(t *testing.T, command, listed string) []string {
	t.Helper()
	folder := t.TempDir()
	log := filepath.Join(folder, "log")
	script := "#!/bin/sh\n{ printf '%s' \"$(basename \"$0\")\"; for word; do printf ' [%s]' \"$word\"; done; echo; } " +
		">>" + log + "\ncase \"$*\" in *' list '*) printf '%s' \"$LISTED\";; esac\n"
	for _, name := range []string{"az", "kubectl"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	shell := exec.Command("sh", "-c", command)
	shell.Env = []string{"PATH=" + folder + ":/usr/bin:/bin", "LISTED=" + listed}
	if out, err := shell.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s\n%v %s", command, err, out)
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// TestCommandCanBePasted runs the command of the last way out: it names all that is left, whatever the names are, and ends with the object.
func TestCommandCanBePasted(t *testing.T) {
	const (
		group   = "/subscriptions/s/resourceGroups/rg"
		network = group + "/providers/Microsoft.Network/"
		patch   = `kubectl [patch] [-n] [ns] [azuremachine/m] [--type=merge] [-p] [{"metadata":{"finalizers":[]}}]`
	)
	refused := &arm.Error{Status: 409, Code: "ScopeLocked"}
	left := func(ids ...string) (out arm.Outcome) {
		for _, id := range ids {
			out.Results = append(out.Results, arm.Result{ID: arm.ID(id), State: arm.Failed, Err: refused})
		}
		return out
	}
	many := make([]string, 0, 60)
	for i := range 60 {
		many = append(many, fmt.Sprintf(network+"networkInterfaces/n%d", i))
	}
	for name, test := range map[string]struct {
		reason  string
		outcome arm.Outcome
		change  func(*deletion.Blocker)
		want    []string
	}{
		"resources": {"each is named", left(network+"networkInterfaces/a", network+"publicIPAddresses/b"), nil,
			[]string{"az [resource] [delete] [--ids] [" + network + "networkInterfaces/a] [" + network + "publicIPAddresses/b]", patch}},
		"in a group of the user's": {"the group stays",
			arm.Outcome{Results: []arm.Result{{ID: group, State: arm.Foreign},
				{ID: network + "publicIPAddresses/b", State: arm.Failed, Err: refused}}}, nil,
			[]string{"az [resource] [delete] [--ids] [" + network + "publicIPAddresses/b]", patch}},
		"group of the cluster": {"its resources are deleted with it", left(group, network+"publicIPAddresses/b"), nil,
			[]string{"az [group] [delete] [--subscription] [s] [--yes] [--name] [rg]", patch}},
		"child": {"it goes with its parent", left(network+"virtualNetworks/v/subnets/a", network+"virtualNetworks/v"), nil,
			[]string{"az [resource] [delete] [--ids] [" + network + "virtualNetworks/v]", patch}},
		"special characters": {"a shell does nothing with them",
			left("/subscriptions/s/resourceGroups/r(1)/providers/Microsoft.Network/publicIPAddresses/b", network+"publicIPAddresses/$(az login)'"),
			nil,
			[]string{"az [resource] [delete] [--ids] [/subscriptions/s/resourceGroups/r(1)/providers/Microsoft.Network/publicIPAddresses/b] " +
				"[" + network + "publicIPAddresses/$(az login)']", patch}},
		"undecided": {"resources that may belong to others are in no command", arm.Outcome{Results: []arm.Result{
			{ID: network + "publicIPAddresses/a", State: arm.Failed, Err: &arm.Error{Status: 200, Code: "OwnershipTagLost"}},
			{ID: network + "publicIPAddresses/b", State: arm.Failed, Err: refused}}}, nil,
			[]string{"az [resource] [delete] [--ids] [" + network + "publicIPAddresses/b]", patch}},
		"many": {"their tag and names select them", left(many...), nil,
			[]string{"az [resource] [list] [--subscription] [s] [--tag] [owner=ns/c/1] [--query] [[?contains(['m'], name)].id] [--output] [tsv]",
				"az [resource] [delete] [--ids] [/x]", "az [resource] [delete] [--ids] [/y]", patch}},
		"many, of the cluster": {"all that has the tag is the cluster's", left(many...),
			func(h *deletion.Blocker) { h.OwnsAllTagged, h.Subscription = true, "" },
			[]string{"az [group] [list] [--tag] [owner=ns/c/1] [--query] [[].name] [--output] [tsv]", "az [group] [delete] [--yes] [--name] [/x]",
				"az [group] [delete] [--yes] [--name] [/y]",
				"az [resource] [list] [--tag] [owner=ns/c/1] [--query] [[].id] [--output] [tsv]", "az [resource] [delete] [--ids] [/x]",
				"az [resource] [delete] [--ids] [/y]", patch}},
		"names in annotations": {"texts that are no names in Azure are in no command", left(many...),
			func(h *deletion.Blocker) { h.ResourceNames = []string{"a", "$(az login)", "'] || ['", "a"} },
			[]string{"az [resource] [list] [--subscription] [s] [--tag] [owner=ns/c/1] [--query] [[?contains(['a'], name)].id] [--output] [tsv]",
				"az [resource] [delete] [--ids] [/x]", "az [resource] [delete] [--ids] [/y]", patch}},
		"agent pool": {"its parent carries the tag", left(many...), func(h *deletion.Blocker) { h.ChildPath = "agentPools/p" },
			[]string{"az [resource] [list] [--subscription] [s] [--tag] [owner=ns/c/1] [--query] [[?contains(['m'], name)].id] [--output] [tsv]",
				"az [resource] [delete] [--ids] [/x/agentPools/p]", "az [resource] [delete] [--ids] [/y/agentPools/p]", patch}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newBlocker(infrav1.MachineFinalizer)
			if test.change != nil {
				test.change(&h)
			}
			machine := h.Object.(*infrav1.AzureMachine)
			machine.SetConditions([]metav1.Condition{{Type: infrav1.ReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.FailedReason}})
			h.AddWaysOut(machine, test.outcome)
			message := conditions.Get(machine, infrav1.ReadyCondition).Message
			_, command, found := strings.Cut(message, "remove the finalizers: ")
			if !found || strings.Contains(message, "resource group") || strings.Contains(command, "more") {
				t.Fatalf("%s: %s", test.reason, message)
			}
			if diff := cmp.Diff(test.want, runCommand(t, command, "/x\n/y\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
