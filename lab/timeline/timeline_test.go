package timeline

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
	"sigs.k8s.io/cluster-api-provider-azure/sim/schedule"
)

const group = "/subscriptions/s/resourceGroups/demo"

var begin = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func timeAt(seconds float64) time.Time {
	return begin.Add(time.Duration(seconds * float64(time.Second)))
}

func putRequest(seconds float64, id string, ms int64, operation string) schedule.Request {
	return schedule.Request{Time: timeAt(seconds), Method: "PUT", URL: id + "?api-version=1", Status: 201, DurationMs: ms,
		OperationID: operation}
}

// sampleTimeline returns a group, then a network and an address side by side, then a gateway that needs the address, then a subnet
// that needs the network and the gateway.
func sampleTimeline() *Timeline {
	network, address := group+"/providers/Microsoft.Network/virtualNetworks/v", group+"/providers/Microsoft.Network/publicIPAddresses/p"
	gateway, subnet := group+"/providers/Microsoft.Network/natGateways/g", network+"/subnets/n"
	state := map[string]any{"resources": []any{
		map[string]any{"id": group},
		map[string]any{"id": network, "properties": map[string]any{"subnets": []any{map[string]any{"id": subnet, "name": "n"}}}},
		map[string]any{"id": address, "properties": map[string]any{"natGateway": map[string]any{"id": gateway}}},
		map[string]any{"id": gateway, "properties": map[string]any{
			"publicIpAddresses": []any{map[string]any{"id": strings.ToUpper(address)}},
			"subnets":           []any{map[string]any{"id": subnet}},
		}},
		map[string]any{"id": subnet, "properties": map[string]any{"natGateway": map[string]any{"id": gateway}}},
	}}
	requests := []schedule.Request{
		putRequest(0.5, group, 500, ""),
		putRequest(1, network, 10, "op-v"), // until 3
		putRequest(1, address, 10, "op-p"), // until 2
		{Time: timeAt(1.5), Method: "GET", URL: network, Status: 200},
		putRequest(2, gateway, 10, "op-g"), // until 5
		putRequest(5, subnet, 10, "op-n"),  // until 6
		putRequest(5, group+"/providers/Microsoft.Network/refused/r", 10, ""),
		{Time: timeAt(9), Method: "GET", URL: network, Status: 200},
		{Time: timeAt(9), Method: "POST",
			URL: group + "/providers/Microsoft.ContainerService/managedClusters/m/listClusterAdminCredential?api-version=1", Status: 200},
		putRequest(1, "/subscriptions/s/resourceGroups/other/providers/A/b/c", 9000, ""),
	}
	requests[6].Status = 409
	operations := []schedule.Operation{
		{ID: "op-v", Ended: timeAt(3), Status: "Succeeded"}, {ID: "op-p", Ended: timeAt(2), Status: "Succeeded"},
		{ID: "op-g", Ended: timeAt(5), Status: "Succeeded"}, {ID: "op-n", Ended: timeAt(6), Status: "Succeeded"},
	}
	times := workload.Times{Applied: begin, Provisioned: timeAt(7), Ready: timeAt(8)}
	return BuildTimeline(times, []string{"demo"}, requests, operations, schedule.FindReferences(state), nil)
}

func TestBuild(t *testing.T) {
	line := sampleTimeline()
	got := map[string]string{}
	for _, w := range line.Writes {
		after := "nothing"
		if w.After != nil {
			after = schedule.ShortenID(w.After.ID)
		}
		got[schedule.ShortenID(w.ID)] = after
	}
	want := map[string]string{
		"resourceGroups/demo":         "nothing",
		"virtualnetworks/v":           "resourceGroups/demo",
		"publicipaddresses/p":         "resourceGroups/demo",
		"natgateways/g":               "publicipaddresses/p",
		"virtualnetworks/v/subnets/n": "natgateways/g",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what writes waited for (-want +got):\n%s", diff)
	}
	if line.Reads != 3 || line.ReadsAfterReady != 2 || line.WritesAfterReady != 0 {
		t.Errorf("reads %d, after ready %d, writes after ready %d; want 3, 2, 0", line.Reads, line.ReadsAfterReady, line.WritesAfterReady)
	}
}

