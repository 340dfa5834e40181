package scenario

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/properties"
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
	// The check of the properties at the end of each story needs these.
	recorded := l.readLogs()
	if writes, deletes := countKnown(recorded.history().Steps); writes == 0 || deletes == 0 || len(recorded.stable) < 2 {
		t.Errorf("%d writes of the manager to objects whose state before is known, %d deletions of resources in Azure that are known, %d stable moments",
			writes, deletes, len(recorded.stable))
	}
}

// countKnown counts the writes of a manager to objects whose state before is known, and its deletions of resources that the log of changes has.
func countKnown(steps []properties.Step) (writes, deletes int) {
	resources := map[string]bool{}
	for _, step := range steps {
		switch {
		case step.Object != nil && step.Object.ByManager && step.Object.Before != nil:
			writes++
		case step.Resource != nil:
			resources[step.Resource.ID] = true
		case step.Request != nil && step.Request.Method == http.MethodDelete && resources[step.Request.Path]:
			deletes++
		}
	}
	return writes, deletes
}

// awaitEndOfWrites waits until five seconds have passed without a write that is counted. It returns how many requests Azure has got by then.
func (l *lab) awaitEndOfWrites(isCounted func(request) bool) int {
	l.t.Helper()
	requests, writes, since := 0, -1, time.Now()
	l.eventually("the writes have ended", func() (bool, string) {
		all := l.listRequests()
		counted := 0
		for _, r := range all {
			if r.isWrite() && isCounted(r) {
				counted++
			}
		}
		if counted != writes {
			writes, since = counted, time.Now()
		}
		requests = len(all)
		return time.Since(since) > 5*time.Second, fmt.Sprintf("%d writes, the last one after %s", writes, since.Format(time.TimeOnly))
	})
	return requests
}

func isAny(request) bool { return true }

// expectQuiet watches the request log of a cluster that is Ready once the last writes have ended: no write, and few reads.
func (l *lab) expectQuiet() {
	l.t.Helper()
	l.expectQuietSince(l.awaitEndOfWrites(isAny))
}

// expectQuietSince watches the request log of a cluster that is Ready: no write, and few reads, after the given number of requests. `lab up` writes the
// group of the lab itself.
func (l *lab) expectQuietSince(before int) {
	l.t.Helper()
	l.checkThroughout(quiet, func() error {
		for _, r := range l.listRequests()[before:] {
			if r.isWrite() && !r.byLab() {
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
