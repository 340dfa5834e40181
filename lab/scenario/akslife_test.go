package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// TestAKSManagerKilled ends our manager with SIGKILL after each of the first PUTs of an AKS cluster. What Azure was doing goes
// on without it; the manager that comes back must wait for that, and ask for nothing a second time.
func TestAKSManagerKilled(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")
	created := l.startCreate("survivor", "--flavor", "aks", "--worker-machines", "1")
	// Resource group, virtual network, subnet and managed cluster.
	for puts := 1; puts <= 4; puts++ {
		l.awaitPuts(puts, created)
		l.killManager()
		l.runProgram("lab", "up", "--bare")
	}
	if err := <-created; err != nil {
		t.Fatal(err)
	}
	l.awaitPools(l.workloadKubeconfig("survivor"), "survivor", "", map[string]int{"pool0": 1, "pool1": 1})
	count := map[string]int{}
	for _, r := range l.clusterPUTs() {
		count[r.resourceID()]++
	}
	if n := count[strings.ToLower(managedClusterID("survivor", "survivor"))]; n != 1 {
		t.Errorf("%d PUTs of the managed cluster, want 1", n)
	}
	l.expectQuiet()
	l.deleteManaged("survivor")
	l.expectNothingLeft()
}

// TestAKSManyPools counts the requests to Azure of a cluster of ten pools until it is Ready, and those of a restarted
// manager.
func TestAKSManyPools(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")
	manifest := l.generateCluster("wide", "aks", settings.ManagedKubernetesVersion, 1)
	want := map[string]int{"pool0": 1, "pool1": 1}
	for _, pool := range []string{"pool2", "pool3", "pool4", "pool5", "pool6", "pool7", "pool8", "pool9"} {
		want[pool] = 1
		for document := range strings.SplitSeq(manifest, "\n---\n") {
			// What belongs to a Cluster comes before it, so that the first PUT has all pools.
			if copied := strings.ReplaceAll(document, "wide-pool1", "wide-"+pool); copied == document {
				continue
			} else if strings.Contains(copied, "\nkind: AzureManagedMachinePool\nmetadata:") {
				manifest = strings.ReplaceAll(copied, "name: pool1", "name: "+pool) + "\n---\n" + manifest
			} else {
				manifest += "\n---\n" + copied
			}
		}
	}
	l.applyManifest(manifest)
	l.awaitCluster("wide")
	l.awaitPools(l.workloadKubeconfig("wide"), "wide", "", want)
	reads, writes := l.countRequests(0)
	t.Logf("1 control plane with 10 pools: %d reads and %d writes until Ready", reads, writes)
	// Resource group, virtual network, subnet and the managed cluster with all of its pools.
	if writes != 4 {
		t.Errorf("%d writes until Ready, want 4", writes)
	}
	l.expectQuiet()

	before := len(l.listRequests())
	l.killManager()
	l.runProgram("lab", "up", "--bare")
	l.expectQuietSince(before)
	reads, writes = l.countRequests(before)
	t.Logf("a manager that comes back: %d reads and %d writes", reads, writes)
	l.deleteManaged("wide")
	l.expectNothingLeft()
}

// countRequests counts the requests to Resource Manager since the n-th one.
func (l *lab) countRequests(n int) (reads, writes int) {
	l.t.Helper()
	for _, r := range l.listRequests()[n:] {
		switch {
		case r.byLab() || !strings.HasPrefix(r.resourceID(), "/subscriptions/"):
		case r.isWrite():
			writes++
		case r.Method == http.MethodGet || r.Method == http.MethodPost:
			reads++
		}
	}
	return reads, writes
}

