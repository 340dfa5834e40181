package scenario

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestUpInterrupted presses Ctrl-C while clusterctl installs the providers: the lab prints the running processes and
// the next command, and the next start continues. Starting once more from another shell then changes nothing.
func TestUpInterrupted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	first := l.newCommand(t.Context(), "lab", "up", "--bare", "--base-port", strconv.Itoa(l.port), "--time-scale", "0.05")
	var out bytes.Buffer
	first.Stdout, first.Stderr = &out, &out
	// A terminal sends the signal to all programs of the command, clusterctl among them.
	first.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	l.awaitHalfInstalled(ended, &out)
	if err := syscall.Kill(-first.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := <-ended
	if exit, ok := err.(*exec.ExitError); !ok || !exit.Exited() {
		t.Errorf("the interrupted lab up ends with %v, want a status other than 0", err)
	}
	for _, want := range []string{"interrupted", "running: ", "etcd, ", "lab up --bare=true --base-port=" + strconv.Itoa(l.port),
		"lab down --dir"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output of the interrupted lab up lacks %q:\n%s", want, &out)
		}
	}

	l.goOnBesideProbe()
	if got, want := l.installedProviders(), len(settings.Managers); len(got) != want {
		t.Errorf("clusterctl's inventory has %v, want %d providers", got, want)
	}
	if out := l.runProgram("clusterctl", "upgrade", "plan", "--config", l.loadSettings().ClusterctlConfig()); !strings.Contains(out,
		"infrastructure-azure") {
		t.Errorf("clusterctl does not know our provider:\n%s", out)
	}

	before := l.listProcesses()
	l.labFor(t, map[string]string{"PATH": "/elsewhere/bin", "TMPDIR": t.TempDir(), "HTTPS_PROXY": "http://127.0.0.1:9"}).startLab("--bare")
	if after := l.listProcesses(); !maps.Equal(before, after) {
		t.Errorf("lab up from another shell replaced processes:\nbefore %v\nafter  %v", before, after)
	}
}

// probe is the namespace in which clusterctl looks for cert-manager, and which it deletes at once.
const probe = "cert-manager-test"

// goOnBesideProbe starts the lab while the namespace that the interrupted clusterctl made is still being deleted. Whether
// it is depends on the moment of the interruption, so the namespace is made once more and held.
func (l *lab) goOnBesideProbe() {
	l.t.Helper()
	l.runProgram("kubectl", "wait", "namespace/"+probe, "--for=delete", "--timeout", patience.String())
	l.runProgram("kubectl", "create", "namespace", probe)
	l.applyManifest(`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: ` + probe + `, finalizers: [example.com/held]}}`)
	l.runProgram("kubectl", "delete", "namespace", probe, "--wait=false")

	again := l.newCommand(l.t.Context(), "lab", "up", "--bare")
	out, err := again.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	again.Stderr = again.Stdout
	if err := again.Start(); err != nil {
		l.t.Fatal(err)
	}
	var output strings.Builder
	held := true
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&output, lines.Text())
		if held && strings.Contains(lines.Text(), "namespace "+probe+" of an earlier clusterctl is still being deleted") {
			l.runProgram("kubectl", "patch", "configmap", "held", "--namespace", probe, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
			held = false
		}
	}
	if err := again.Wait(); err != nil || held {
		l.t.Fatalf("lab up after an interruption: %v, waited for the namespace: %v\n%s", err, !held, &output)
	}
}

// listProcesses returns the lab's, each with its process ID.
func (l *lab) listProcesses() map[string]int {
	l.t.Helper()
	table := management.ProcessTable(l.loadSettings())
	names, err := table.ListNames()
	if err != nil {
		l.t.Fatal(err)
	}
	ids := map[string]int{}
	for _, name := range names {
		ids[name] = table.ReadState(name).PID
	}
	return ids
}

// installedProviders returns the providers in clusterctl's inventory; none while there is no inventory.
func (l *lab) installedProviders() []string {
	s, err := settings.Load(l.dir)
	if err != nil {
		return nil
	}
	kube, err := management.NewClient(s)
	if err != nil {
		return nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "clusterctl.cluster.x-k8s.io", Version: "v1alpha3", Kind: "ProviderList"})
	if kube.List(l.t.Context(), list) != nil {
		return nil
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.GetName())
	}
	slices.Sort(names)
	return names
}

