package plan_test

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
	"sigs.k8s.io/cluster-api-provider-azure/test/fuzzed"
)

// cases are golden cases that differ most from each other.
var cases = []string{"default", "everything-private", "dual-stack", "brought-network", "machine-brought-network", "machine-confidential"}

// FuzzPlans changes a golden case in one place of the AzureCluster or the AzureMachine, gives the machine any bootstrap data,
// and plans it. A plan that is made can be written down; whatever is refused is refused without a panic.
func FuzzPlans(f *testing.F) {
	clusters, machines := fuzzed.LoadKind(f, "../..", "azureclusters"), fuzzed.LoadKind(f, "../..", "azuremachines")
	var inputs []plan.MachineInput
	for _, name := range cases {
		inputs = append(inputs, readInput(f, name))
	}
	for _, data := range []string{"", "#cloud-config\n", `{"ignition":{"version":"3.0.0"}}`, "\x00", "## template: jinja\n#cloud-config\n"} {
		f.Add(uint8(4), "spec.sshPublicKey", `""`, []byte(data))
	}
	f.Add(uint8(1), "spec.networkSpec.vnet.cidrBlocks.0", `"::/0"`, []byte(nil))
	f.Add(uint8(1), "spec.networkSpec.subnets.0.securityGroup.securityRules.0.name", `" "`, []byte(nil))
	if fuzzed.Fuzzing() {
		// The schemas have a thousand places; to plan each once takes longer than all other tests of the package.
		for i, edits := range map[uint8][]fuzzed.Edit{1: clusters.ListEdits(), 4: machines.ListEdits()} {
			for _, edit := range fuzzed.SelectSeeds(edits) {
				f.Add(i, edit.Path, edit.Value, []byte("#cloud-config\n"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, path, value string, bootstrap []byte) {
		in := inputs[int(which)%len(cases)]
		edit := fuzzed.Edit{Path: path, Value: value}
		if in.AzureMachine == nil {
			c, ok := applyEdit(t, clusters, in.AzureCluster, &infrav1.AzureCluster{}, edit)
			if !ok {
				return
			}
			in.AzureCluster = c
			planCluster(t, in.ClusterInput)
			return
		}
		m, ok := applyEdit(t, machines, in.AzureMachine, &infrav1.AzureMachine{}, edit)
		if !ok {
			return
		}
		in.AzureMachine, in.BootstrapData = m, bootstrap
		planMachine(t, in)
	})
}

// applyEdit returns the object with the change, if the schema and the webhook server take it.
func applyEdit[T client.Object](t *testing.T, kind *fuzzed.Kind, good, into T, edit fuzzed.Edit) (T, bool) {
	t.Helper()
	document, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	raw, ok := kind.ApplyEdit(document, edit)
	return into, ok && maxima.FindHugeQuantity(raw) == "" && json.Unmarshal(raw, into) == nil
}

func planCluster(t *testing.T, in plan.ClusterInput) {
	t.Helper()
	_, _ = cluster.BuildDeletePlan(in)
	if len(append(cluster.UnsupportedFields(in), cluster.CheckSpec(in)...)) > 0 {
		return
	}
	cluster.APIServerEndpoint(in)
	cluster.FailureDomains(in)
	if graph, err := cluster.BuildPlan(in); err == nil {
		for _, node := range graph.Nodes() {
			if _, err := json.Marshal(node.Body); err != nil {
				t.Errorf("the body of %s is not JSON: %v", node.ID, err)
			}
		}
	}
}

func planMachine(t *testing.T, in plan.MachineInput) {
	t.Helper()
	_, _ = machine.BuildDeletePlan(in)
	errs := machine.UnsupportedFields(in)
	if !in.MachineFacts.VMExists {
		errs = append(errs, machine.CheckSpec(in)...)
	}
	if len(errs) > 0 {
		return
	}
	if graph, err := machine.BuildPlan(in); err == nil {
		for _, node := range graph.Nodes() {
			if _, err := json.Marshal(node.Body); err != nil {
				t.Errorf("the body of %s is not JSON: %v", node.ID, err)
			}
		}
	}
}