// TestAKSAdopted forgets a cluster that goes on in Azure, and applies its manifest again, with the ID that a backup has: the
// same nodes come back and nothing is written. Without the ID it would be another owner's.
func TestAKSAdopted(t *testing.T) {
	l := takeLab(t)
	l.startLab("--cluster-name", "known", "--flavor", "aks", "--worker-machines", "1")
	manifest, err := os.ReadFile(filepath.Join(l.dir, "clusters", "known.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	key := l.readField("azuremanagedcontrolplane/known", ".spec.sshPublicKey")
	stored := l.readField("azuremanagedcontrolplane/known", `.metadata.annotations.sigs\.k8s\.io/cluster-api-provider-azure-applied`)
	var owner struct {
		ID string `json:"ownerID"`
	}
	if err := json.Unmarshal([]byte(stored), &owner); err != nil || owner.ID == "" {
		t.Fatalf("the object has no owner ID: %s (%v)", stored, err)
	}
	l.patchObject("cluster/known", `{"spec":{"paused":true}}`)
	objects := []string{
		"azuremanagedmachinepool/known-pool0", "azuremanagedmachinepool/known-pool1", "azuremanagedcontrolplane/known",
		"azuremanagedcluster/known",
		"machinepool/known-pool0", "machinepool/known-pool1", "cluster/known",
	}
	for _, object := range objects {
		l.runProgram("kubectl", "wait", object, "--for=condition=Paused", "--timeout", patience.String())
	}
	for _, object := range objects {
		// As clusterctl marks the objects that it has moved: without it the last system pool cannot go.
		l.runProgram("kubectl", "annotate", object, "clusterctl.cluster.x-k8s.io/delete-for-move=")
		l.runProgram("kubectl", "delete", object, "--wait=false")
		l.tryProgram("kubectl", "patch", object, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		l.runProgram("kubectl", "wait", object, "--for=delete", "--timeout", patience.String())
	}
	before := len(l.listRequests())
	// The key was made when the first manifest had none.
	again := l.editManifest(string(manifest), "AzureManagedControlPlane", "", func(spec map[string]any) { spec["sshPublicKey"] = key })
	const head = "kind: AzureManagedControlPlane\nmetadata:\n"
	if strings.Count(again, head) != 1 {
		t.Fatalf("the manifest has no place for an annotation:\n%s", again)
	}
	l.applyManifest(strings.Replace(again, head,
		head+"  annotations:\n    sigs.k8s.io/cluster-api-provider-azure-applied: '{\"ownerID\":\""+owner.ID+"\"}'\n", 1))
	l.awaitCluster("known")
	l.awaitPools(l.workloadKubeconfig("known"), "known", "", map[string]int{"pool0": 1, "pool1": 1})
	for _, r := range l.listRequests()[before:] {
		if r.isWrite() {
			t.Errorf("%s %s (%d) although Azure matches the manifest", r.Method, r.URL, r.Status)
		}
	}
	l.deleteManaged("known")
	l.expectNothingLeft()
}

// TestAKSStopped stops a cluster in Azure, which saves its machines overnight. Its API server does not answer; our manager
// leaves it alone and gets along with it again when it is started.
func TestAKSStopped(t *testing.T) {
	l := takeLab(t)
	l.startLab("--cluster-name", "sleepy", "--flavor", "aks", "--worker-machines", "1")
	kubeconfig := l.workloadKubeconfig("sleepy")
	azure, err := simulator.New(l.loadSettings())
	if err != nil {
		t.Fatal(err)
	}
	act := func(action string) {
		if err := azure.RunAction(t.Context(), managedClusterID("sleepy", "sleepy"), action, "2025-10-01"); err != nil {
			t.Fatal(err)
		}
	}
	act("stop")
	l.eventually("the API server does not answer", func() (bool, string) {
		out, err := l.tryProgram("kubectl", "--kubeconfig", kubeconfig, "get", "nodes", "--request-timeout=5s")
		return err != nil && strings.Contains(err.Error(), "Bad Gateway"), fmt.Sprint(out, err)
	})
	before := len(l.listRequests())
	l.killManager()
	l.runProgram("lab", "up", "--bare")
	l.checkThroughout(quiet, func() error {
		for _, r := range l.listRequests()[before:] {
			if r.isWrite() && !r.byLab() {
				return fmt.Errorf("%s %s (%d) although the cluster is stopped", r.Method, r.URL, r.Status)
			}
		}
		return nil
	})
	act("start")
	l.awaitPools(kubeconfig, "sleepy", "", map[string]int{"pool0": 1, "pool1": 1})
	l.awaitCluster("sleepy")
	l.deleteManaged("sleepy")
	l.expectNothingLeft()
}
