package scenario

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// before is the release before the one that `make release` writes, as it was rendered.
const before = "v2.0.0-alpha.0"

// releaseBefore is a folder with it.
func releaseBefore(t *testing.T) string {
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
	if err := os.WriteFile(filepath.Join(to, "infrastructure-components.yaml"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	return to
}

// clusterctl runs clusterctl with the lab's configuration and logs how long it took.
func (l *lab) clusterctl(args ...string) string {
	l.t.Helper()
	begin := time.Now()
	out := l.run("clusterctl", append(args, "--config", l.settings().ClusterctlConfig())...)
	l.t.Logf("clusterctl %s: %.0f s", strings.Join(args[:min(2, len(args))], " "), time.Since(begin).Seconds())
	return out
}

// providerVersion is that of our provider in clusterctl's inventory.
func (l *lab) providerVersion() string {
	l.t.Helper()
	return l.run("kubectl", "get", "providers.clusterctl.cluster.x-k8s.io", "infrastructure-azure", "--namespace", "capz-system", "-o", "jsonpath={.version}")
}

// TestClusterctlUpgrade upgrades the provider below two clusters that live, one of each family, takes it away and installs it
// again. The clusters notice nothing: Azure gets no write until a person asks for one.
func TestClusterctlUpgrade(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.up("--bare", "--release", releaseBefore(t))
	// The program is the one of the new release, and its workload identities may need rights that the release before has not.
	l.expectIdentity("default", "True", "")
	principal := l.in(t, map[string]string{"CLUSTER_IDENTITY_NAME": "principal"})
	principal.run("lab", "create", "one", "--control-plane-machines", "1", "--worker-machines", "1")
	principal.run("lab", "create", "two", "--flavor", "aks", "--worker-machines", "1")
	if got := l.providerVersion(); got != before {
		t.Fatalf("the lab began with %s, want %s", got, before)
	}

	if plan := l.clusterctl("upgrade", "plan"); !strings.Contains(plan, before) || !strings.Contains(plan, settings.ProviderVersion) {
		t.Errorf("the plan does not lead from %s to %s:\n%s", before, settings.ProviderVersion, plan)
	}
	writes, manager := len(l.puts()), l.processes()[settings.Azure.Name]
	l.clusterctl("upgrade", "apply", "--infrastructure", "azure:"+settings.ProviderVersion, "--wait-providers")
	if got := l.processes()[settings.Azure.Name]; got == manager {
		t.Error("the manager before the upgrade still runs")
	}
	if got := l.providerVersion(); got != settings.ProviderVersion {
		t.Errorf("clusterctl's inventory has %s after the upgrade, want %s", got, settings.ProviderVersion)
	}
	l.expectLeftAlone(writes)

	l.withoutRights(func() {
		l.clusterctl("delete", "--infrastructure", "azure")
		l.awaitStopped(settings.Azure)
	})
	if roles := l.run("kubectl", "get", "clusterroles,clusterrolebindings", "-l", "cluster.x-k8s.io/provider=infrastructure-azure", "-o", "name"); roles != "" {
		t.Errorf("roles are left of the deleted provider:\n%s", roles)
	}
	l.clusterctl("init", "--infrastructure", "azure:"+settings.ProviderVersion, "--wait-providers")
	l.expectLeftAlone(writes)

	l.scale("one", l.workloadKubeconfig("one"), 2, 3)
	l.deleteCluster("one")
	l.deleteManaged("two")
	l.expectNothingLeft()
	l.withoutRights(func() {
		l.clusterctl("delete", "--all", "--include-crd", "--include-namespace")
		l.awaitStopped(settings.Managers...)
	})
	l.eventually("no kind is left of the deleted provider", func() (bool, string) {
		kinds := l.run("kubectl", "get", "customresourcedefinitions", "-l", "cluster.x-k8s.io/provider=infrastructure-azure", "-o", "name")
		return kinds == "", kinds
	})
}

// awaitStopped waits until managers have ended whose Deployments are gone.
func (l *lab) awaitStopped(managers ...settings.Manager) {
	l.t.Helper()
	for _, m := range managers {
		l.eventually(m.Name+" does not run without its Deployment", func() (bool, string) {
			_, there := l.processes()[m.Name]
			return !there, "it runs"
		})
	}
}

// expectLeftAlone has the manager look at every cluster, and no write follow.
func (l *lab) expectLeftAlone(writes int) {
	l.t.Helper()
	l.expectQuiet()
	l.run("kubectl", "wait", "azureclusters,azuremachines,azuremanagedcontrolplanes,azuremanagedmachinepools", "--all", "--for=condition=Ready", "--timeout", patience.String())
	if got := l.puts(); len(got) != writes {
		l.t.Errorf("Azure got %d writes that nobody asked for, of %v", len(got)-writes, got[writes:])
	}
}

// TestClusterctlMove moves clusters of both families to another management cluster that sees the same Azure, while Azure is
// at an operation that the first one began.
func TestClusterctlMove(t *testing.T) {
	t.Parallel()
	from := newLab(t)
	from.up("--bare")
	to := newLab(t)
	to.up("--bare", "--beside", from.dir)
	from.run("lab", "create", "one", "--control-plane-machines", "1", "--worker-machines", "1")
	from.run("lab", "create", "two", "--flavor", "aks", "--worker-machines", "1")
	kubeconfig := from.workloadKubeconfig("one")
	machines := from.machineNodes("one")

	writes := len(from.puts())
	from.run("kubectl", "scale", "machinepool", "two-pool1", "--replicas", "3")
	from.awaitPuts(writes+1, make(chan error))
	from.clusterctl("move", "--to-kubeconfig", to.settings().Kubeconfig(), "--namespace", "default")
	if left := from.run("kubectl", "get", "clusters,azureclusters,azuremachines,azuremanagedcontrolplanes,azureclusteridentities", "-o", "name"); left != "" {
		t.Errorf("objects are left behind:\n%s", left)
	}

	to.run("kubectl", "wait", "machinepool/two-pool1", "--for=jsonpath={.status.readyReplicas}=3", "--timeout", patience.String())
	to.run("kubectl", "wait", "azureclusters,azuremachines,azuremanagedcontrolplanes,azuremanagedmachinepools", "--all", "--for=condition=Ready", "--timeout", patience.String())
	to.expectQuiet()
	if got := to.machineNodes("one"); !slices.Equal(got, machines) {
		t.Errorf("the cluster has the machines %v after the move, want those that it had: %v", got, machines)
	}
	if got := len(from.puts()) - writes; got != 1 {
		t.Errorf("%d writes from the scaling to the end of the move, want the one that was under way: %v", got, from.puts()[writes:])
	}
	to.scale("one", kubeconfig, 2, 3)
	to.deleteCluster("one")
	to.deleteManaged("two")
	to.expectNothingLeft()
}
