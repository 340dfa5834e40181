package command

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

func TestTreeLines(t *testing.T) {
	root := &workload.Object{Kind: "Cluster", Name: "c", Status: "Provisioning", Children: []*workload.Object{
		{Kind: "AzureCluster", Name: "c", Status: "ready", Ready: true},
		{Kind: "MachineDeployment", Name: "d", Status: "0 of 1 ready", Children: []*workload.Object{{Kind: "Machine", Name: "m", Status: "Pending"}}},
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
