package scenario

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// TestStoppedAndImported stops a cluster with a MachineHealthCheck and a KubeadmControlPlane of three machines, and starts it: Cluster API's
// controllers replace no Machine. Then all objects of the cluster are lost, and kubectl capz import writes others: the controller of the
// KubeadmControlPlane adopts the machines and replaces none of them. A machine that is added later joins.
func TestStoppedAndImported(t *testing.T) {
	l := takeLab(t)
	l.startLab("--cluster-name", "kept", "--control-plane-machines", "3", "--worker-machines", "1")
	l = l.labFor(t, management.ClientEnvironment(l.loadSettings()))
	kubeconfig := l.workloadKubeconfig("kept")
	l.awaitNodes("kept", kubeconfig, 4)

	l.applyManifest(healthCheckOfAll)
	machines, vms := l.readMachines("kept"), l.vmIDs()
	l.stopCluster("kept", 4)
	begin := l.awaitEndOfWrites(isAny)
	// Twice as long as the MachineHealthCheck allows.
	l.checkThroughout(40*time.Second, func() error { return sameMachines(machines, l.readMachines("kept")) })
	if writes := l.writesSince(begin); len(writes) > 0 {
		t.Errorf("written while the cluster is stopped: %v", writes)
	}
	l.runProgram("kubectl", "annotate", "cluster", "kept", "infrastructure.cluster.x-k8s.io/stop-")
	l.awaitNodes("kept", kubeconfig, 4)
	l.awaitControlPlane("kept")
	if err := sameMachines(machines, l.readMachines("kept")); err != nil {
		t.Errorf("after the start: %v", err)
	}
	if now := l.vmIDs(); !slices.Equal(vms, now) {
		t.Errorf("VMs before the stop %v, after the start %v", vms, now)
	}

	folder := l.keepSecrets("kept")
	l.loseObjects("kept")
	begin = len(l.listRequests())
	l.importCluster("kept", folder)
	l.awaitControlPlane("kept")
	l.awaitNodes("kept", kubeconfig, 4)
	imported := l.readMachines("kept")
	l.checkThroughout(quiet/2, func() error { return sameMachines(imported, l.readMachines("kept")) })
	if writes := l.writesSince(begin); len(writes) > 0 {
		t.Errorf("the import wrote to Azure: %v", writes)
	}
	if now := l.vmIDs(); !slices.Equal(vms, now) {
		t.Errorf("VMs before the import %v, after it %v", vms, now)
	}
	owners := l.runProgram("kubectl", "get", "machines", "--selector", "cluster.x-k8s.io/control-plane", "--output",
		`jsonpath={range .items[*]}{.metadata.ownerReferences[?(@.controller==true)].kind}{"\n"}{end}`)
	if owners != strings.Repeat("KubeadmControlPlane\n", 3) {
		t.Errorf("controllers of the control-plane Machines: %q", owners)
	}

	gone := strings.Fields(l.runProgram("kubectl", "get", "machines", "--selector", "cluster.x-k8s.io/control-plane", "--output", "name"))[0]
	l.runProgram("kubectl", "delete", gone, "--timeout", patience.String())
	l.awaitNodes("kept", kubeconfig, 4)
	l.awaitControlPlane("kept")
	l.deleteCluster("kept")
	l.expectNothingLeft()
}

// healthCheckOfAll replaces any machine whose Node is not Ready for twenty seconds.
const healthCheckOfAll = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: {name: kept-all, namespace: default}
spec:
  clusterName: kept
  selector:
    matchLabels: {cluster.x-k8s.io/cluster-name: kept}
  checks:
    unhealthyNodeConditions:
    - {type: Ready, status: Unknown, timeoutSeconds: 20}
    - {type: Ready, status: "False", timeoutSeconds: 20}
