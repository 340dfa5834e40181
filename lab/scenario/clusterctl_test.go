package scenario

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
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

// TestClusterctl upgrades the provider from the release before, takes it away and installs it again. Its objects stay.
func TestClusterctl(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.up("--bare", "--release", releaseBefore(t))
	if got := l.providerVersion(); got != before {
		t.Fatalf("the lab began with %s, want %s", got, before)
	}
	if plan := l.clusterctl("upgrade", "plan"); !strings.Contains(plan, before) || !strings.Contains(plan, settings.ProviderVersion) {
		t.Errorf("the plan does not lead from %s to %s:\n%s", before, settings.ProviderVersion, plan)
	}
	manager := l.processes()[settings.Azure.Name]
	l.clusterctl("upgrade", "apply", "--infrastructure", "azure:"+settings.ProviderVersion, "--wait-providers")
	if got := l.processes()[settings.Azure.Name]; got == manager {
		t.Error("the manager before the upgrade still runs")
	}
	if got := l.providerVersion(); got != settings.ProviderVersion {
		t.Errorf("clusterctl's inventory has %s after the upgrade, want %s", got, settings.ProviderVersion)
	}
	l.expectIdentity("default", "True", "")

	l.withoutRights(func() {
		l.clusterctl("delete", "--infrastructure", "azure")
		l.awaitStopped(settings.Azure)
	})
	if roles := l.run("kubectl", "get", "clusterroles,clusterrolebindings", "-l", "cluster.x-k8s.io/provider=infrastructure-azure", "-o", "name"); roles != "" {
		t.Errorf("roles are left of the deleted provider:\n%s", roles)
	}
	l.clusterctl("init", "--infrastructure", "azure:"+settings.ProviderVersion, "--wait-providers")
	l.run("kubectl", "wait", "azureclusteridentity/principal", "--for=condition=Ready", "--timeout", patience.String())
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
