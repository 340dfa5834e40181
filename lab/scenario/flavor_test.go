package scenario

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// quiet is how long a cluster that is Ready is watched.
const quiet = 30 * time.Second

// TestDefaultFlavor is the story of the README: five Ready nodes, nothing written when nothing changes, workers come
// and go, one that was stopped from outside is replaced, and the deleted cluster leaves nothing in Azure.
func TestDefaultFlavor(t *testing.T) {
	l := takeLab(t)
	l.startLab("--cluster-name", "demo")
	kubeconfig := l.workloadKubeconfig("demo")
	l.awaitNodes("demo", kubeconfig, 5)
	l.expectQuiet()

	l.scaleWorkers("demo", kubeconfig, 4, 7)
	l.scaleWorkers("demo", kubeconfig, 1, 4)
	l.expectReplaced("demo", kubeconfig, 4)
	l.expectMachinesOnly()

	l.deleteCluster("demo")
	l.expectNothingLeft()
	// The end of each story checks these.
	if steps := objectSteps(l.auditedRequests()); len(steps) == 0 {
		t.Error("the audit log has no object that the manager wrote")
	}
}

// expectQuiet watches the request log of a cluster that is Ready: no write, and few reads.
func (l *lab) expectQuiet() {
	l.t.Helper()
	before := len(l.listRequests())
	l.checkThroughout(quiet, func() error {
		for _, r := range l.listRequests()[before:] {
			if r.isWrite() {
				return fmt.Errorf("%s %s (%d) although nothing has changed since the cluster was Ready", r.Method, r.URL, r.Status)
			}
		}
		return nil
	})
	reads := 0
	for _, r := range l.listRequests()[before:] {
		if r.Method == http.MethodGet && strings.HasPrefix(r.resourceID(), "/subscriptions/") {
			reads++
		}
	}
	l.t.Logf("%d reads and no write in %s after Ready", reads, quiet)
	// One look at every resource of the cluster is allowed, with a resync that happens to fall into the time.
	if most := 2 * len(l.listResources()); reads > most {
		l.t.Errorf("%d reads in %s after Ready, want at most %d", reads, quiet, most)
	}
}

// expectMachinesOnly compares the resources in Azure with the machines of the management cluster: one VM, one network
// interface and one OS disk each, and nothing else of these types.
func (l *lab) expectMachinesOnly() {
	l.t.Helper()
	var machines, interfaces, disks []string
	for line := range strings.Lines(l.runProgram("kubectl", "get", "azuremachines", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.spec.dataDisks[*].nameSuffix}{"\n"}{end}`)) {
		words := strings.Fields(line)
		machines = append(machines, words[0])
		interfaces = append(interfaces, words[0]+"-nic")
		disks = append(disks, words[0]+"_osdisk")
		for _, suffix := range words[1:] {
			disks = append(disks, words[0]+"_"+suffix)
		}
	}
	slices.Sort(machines)
	slices.Sort(interfaces)
	slices.Sort(disks)
	var virtualMachines, networkInterfaces, managedDisks []string
	l.eventually("virtual machines, network interfaces and disks of the machines alone", func() (bool, string) {
		there := l.listResources()
		virtualMachines = namesOf(there, "microsoft.compute/virtualmachines")
		networkInterfaces = namesOf(there, "microsoft.network/networkinterfaces")
		managedDisks = namesOf(there, "microsoft.compute/disks")
		return slices.Equal(virtualMachines, machines) && slices.Equal(networkInterfaces, interfaces) && slices.Equal(managedDisks, disks),
			fmt.Sprintf("virtual machines %v, want %v\nnetwork interfaces %v, want %v\ndisks %v, want %v",
				virtualMachines, machines, networkInterfaces, interfaces, managedDisks, disks)
	})
}

// deleteCluster deletes the cluster with kubectl, which waits until it is gone.
func (l *lab) deleteCluster(name string) {
	l.t.Helper()
	begin := time.Now()
	l.runProgram("kubectl", "delete", "cluster", name, "--timeout", patience.String())
	l.t.Logf("deleted after %.0f s", time.Since(begin).Seconds())
	if rest := l.runProgram("kubectl", "get", "azureclusters,azuremachines,machines,secrets", "-o", "name", "-l",
		"cluster.x-k8s.io/cluster-name="+name); strings.TrimSpace(rest) != "" {
		l.t.Errorf("left in the management cluster:\n%s", rest)
	}
}
