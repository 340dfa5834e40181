package command

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

func TestTreeLines(t *testing.T) {
	root := &workload.Object{Kind: "Cluster", Name: "c", Status: "Provisioning", Children: []*workload.Object{
		{Kind: "AzureCluster", Name: "c", Status: "ready", Ready: true},
		{Kind: "MachineDeployment", Name: "d", Status: "0 of 1 ready",
			Children: []*workload.Object{{Kind: "Machine", Name: "m", Status: "Pending"}}},
	}}
	want := []string{
		"· Cluster c: Provisioning",
		"├─✔ AzureCluster c: ready",
		"└─· MachineDeployment d: 0 of 1 ready",
		"  └─· Machine m: Pending",
	}
	if diff := cmp.Diff(want, treeLines(root)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

// growingCluster returns a cluster whose first control-plane machine exists, so Cluster API calls it available.
func growingCluster() *workload.Object {
	machine := func(name string, ready bool) *workload.Object {
		return &workload.Object{Kind: "Machine", Name: name, Status: "Provisioning, waiting", Ready: ready, Children: []*workload.Object{
			{Kind: "AzureMachine", Name: name, Status: "pending, VMRunning: Creating", Ready: ready},
		}}
	}
	return &workload.Object{Kind: "Cluster", Name: "c", Status: "Provisioned", Ready: true, Children: []*workload.Object{
		{Kind: "AzureCluster", Name: "c", Status: "ready", Ready: true},
		{Kind: "KubeadmControlPlane", Name: "c-control-plane", Status: "1 of 3 ready",
			Children: []*workload.Object{machine("m1", true), machine("m2", false)}},
	}}
}

func TestTreeTicksWhatIsComplete(t *testing.T) {
	const want = "· Cluster c: Provisioned"
	if got := treeLines(growingCluster())[0]; got != want {
		t.Errorf("%q, want %q: its control plane is 1 of 3", got, want)
	}
	var out bytes.Buffer
	newScreen(&out).Show(growingCluster(), time.Second)
	if strings.Contains(out.String(), "Cluster c: Provisioned ✔") {
		t.Errorf("the Cluster is ticked although its control plane is 1 of 3:\n%s", &out)
	}
}

func TestLiveScreen(t *testing.T) {
	terminal := newTerminal(t, 80, 24)
	screen := newScreen(terminal.tty)
	if _, ok := screen.(*liveScreen); !ok {
		t.Fatalf("a terminal gets a %T", screen)
	}
	root := growingCluster()
	expect := func(reason string, write func(), want ...string) {
		t.Helper()
		if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(terminal.screenAfter(write), "\n")); diff != "" {
			t.Errorf("%s, on %s (-want +got):\n%s", reason, terminal, diff)
		}
	}
	whole := []string{
		"· Cluster c: Provisioned",
		"├─✔ AzureCluster c: ready",
		"└─· KubeadmControlPlane c-control-plane: 1 of 3 ready",
		"  ├─✔ Machine m1: Provisioning, waiting",
		"  │ └─✔ AzureMachine m1: pending, VMRunning: Creating",
		"  └─· Machine m2: Provisioning, waiting",
		"    └─· AzureMachine m2: pending, VMRunning: Creating",
	}
	above := []string{"lab in /lab", "Cluster c"}
	expect("earlier lines stay above", func() {
		for _, line := range above {
			fmt.Fprintln(terminal.tty, line)
		}
		screen.Show(root, time.Second)
	}, append(above, append([]string{"1 s"}, whole...)...)...)
	expect("the second picture replaces the first", func() { screen.Show(root, 2*time.Second) },
		append(above, append([]string{"2 s"}, whole...)...)...)

	narrow := func(first string) []string {
		return []string{
			first, "· Cluster c: Provisioned", "├─✔ AzureCluster c: ready", "└─· KubeadmControlPlane c-c…", "  ├─✔ Machine m1: Provision…",
			"  │ └─✔ AzureMachine m1: pe…", "  └─· Machine m2: Provision…", "    └─· AzureMachine m2: pe…",
		}
	}
	terminal.resizeTo(29, 24)
	expect("the terminal became narrower", func() { screen.Show(root, 3*time.Second) }, narrow("3 s")...)
	expect("it stays so", func() { screen.Show(root, 4*time.Second) }, narrow("4 s")...)

	terminal.resizeTo(29, 6)
	expect("the terminal became lower", func() { screen.Show(root, 5*time.Second) }, append(narrow("5 s")[:4], "... 4 more")...)
	expect("it stays so", func() { screen.Show(root, 6*time.Second) }, append(narrow("6 s")[:4], "... 4 more")...)

	terminal.resizeTo(80, 6)
	expect("the last picture has all lines, and the terminal its last rows", func() { screen.Close() }, whole[2:]...)

	terminal.resizeTo(4, 1)
	expect("a tiny terminal has no room for the cursor below", func() { screen.Show(root, 7*time.Second) })
}

func TestPlainScreenPrintsChangesOnly(t *testing.T) {
	var out bytes.Buffer
	screen := newScreen(&out)
	machine := &workload.Object{Kind: "Machine", Name: "m", Status: "Pending"}
	root := &workload.Object{Kind: "Cluster", Name: "c", Status: "Provisioning", Children: []*workload.Object{machine}}
	screen.Show(root, time.Second)
	screen.Show(root, 2*time.Second)
	machine.Status, machine.Ready = "Running", true
	screen.Show(root, 3*time.Second)
	screen.Show(nil, 4*time.Second)
	screen.Close()
	want := `   1.0 s  Cluster c: Provisioning
   1.0 s    Machine m: Pending
   3.0 s    Machine m: Running ✔
`
	got := out.String()
	if len(got) < len(want) || got[:len(want)] != want {
		t.Errorf("output:\n%s\nwant it to begin with\n%s", got, want)
	}
	for _, gone := range []string{"   4.0 s  Cluster c: gone\n", "   4.0 s  Machine m: gone\n"} {
		if !bytes.Contains(out.Bytes(), []byte(gone)) {
			t.Errorf("output lacks %q:\n%s", gone, got)
		}
	}
}
