package scenario

import (
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// before stands for the release before the one that `make release` writes: what `make release VERSION=v2.0.0-alpha.0` wrote of
// commit 3145711, byte for byte. Its kinds lack most maxima, all rights of its manager are in one role, and its Deployment has
// one replica. Only its program is not kept: the lab runs that of bin/ with what this release gives it, and with newer, which the
// program cannot do without.
const before = "v2.0.0-alpha.0"

// newer has a name by which clusterctl takes it away with the provider.
const newer = "capz-system-newer"

// newerRights is a file with rights that the program needs and the release before does not give.
const newerRights = "newer-rights.yaml"

// newerKinds are files of config/crd/bases with kinds that the program serves and the release before does not have.
var newerKinds = []string{"infrastructure.cluster.x-k8s.io_azuremachinepools.yaml",
	"infrastructure.cluster.x-k8s.io_azuremachinepoolmachines.yaml"}

// releaseBefore returns a folder with it.
func (l *lab) releaseBefore() string {
	t := l.t
	t.Helper()
	from, to := filepath.Join("testdata", "releases", before), filepath.Join(t.TempDir(), before)
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Open(filepath.Join(from, "infrastructure-components.yaml.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range newerKinds {
		kind, err := os.ReadFile(filepath.Join(l.root, "config", "crd", "bases", file))
		if err != nil {
			t.Fatal(err)
		}
		raw = slices.Concat(raw, []byte("\n"), kind)
	}
	rights, err := os.ReadFile(filepath.Join("testdata", "releases", newerRights))
	if err != nil {
		t.Fatal(err)
	}
	raw = slices.Concat(raw, []byte("\n"), rights)
	if err := os.WriteFile(filepath.Join(to, "infrastructure-components.yaml"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestClusterctl upgrades the provider below two running clusters, one of each family, removes it, installs it again,
// and moves both clusters to another management cluster that uses the same Azure, while operations that the first one
// began run in Azure. The clusters notice nothing of all this: Azure gets no unexpected write.
func TestClusterctl(t *testing.T) {
	t.Parallel()
	from := newLab(t)
	from.startLab("--bare", "--release", from.releaseBefore())
	from.runProgram("kubectl", "wait", "azureclusteridentity/cluster-identity", "--for=condition=Ready", "--timeout", patience.String())
	from.createBoth()
	writes := from.upgradeProvider()
	from.reinstallProvider(writes)

	to := newLab(t)
	from.beside, to.beside = to, from
	to.startLab("--bare", "--beside", from.dir)
	kubeconfig, machines := from.workloadKubeconfig("one"), from.machineNodes("one")
	from.moveTo(to)
	to.waitFor("machinepool/two-pool1", ".status.readyReplicas", "2")
	if got := to.machineNodes("one"); !slices.Equal(got, machines) {
		t.Errorf("the cluster has the machines %v after the move, want those that it had: %v", got, machines)
	}
	to.scaleWorkers("one", kubeconfig, 2, 3)

	to.deleteCluster("one")
	to.deleteManaged("two")
	to.expectNothingLeft()
	from.removeKinds()
}

// createBoth makes the clusters one, which is self-managed, and two, of AKS.
func (l *lab) createBoth() {
	l.t.Helper()
	managed := l.startCreate("two", "--flavor", "aks", "--worker-machines", "1")
	l.runProgram("lab", "create", "one", "--control-plane-machines", "1", "--worker-machines", "1")
	if err := <-managed; err != nil {
		l.t.Fatal(err)
	}
}

// upgradeProvider leads from the release before to that of `make release`, and returns how many writes Azure had got by then.
func (l *lab) upgradeProvider() int {
	l.t.Helper()
	if got := l.providerVersion(); got != before {
		l.t.Fatalf("the lab began with %s, want %s", got, before)
	}
	if plan := l.runClusterctl("upgrade", "plan"); !strings.Contains(plan, before) || !strings.Contains(plan, settings.ProviderVersion) {
		l.t.Errorf("the plan does not lead from %s to %s:\n%s", before, settings.ProviderVersion, plan)
	}
	const kind, most = "customresourcedefinition/azureclusters.infrastructure.cluster.x-k8s.io",
		".spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.networkSpec.properties.subnets.maxItems"
	if got := l.readField(kind, most); got != "" {
		l.t.Errorf("the release before knows a maximum of subnets: %s", got)
	}
	writes, asked, manager := len(l.clusterPUTs()), len(l.listRequests()), l.listProcesses()[settings.Azure.Name]
	l.withoutRights(func() {
		l.runProgram("kubectl", "delete", "clusterrolebinding", newer)
		l.runClusterctl("upgrade", "apply", "--infrastructure", "azure:"+settings.ProviderVersion, "--wait-providers")
		l.eventually("the manager before the upgrade has ended", func() (bool, string) {
			now := l.listProcesses()[settings.Azure.Name]
			return now != manager, "it runs"
		})
	})
	if got := l.providerVersion(); got != settings.ProviderVersion {
		l.t.Errorf("clusterctl's inventory has %s after the upgrade, want %s", got, settings.ProviderVersion)
	}
	if diff := l.diffRelease(); diff != "" {
		l.t.Errorf("the upgrade has left something that is not as released:\n%s", diff)
	}
	l.expectLeftAlone(asked, writes)
	return writes
}

// reinstallProvider takes the provider away from below the clusters and installs it again.
func (l *lab) reinstallProvider(writes int) {
	l.t.Helper()
	l.withoutRights(func() {
		l.runClusterctl("delete", "--infrastructure", "azure")
		l.awaitStopped()
	})
	// Roles of the whole cluster are clusterctl's to delete only when their names begin with the provider's namespace.
	l.expectOfProvider("clusterrole", "clusterrolebinding", "customresourcedefinition", "namespace")
	asked := len(l.listRequests())
	l.runClusterctl("init", "--infrastructure", "azure:"+settings.ProviderVersion, "--wait-providers")
	l.expectLeftAlone(asked, writes)
	memory := management.ProcessTable(l.loadSettings()).ReadState(settings.Azure.Name).ResidentKiB
	l.t.Logf("the manager of two clusters that are left alone takes %d MiB", memory/1024)
}

// moveTo lets Azure begin an operation for each cluster, and moves both before it ends.
func (l *lab) moveTo(to *lab) {
	l.t.Helper()
	azure, err := simulator.New(l.loadSettings())
	if err != nil {
		l.t.Fatal(err)
	}
	types := []string{"Microsoft.ContainerService/managedClusters/agentPools", "Microsoft.Network/networkSecurityGroups"}
	for _, typ := range types {
		if err := azure.AddFault(l.t.Context(), map[string]any{"kind": "stuck", "method": http.MethodPut, "type": typ}); err != nil {
			l.t.Fatal(err)
		}
	}
	writes := len(l.clusterPUTs())
	l.runProgram("kubectl", "scale", "machinepool", "two-pool1", "--replicas", "2")
	l.runProgram("kubectl", "patch", "azurecluster", "one", "--type=json", "-p",
		`[{"op": "add", "path": "/spec/networkSpec/subnets/1/securityGroup/securityRules", "value": [
		{"name": "node-ports", "description": "before the move", "protocol": "Tcp", "direction": "Inbound", "priority": 2300, "source": "*", "sourcePorts": "*", "destination": "*", "destinationPorts": "30000-32767", "action": "Allow"}]}]`)
	l.awaitPuts(writes+len(types), make(chan error))
	l.runClusterctl("move", "--to-kubeconfig", to.loadSettings().KubeconfigPath(), "--namespace", "default")
	kinds := "clusters,machines,machinepools,azureclusters,azuremachines,azuremanagedclusters,azuremanagedcontrolplanes,azuremanagedmachinepools,azureclusteridentities"
	if left := l.runProgram("kubectl", "get", kinds, "-o", "name"); left != "" {
		l.t.Errorf("objects are left behind:\n%s", left)
	}
	// Status stays behind, so these conditions are of the manager that has them now.
	for object, typ := range map[string]string{"azuremanagedmachinepool/two-pool1": "AgentPoolsReady",
		"azurecluster/one": "SecurityGroupsReady"} {
		to.waitFor(object, conditionPath(typ, "reason"), "Updating")
	}
	if err := azure.ClearFaults(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	to.expectReady()
	if got := l.clusterPUTs()[writes:]; len(got) != len(types) {
		l.t.Errorf("%d writes from before the move until all is ready after it, want the %d that were under way: %v", len(got), len(types), got)
	}
}

// removeKinds takes away all that clusterctl leaves when it deletes the provider alone: our kinds, the namespace, and, with the
// book's command, the roles of the whole cluster.
func (l *lab) removeKinds() {
	l.t.Helper()
	l.withoutRights(func() {
		l.runClusterctl("delete", "--infrastructure", "azure", "--include-crd", "--include-namespace")
		l.awaitStopped()
	})
	l.runProgram("kubectl", "delete", "clusterroles,clusterrolebindings", "-l", ofProvider)
	l.runProgram("kubectl", "wait", "namespace/capz-system", "--for=delete", "--timeout", patience.String())
	l.expectOfProvider()
}

// runClusterctl runs clusterctl with the lab's configuration and logs how long it took.
func (l *lab) runClusterctl(args ...string) string {
	l.t.Helper()
	begin := time.Now()
	out := l.runProgram("clusterctl", append(args, "--config", l.loadSettings().ClusterctlConfig())...)
	l.t.Logf("clusterctl %s: %.0f s", strings.Join(args[:min(2, len(args))], " "), time.Since(begin).Seconds())
	return out
}

// providerVersion is that of our provider in clusterctl's inventory.
func (l *lab) providerVersion() string {
	l.t.Helper()
	return l.runProgram("kubectl", "get", "providers.clusterctl.cluster.x-k8s.io", "infrastructure-azure", "--namespace", "capz-system", "-o",
		"jsonpath={.version}")
}

// diffRelease returns the differences between the installed objects and the release that `make release` writes.
func (l *lab) diffRelease() string {
	l.t.Helper()
	components := l.runProgram("clusterctl", "generate", "provider", "--infrastructure", "azure:"+settings.ProviderVersion, "--config",
		l.loadSettings().ClusterctlConfig())
	// It ends with status 1 when there is a difference.
	diff, err := l.tryWith(components, "kubectl", "diff", "-f", "-")
	if err != nil && diff == "" {
		l.t.Fatal(err)
	}
	return diff
}

// awaitStopped waits until our manager has ended, whose Deployment is gone.
func (l *lab) awaitStopped() {
	l.t.Helper()
	l.eventually("no manager runs without its Deployment", func() (bool, string) {
		return !management.ProcessTable(l.loadSettings()).ReadState(settings.Azure.Name).Alive, "it runs"
	})
}

// ofProvider chooses what clusterctl has installed of our provider.
const ofProvider = "cluster.x-k8s.io/provider=infrastructure-azure"

// expectOfProvider expects the objects of the provider to be of these types.
func (l *lab) expectOfProvider(types ...string) {
	l.t.Helper()
	const all = "clusterrolebindings,clusterroles,customresourcedefinitions,deployments,mutatingwebhookconfigurations,namespaces,networkpolicies," +
		"poddisruptionbudgets,rolebindings,roles,secrets,serviceaccounts,services,validatingwebhookconfigurations"
	l.eventually("all that there is of the provider are "+strings.Join(types, ", "), func() (bool, string) {
		var there []string
		for line := range strings.Lines(l.runProgram("kubectl", "get", all, "--all-namespaces", "-l", ofProvider, "-o", "name")) {
			typ, _, _ := strings.Cut(line, ".")
			typ, _, _ = strings.Cut(typ, "/")
			there = append(there, typ)
		}
		slices.Sort(there)
		there = slices.Compact(there)
		return slices.Equal(there, types), strings.Join(there, ", ")
	})
}

// expectLeftAlone waits until the manager has read, since the n-th request, all that was written for clusters, and expects
// that no write followed: Azure has got as many as given.
func (l *lab) expectLeftAlone(n, writes int) {
	l.t.Helper()
	l.eventually("the manager has looked at everything", func() (bool, string) {
		read := map[string]bool{}
		for _, r := range l.listRequests()[n:] {
			read[r.resourceID()] = read[r.resourceID()] || r.Method == http.MethodGet
		}
		var unread []string
		for _, r := range l.clusterPUTs() {
			if !wasShown(read, r.resourceID()) {
				unread = append(unread, r.resourceID())
			}
		}
		return len(unread) == 0, strings.Join(unread, "\n")
	})
	l.expectReady()
	if got := l.clusterPUTs(); len(got) != writes {
		l.t.Errorf("Azure got %d unexpected writes: %v", len(got)-writes, got[writes:])
	}
}

// inGroup is the part of the path of a group's list that the list of the whole subscription lacks.
var inGroup = regexp.MustCompile(`/resourcegroups/[^/]+`)

// wasShown reports whether one of the answers showed a resource: its own, that to a list, or what holds it, if that has it in its document.
func wasShown(read map[string]bool, id string) bool {
	collection, holder := path.Dir(id), path.Dir(path.Dir(id))
	inHolder := slices.Contains([]string{"subnets", "virtualnetworkpeerings", "inboundnatrules", "agentpools"}, path.Base(collection))
	return read[id] || read[collection] || read[inGroup.ReplaceAllString(collection, "")] || inHolder && wasShown(read, holder)
}

// expectReady waits until all of both clusters is ready.
func (l *lab) expectReady() {
	l.t.Helper()
	l.runProgram("kubectl", "wait", "azureclusters,azuremachines,azuremanagedcontrolplanes,azuremanagedmachinepools", "--all",
		"--for=condition=Ready", "--timeout", patience.String())
}