// TestBoot computes the boot of a virtual machine whose interface exists from second 3 on, and which is written in second 10 and again
// later.
func TestBoot(t *testing.T) {
	network, vm := group+"/providers/Microsoft.Network/networkInterfaces/n", group+"/providers/Microsoft.Compute/virtualMachines/m"
	state := map[string]any{"resources": []any{
		map[string]any{"id": network},
		map[string]any{"id": vm, "properties": map[string]any{"networkProfile": []any{map[string]any{"id": network}}}},
	}}
	requests := []schedule.Request{putRequest(1, network, 2300, ""), putRequest(10.1, vm, 500, ""), putRequest(20, vm, 500, "")}
	for name, tc := range map[string]struct {
		reason string
		data   workload.BootstrapData
		want   string
	}{
		"seen later": {"the machine waited for its data, as workers do", workload.BootstrapData{Created: timeAt(10), Seen: timeAt(10.05)},
			"bootstrap data (0.05 s before)"},
		"seen before": {"the interface came last", workload.BootstrapData{Created: timeAt(3), Seen: timeAt(3.1)},
			"networkinterfaces/n (6.80 s before)"},
		"not seen, later": {"the time of a Secret has whole seconds", workload.BootstrapData{Created: timeAt(7)},
			"bootstrap data (2 to 4 s before)"},
		"not seen, just": {"it was made before the machine was written", workload.BootstrapData{Created: timeAt(10)},
			"bootstrap data (0 to 1 s before)"},
		"not seen, close": {"the order is not known", workload.BootstrapData{Created: timeAt(3)},
			"networkinterfaces/n (6.80 s before) or bootstrap data, in the same second"},
		"not seen, early": {"the data existed a second before the interface", workload.BootstrapData{Created: timeAt(2)},
			"networkinterfaces/n (6.80 s before)"},
		"seen too late": {"a watch may be slow", workload.BootstrapData{Created: timeAt(7), Seen: timeAt(10.2)},
			"bootstrap data (2 to 4 s before)"},
	} {
		line := BuildTimeline(workload.Times{Applied: begin}, []string{"demo"}, requests, nil, schedule.FindReferences(state),
			map[string]workload.BootstrapData{strings.ToLower(vm): tc.data})
		if got := line.waitedFor(line.Writes[1]); got != tc.want {
			t.Errorf("%s: the virtual machine waited for %q, want %q; %s", name, got, tc.want, tc.reason)
		}
		if got, want := line.waitedFor(line.Writes[2]), "virtualmachines/m (9.40 s before)"; got != want {
			t.Errorf("%s: the second write waited for %q, want %q: the machine exists", name, got, want)
		}
	}
}

func TestCriticalPath(t *testing.T) {
	line := sampleTimeline()
	path, sum := line.CriticalPath()
	var names []string
	for _, w := range path {
		names = append(names, schedule.ShortenID(w.ID))
	}
	want := []string{"resourceGroups/demo", "publicipaddresses/p", "natgateways/g", "virtualnetworks/v/subnets/n"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("critical path (-want +got):\n%s", diff)
	}
	if want := 5500 * time.Millisecond; sum != want {
		t.Errorf("critical path takes %v, want %v", sum, want)
	}
	if got, want := line.ComputeOverhead(), 7/5.5; got < want-0.001 || got > want+0.001 {
		t.Errorf("Overhead = %v, want %v", got, want)
	}
}

func TestPrint(t *testing.T) {
	var out bytes.Buffer
	sampleTimeline().Print(&out)
	for _, want := range []string{
		"2.00   5.00  3.00  PUT    natgateways/g",
		"publicipaddresses/p (0.00 s before)",
		"overhead 1.27",
		"0 writes, 2 reads",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the timeline lacks %q:\n%s", want, &out)
		}
	}
}