// awaitHalfInstalled waits, closely, until some providers are installed and others are not.
func (l *lab) awaitHalfInstalled(ended <-chan error, out *bytes.Buffer) {
	l.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		switch n := len(l.installedProviders()); {
		case n == len(settings.Managers):
			l.t.Fatal("all providers were installed before lab up could be interrupted")
		case n > 0:
			return
		}
		select {
		case err := <-ended:
			l.t.Fatalf("lab up ended before it could be interrupted: %v\n%s", err, out)
		case <-tick.C:
		}
	}
}

// TestSecondFlavor makes another cluster beside the first, of the largest flavor of documents, with the credential that
// the lab has for these. The timeline of the first names the cause why its worker waited: the bootstrap data, which
// come when the control plane is there.
func TestSecondFlavor(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.startLab("--control-plane-machines", "1", "--worker-machines", "1")
	l.awaitNodes("demo", l.workloadKubeconfig("demo"), 2)
	worker := regexp.MustCompile(`(?m)^.* PUT +virtualmachines/demo-md-0-.*$`)
	if line := worker.FindString(l.runProgram("lab", "timeline", "demo")); !strings.Contains(line, "bootstrap data (") {
		t.Errorf("the worker waited for something else than bootstrap data: %q", line)
	}

	drawing := filepath.Join(t.TempDir(), "demo.svg")
	l.runProgram("lab", "timeline", "demo", "--svg", drawing)
	if svg, err := os.ReadFile(drawing); err != nil || !bytes.Contains(svg, []byte("PUT virtualmachines/demo-md-0-")) {
		t.Errorf("the drawing of the timeline lacks the worker's machine: %v", err)
	}

	const second = "demo-aks-aso-maintenance"
	out := l.runProgram("lab", "up", "--flavor", "aks-aso-maintenance", "--worker-machines", "1")
	for _, want := range []string{"Cluster " + second + ": flavor aks-aso-maintenance, 1 machines in each pool",
		"AzureASOManagedControlPlane " + second + ": ready ✔", "Cluster " + second + " is ready after"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output of lab up --flavor aks-aso-maintenance lacks %q:\n%s", want, out)
		}
	}
	l.seesAzure(regexp.MustCompile(`https://\S+/_sim/page/\?token=\S+`).FindString(out))
	kubeconfig := l.workloadKubeconfig(second)
	l.awaitPools(kubeconfig, second, settings.ManagedKubernetesVersion, map[string]int{"pool0": 1, "pool1": 1})
	l.runProgram("lab", "demand", second, "pool1", "1")
	if timeline := l.runProgram("lab", "timeline", second); !strings.Contains(timeline,
		"maintenanceconfigurations/aksmanagedautoupgradeschedule") {
		t.Errorf("the timeline lacks the resources of the documents:\n%s", timeline)
	}
	l.awaitNodes("demo", l.workloadKubeconfig("demo"), 2)

	if out = l.runProgram("lab", "up"); !strings.Contains(out,
		"Cluster demo exists, made with: flavor default, 1 control-plane and 1 worker machines") {
		t.Errorf("lab up shows another cluster than the first:\n%s", out)
	}
	_, err := l.tryProgram("lab", "up", "--cluster-name", "demo", "--flavor", "aks")
	if err == nil || !strings.Contains(err.Error(), "there is a Cluster demo already, made with --flavor default, not aks") {
		t.Errorf("lab up with the name of the first cluster and another flavor: %v, want a refusal", err)
	}
	if err != nil && strings.Contains(err.Error(), "to go on") {
		t.Errorf("the refusal recommends the refused value: %v", err)
	}
}

// seesAzure opens the pages of the simulated Azure at the address that the lab prints.
func (l *lab) seesAzure(address string) {
	l.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		l.t.Fatal(err)
	}
	ca, err := os.ReadFile(l.loadSettings().SimulatorCA())
	if err != nil {
		l.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	browser := &http.Client{Jar: jar, Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	answer, err := browser.Get(address)
	if err != nil {
		l.t.Fatalf("the page of the simulated Azure at %q: %v", address, err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(raw), "/resourceGroups/demo") &&
		!strings.Contains(string(raw), ">demo<") {
		l.t.Errorf("the page of the simulated Azure does not show the group of the cluster: %d, %v", answer.StatusCode, err)
	}
}