`

// readMachines returns the UIDs of the Machines of a cluster by name.
func (l *lab) readMachines(cluster string) map[string]string {
	l.t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(l.runProgram("kubectl", "get", "machines", "--selector", "cluster.x-k8s.io/cluster-name="+cluster, "--output",
		`jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.metadata.deletionTimestamp}{"\n"}{end}`)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		out[name] = rest
	}
	return out
}

func sameMachines(want, got map[string]string) error {
	if fmt.Sprint(want) != fmt.Sprint(got) {
		return fmt.Errorf("Machines were %v and are %v", want, got)
	}
	return nil
}

// vmIDs returns the IDs of the VMs in Azure that run.
func (l *lab) vmIDs() (out []string) {
	l.t.Helper()
	azure, err := simulator.New(l.loadSettings())
	if err != nil {
		l.t.Fatal(err)
	}
	guests, err := azure.ListGuests(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	for _, guest := range guests {
		if guest.PowerState == "running" {
			out = append(out, strings.ToLower(guest.VMID))
		}
	}
	slices.Sort(out)
	return out
}

// writesSince returns the writes to Azure after the n-th request that did not come from the lab.
func (l *lab) writesSince(n int) (out []string) {
	l.t.Helper()
	for _, r := range l.listRequests()[n:] {
		if r.isWrite() && !r.byLab() {
			out = append(out, fmt.Sprintf("%s %s (%d)", r.Method, r.URL, r.Status))
		}
	}
	return out
}

// stopCluster stops a cluster with its machines.
func (l *lab) stopCluster(cluster string, machines int) {
	l.t.Helper()
	l.runProgram("kubectl", "annotate", "cluster", cluster, "infrastructure.cluster.x-k8s.io/stop=true")
	l.eventually("all machines are stopped", func() (bool, string) {
		out := l.runProgram("kubectl", "get", "azuremachines", "--output", "jsonpath={.items[*]"+conditionPath("Stopped", "status")+"}")
		return strings.Count(out, "True") == machines, out
	})
}

// awaitControlPlane waits until the KubeadmControlPlane of a cluster has three machines that are ready and up to date.
func (l *lab) awaitControlPlane(cluster string) {
	l.t.Helper()
	begun := time.Now()
	l.eventually("the control plane is complete", func() (bool, string) {
		// Cluster API's controller looks at unknown Nodes again after a change of the object, or after its sync period of ten minutes.
		if time.Since(begun) > time.Minute {
			begun = time.Now()
			l.runProgram("kubectl", "annotate", "kubeadmcontrolplane", cluster+"-control-plane", "--overwrite", "looked-at="+begun.Format("150405"))
		}
		out := l.runProgram("kubectl", "get", "kubeadmcontrolplane", cluster+"-control-plane", "--output",
			"jsonpath={.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {"+conditionPath("Available", "status")+"}")
		return out == "3 3 3 True", out
	})
}

// keepSecrets returns a folder with the files that an administrator copies from a control-plane machine.
func (l *lab) keepSecrets(cluster string) string {
	l.t.Helper()
	folder := l.t.TempDir()
	for file, of := range map[string][2]string{
		"pki/ca.crt": {"ca", `tls\.crt`}, "pki/ca.key": {"ca", `tls\.key`}, "pki/etcd/ca.crt": {"etcd", `tls\.crt`}, "pki/etcd/ca.key": {"etcd", `tls\.key`},
		"pki/front-proxy-ca.crt": {"proxy", `tls\.crt`}, "pki/front-proxy-ca.key": {"proxy", `tls\.key`},
		"pki/sa.pub": {"sa", `tls\.crt`}, "pki/sa.key": {"sa", `tls\.key`}, "admin.conf": {"kubeconfig", "value"},
	} {
		raw, err := base64.StdEncoding.DecodeString(l.runProgram("kubectl", "get", "secret", cluster+"-"+of[0], "--output", "jsonpath={.data."+of[1]+"}"))
		if err != nil {
			l.t.Fatal(err)
		}
		path := filepath.Join(folder, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			l.t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			l.t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "join.yaml"), []byte("#cloud-config\n"), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return folder
}

// loseObjects removes all objects of a cluster while nothing reconciles them.
func (l *lab) loseObjects(cluster string) {
	l.t.Helper()
	const kinds = "clusters,azureclusters,kubeadmcontrolplanes,machinedeployments,machinesets,machinehealthchecks,machines,azuremachines,kubeadmconfigs," +
		"kubeadmconfigtemplates,azuremachinetemplates"
	selector := "cluster.x-k8s.io/cluster-name=" + cluster
	l.runProgram("kubectl", "patch", "cluster", cluster, "--type", "merge", "--patch", `{"spec":{"paused":true}}`)
	l.runProgram("kubectl", "annotate", kinds, "--all", "cluster.x-k8s.io/paused=")
	l.waitFor("kubeadmcontrolplane/"+cluster+"-control-plane", conditionPath("Paused", "status"), "True")
	for _, kind := range strings.Split("clusters,azureclusters,machines,azuremachines", ",") {
		for _, object := range strings.Fields(l.runProgram("kubectl", "get", kind, "--output", "name")) {
			l.waitFor(object, conditionPath("Paused", "status"), "True")
		}
	}
	l.runProgram("kubectl", "delete", kinds, "--all", "--wait=false")
	l.eventually("all objects are gone", func() (bool, string) {
		left := l.runProgram("kubectl", "get", kinds, "--output", "name")
		for _, object := range strings.Fields(left) {
			_, _ = l.tryProgram("kubectl", "patch", object, "--type", "merge", "--patch", `{"metadata":{"finalizers":null}}`)
		}
		return left == "", left
	})
	l.runProgram("kubectl", "delete", "secrets", "--selector", selector)
	// The cluster is imported into another management cluster, whose manager has read nothing yet.
	l.killManager()
	l.runProgram("lab", "up", "--bare")
}

// importCluster runs kubectl capz import and the commands that it prints, in a folder with the files of the cluster.
func (l *lab) importCluster(cluster, folder string) {
	l.t.Helper()
	var imported struct {
		Manifests string
		Tags      []struct {
			Resource string
			Tags     map[string]string
		}
		Steps []struct{ Commands []string }
	}
	out := l.runProgram("kubectl-capz", "import", "--subscription", settings.SubscriptionID, "--cluster", cluster, "--output", "json")
	if err := json.Unmarshal([]byte(out), &imported); err != nil {
		l.t.Fatalf("%v: %s", err, out)
	}
	azure, err := simulator.New(l.loadSettings())
	if err != nil {
		l.t.Fatal(err)
	}
	for _, change := range imported.Tags {
		if err := azure.MergeTags(l.t.Context(), change.Resource, change.Tags); err != nil {
			l.t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "manifests.yaml"), []byte(imported.Manifests), 0o600); err != nil {
		l.t.Fatal(err)
	}
	for _, step := range imported.Steps {
		for _, command := range step.Commands {
			if strings.HasPrefix(command, "az tag ") {
				continue // The tags are set.
			}
			run := l.newCommand(l.t.Context(), "kubectl")
			shell := exec.CommandContext(l.t.Context(), "bash", "-c", command)
			shell.Dir, shell.Env = folder, run.Env
			if out, err := shell.CombinedOutput(); err != nil {
				l.t.Fatalf("%s: %v\n%s", command, err, out)
			}
		}
	}
}
