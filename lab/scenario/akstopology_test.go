package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestAKSTopology makes clusters of two ClusterClasses, one of fields and one of documents. Pools grow, and version and
// variables of a topology come to Azure. Looking at a topology again writes nothing.
func TestAKSTopology(t *testing.T) {
	l := takeLab(t)
	const from, to = "v1.33.5", settings.ManagedKubernetesVersion
	l.startLab("--cluster-name", "written", "--flavor", "aks-aso-topology", "--kubernetes-version", from, "--worker-machines", "1")
	l.applyManifest(l.generateCluster("classy", "aks-topology", to, 1))
	l.runProgram("kubectl", "wait", "cluster/classy", "--for=condition=Available", "--timeout", patience.String())
	kubeconfigs := map[string]string{"classy": l.workloadKubeconfig("classy"), "written": l.workloadKubeconfig("written")}
	l.awaitPools(kubeconfigs["classy"], "classy", to, map[string]int{"pool0": 1, "pool1": 1})
	l.awaitPools(kubeconfigs["written"], "written", from, map[string]int{"pool0": 1, "pool1": 1})
	l.expectQuiet()

	// Cluster API looks at all objects of a topology when it grows, and at its own MachinePool alone there is something to write.
	before := l.ofTopology("written")
	for _, name := range slices.Sorted(maps.Keys(kubeconfigs)) {
		l.patchObject("cluster/"+name, `{"spec":{"topology":{"workers":{"machinePools":[
			{"class":"default-system","name":"pool0","replicas":1},{"class":"default-worker","name":"pool1","replicas":2}]}}}}`)
	}
	for name, kubeconfig := range kubeconfigs {
		l.awaitPools(kubeconfig, name, "", map[string]int{"pool0": 1, "pool1": 2})
	}
	if after := l.ofTopology("written"); !maps.Equal(before, after) {
		t.Errorf("the objects of a topology that is looked at again were written at %v, want %v as before", after, before)
	}

	l.deleteManaged("classy")
	l.patchObject("cluster/written",
		`{"spec":{"topology":{"version":"`+to+`","variables":[{"name":"credential","value":"aso-credential"},{"name":"tier","value":"Standard"},
		{"name":"location","value":"`+settings.Location+`"},{"name":"machineType","value":"Standard_D2s_v3"}]}}}`)
	l.eventually("the managed cluster has the version and the tier of the topology", func() (bool, string) {
		seen := l.runProgram("kubectl", "get", "azureasomanagedcontrolplanes", "-l", "cluster.x-k8s.io/cluster-name=written", "-o",
			`jsonpath={range .items[*]}`+
				`{.spec.resources[0].spec.sku.tier} {.status.version} {.status.conditions[?(@.type=="Ready")].status} {.status.conditions[?(@.type=="Ready")].observedGeneration} {.metadata.generation}{end}`)
		words := strings.Fields(seen)
		return len(words) == 5 && fmt.Sprint(words[:3]) == fmt.Sprint([]string{"Standard", to, "True"}) && words[3] == words[4], seen
	})
	l.awaitPools(kubeconfigs["written"], "written", to, map[string]int{"pool0": 1, "pool1": 2})
	l.deleteManaged("written")
	l.expectNothingLeft()
}

// ofTopology returns the times at which Cluster API wrote the objects with documents that the topology of a cluster has made, by what
// tells an object from one that replaced it.
func (l *lab) ofTopology(cluster string) map[string]string {
	l.t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(l.runProgram("kubectl", "get", "azureasomanagedclusters,azureasomanagedcontrolplanes,azureasomanagedmachinepools",
		"--show-managed-fields",
		"-l", "cluster.x-k8s.io/cluster-name="+cluster, "-o",
		`jsonpath={range .items[*]}{.kind} {.metadata.uid}={.metadata.managedFields[?(@.manager=="capi-topology")].time}{"\n"}{end}`)) {
		object, written, _ := strings.Cut(strings.TrimSpace(line), "=")
		if out[object] = written; written == "" {
			l.t.Errorf("Cluster API did not write %s", object)
		}
	}
	if len(out) != 4 {
		l.t.Errorf("objects of the topology of %s: %v, want a cluster, a control plane and two pools", cluster, out)
	}
	return out
}
