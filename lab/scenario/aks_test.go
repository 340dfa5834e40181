package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestAKSFlavor is the story of the AKS pages: two pools of two Ready nodes, nothing written when nothing changes, a user
// pool that grows, becomes empty and goes, a VM of the user's own that joins, and the deleted cluster leaves nothing in Azure, the node
// resource group included.
func TestAKSFlavor(t *testing.T) {
	l := takeLab(t)
	l.startLab("--cluster-name", "demo", "--flavor", "aks")
	kubeconfig := l.workloadKubeconfig("demo")
	l.awaitPools(kubeconfig, "demo", settings.ManagedKubernetesVersion, map[string]int{"pool0": 2, "pool1": 2})
	l.expectQuiet()

	l.scalePool(kubeconfig, "demo", "pool1", 4, map[string]int{"pool0": 2, "pool1": 4})
	l.scalePool(kubeconfig, "demo", "pool1", 0, map[string]int{"pool0": 2, "pool1": 0})

	l.runProgram("kubectl", "delete", "machinepool", "demo-pool1", "--timeout", patience.String())
	if pools := l.agentPools("demo"); !slices.Equal(pools, []string{"pool0"}) {
		t.Errorf("agent pools %v, want pool0 alone", pools)
	}
	l.awaitPools(kubeconfig, "demo", "", map[string]int{"pool0": 2})

	l.joinOwn(kubeconfig, "demo")
	l.deleteManaged("demo")
	l.expectNothingLeft()
}

// agentPools returns those that Azure has.
func (l *lab) agentPools(cluster string) []string {
	l.t.Helper()
	var names []string
	for _, id := range l.listResources() {
		if name, ok := strings.CutPrefix(id, strings.ToLower(managedClusterID(cluster, cluster))+"/agentpools/"); ok {
			names = append(names, name)
		}
	}
	return names
}

// TestAKSAutoscaler leaves the size of a pool to AKS: the MachinePool follows the autoscaler, and neither overwrites
// the other nor flaps. Without the autoscaler the pool stays as it is, and the MachinePool owns the size again.
func TestAKSAutoscaler(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")
	l.applyManifest(l.editManifest(l.generateCluster("elastic", "aks", settings.ManagedKubernetesVersion, 2), "AzureManagedMachinePool", "elastic-pool1",
		func(spec map[string]any) {
			spec["scaling"] = map[string]any{"minSize": 1, "maxSize": 5}
		}))
	l.awaitCluster("elastic")
	kubeconfig := l.workloadKubeconfig("elastic")
	const pool, owner = "machinepool/elastic-pool1", `.metadata.annotations.cluster\.x-k8s\.io/replicas-managed-by`
	l.waitFor(pool, owner, "true")

	for _, needed := range []struct{ demand, nodes int }{{4, 4}, {9, 5}, {1, 1}} {
		l.runProgram("lab", "demand", "elastic", "pool1", fmt.Sprint(needed.demand))
		l.awaitPools(kubeconfig, "elastic", "", map[string]int{"pool0": 2, "pool1": needed.nodes})
		l.waitFor(pool, ".spec.replicas", fmt.Sprint(needed.nodes))
		before := len(l.listRequests())
		l.checkThroughout(10*time.Second, func() error {
			if replicas := l.readField(pool, ".spec.replicas"); replicas != fmt.Sprint(needed.nodes) {
				return fmt.Errorf("%s has %s replicas, after it had %d", pool, replicas, needed.nodes)
			}
			for _, r := range l.listRequests()[before:] {
				if r.isWrite() {
					return fmt.Errorf("%s %s (%d) although AKS decides about the size of the pool", r.Method, r.URL, r.Status)
				}
			}
			return nil
		})
	}

	l.patchObject("azuremanagedmachinepool/elastic-pool1", `{"spec":{"scaling":null}}`)
	l.eventually("the MachinePool owns its replicas", func() (bool, string) {
		value := l.readField(pool, owner)
		return value == "", value
	})
	l.scalePool(kubeconfig, "elastic", "pool1", 2, map[string]int{"pool0": 2, "pool1": 2})
	l.deleteManaged("elastic")
	l.expectNothingLeft()
}

// TestAKSUpgrade raises the version of the control plane, then that of the pools.
func TestAKSUpgrade(t *testing.T) {
	l := takeLab(t)
	const from, to = "v1.33.5", settings.ManagedKubernetesVersion
	l.startLab("--cluster-name", "rising", "--flavor", "aks", "--kubernetes-version", from)
	kubeconfig := l.workloadKubeconfig("rising")
	both := map[string]int{"pool0": 2, "pool1": 2}
	l.awaitPools(kubeconfig, "rising", from, both)

	l.patchObject("azuremanagedcontrolplane/rising", `{"spec":{"version":"`+to+`"}}`)
	l.eventually("the control plane runs "+to, func() (bool, string) {
		out, err := l.tryProgram("kubectl", "--kubeconfig", kubeconfig, "version", "-o", "json")
		return err == nil && strings.Contains(out, `"gitVersion": "`+to+`"`), out
	})
	l.waitFor("azuremanagedcontrolplane/rising", ".status.version", to)
	l.awaitPools(kubeconfig, "rising", from, both)

	for _, pool := range []string{"pool0", "pool1"} {
		l.patchObject("machinepool/rising-"+pool, `{"spec":{"template":{"spec":{"version":"`+to+`"}}}}`)
	}
	l.awaitPools(kubeconfig, "rising", to, both)
	l.awaitCluster("rising")
	l.expectQuiet()
	l.deleteManaged("rising")
	l.expectNothingLeft()
}

// TestAKSAccess creates a cluster whose API server only the virtual network can reach, and one that knows only users of Microsoft Entra ID;
// it expects that Cluster API works with both.
func TestAKSAccess(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")
	pools := map[string]int{"pool0": 1, "pool1": 1}
	l.applyManifest(l.editManifest(l.generateCluster("hidden", "aks", settings.ManagedKubernetesVersion, 1), "AzureManagedControlPlane", "",
		func(spec map[string]any) {
			spec["apiServerAccessProfile"] = map[string]any{"enablePrivateCluster": true, "enablePrivateClusterPublicFQDN": false}
		}))
	l.applyManifest(l.editManifest(l.generateCluster("entra", "aks", settings.ManagedKubernetesVersion, 1), "AzureManagedControlPlane", "",
		func(spec map[string]any) {
			spec["aadProfile"] = map[string]any{"managed": true, "adminGroupObjectIDs": []any{settings.ObjectID}}
			spec["disableLocalAccounts"] = true
		}))

	t.Run("private", func(t *testing.T) {
		l.awaitCluster("hidden")
		host := l.readField("cluster/hidden", ".spec.controlPlaneEndpoint.host")
		if !strings.Contains(host, ".privatelink."+settings.Location+".azmk8s.io") {
			t.Errorf("control-plane endpoint %s is not a name of the private link", host)
		}
		l.awaitPools(l.workloadKubeconfig("hidden"), "hidden", "", pools)
		zone := host[strings.Index(host, ".")+1:]
		if zones := namesOf(l.listResources(), "microsoft.network/privatednszones"); !slices.Contains(zones, zone) {
			t.Errorf("private DNS zones %v, want %s among them", zones, zone)
		}
	})

	t.Run("entra", func(t *testing.T) {
		l.awaitCluster("entra")
		kubeconfig := l.workloadKubeconfig("entra")
		l.awaitPools(kubeconfig, "entra", "", pools)
		config := l.runProgram("kubectl", "--kubeconfig", kubeconfig, "config", "view", "--raw")
		if !strings.Contains(config, "token: ") || strings.Contains(config, "client-certificate-data") || strings.Contains(config, "exec:") {
			t.Error("the kubeconfig of a cluster without local accounts should have a token and nothing else")
		}
		if l.readField("secret/entra-kubeconfig-user", ".data.value") == "" {
			t.Error("there is no kubeconfig for people")
		}
	})

	l.expectQuiet()
	for _, name := range []string{"hidden", "entra"} {
		l.deleteManaged(name)
	}
	l.expectNothingLeft()
}
