package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// managedClusterID returns the AKS cluster that the flavors make: in a resource group of the cluster's name.
func managedClusterID(group, name string) string {
	return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.ContainerService/managedClusters/%s", settings.SubscriptionID,
		group, name)
}

// generateCluster renders a flavor with clusterctl.
func (l *lab) generateCluster(name, flavor, version string, workers int) string {
	l.t.Helper()
	args := []string{
		"generate", "cluster", name, "--config", l.loadSettings().ClusterctlConfig(), "--infrastructure", "azure:" + settings.ProviderVersion,
		"--target-namespace", "default", "--kubernetes-version", version, "--worker-machine-count", strconv.Itoa(workers),
	}
	if flavor != workload.DefaultFlavor {
		args = append(args, "--flavor", flavor)
	}
	return l.runProgram("clusterctl", args...)
}

func (l *lab) applyManifest(manifest string) {
	l.t.Helper()
	if _, err := l.tryWith(manifest, "kubectl", "apply", "-f", "-"); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) patchObject(object, patch string) {
	l.t.Helper()
	l.runProgram("kubectl", "patch", object, "--type=merge", "-p", patch)
}

// waitFor waits until an object has a field of a value.
func (l *lab) waitFor(object, field, value string) {
	l.t.Helper()
	l.runProgram("kubectl", "wait", object, fmt.Sprintf("--for=jsonpath={%s}=%s", field, value), "--timeout", patience.String())
}

// awaitPools waits until each agent pool has as many Ready nodes, until its MachinePool refers to exactly those, and until
// all of them run the version, if one is given.
func (l *lab) awaitPools(kubeconfig, cluster, version string, want map[string]int) {
	l.t.Helper()
	l.eventually(fmt.Sprintf("Ready nodes %v, which the MachinePools name", want), func() (bool, string) {
		pools, versions, err := l.poolNodes(kubeconfig)
		if err != nil {
			return false, err.Error()
		}
		seen := fmt.Sprintf("nodes %v, versions %v", pools, versions)
		total, named := 0, l.namedNodes(cluster)
		for pool, count := range want {
			total += count
			slices.Sort(pools[pool])
			seen += fmt.Sprintf("; MachinePool of %s names %v", pool, named[pool])
			if len(named[pool]) != count || !slices.Equal(named[pool], pools[pool]) {
				return false, seen
			}
		}
		for _, v := range versions {
			if version != "" && v != version {
				return false, seen
			}
		}
		return len(versions) == total, seen
	})
}

// scalePool changes the number of machines of a pool and waits until the nodes follow.
func (l *lab) scalePool(kubeconfig, cluster, pool string, replicas int, want map[string]int) {
	l.t.Helper()
	begin := time.Now()
	object := "machinepool/" + cluster + "-" + pool
	l.runProgram("kubectl", "scale", object, "--replicas", strconv.Itoa(replicas))
	l.awaitPools(kubeconfig, cluster, "", want)
	l.waitFor(object, ".status.phase", "Running")
	l.t.Logf("%s has %d nodes after %.0f s", pool, replicas, time.Since(begin).Seconds())
}

// awaitCluster waits until the whole cluster is ready, as `lab create` does.
func (l *lab) awaitCluster(name string) {
	l.t.Helper()
	l.runProgram("kubectl", "wait", "cluster/"+name, "--for=condition=Available", "--timeout", patience.String())
	l.runProgram("kubectl", "wait", "azuremanagedcontrolplanes,azuremanagedmachinepools", "-l", "cluster.x-k8s.io/cluster-name="+name,
		"--for=condition=Ready", "--timeout", patience.String())
}

// readField returns one field of an object of the management cluster.
func (l *lab) readField(object, path string) string {
	l.t.Helper()
	return l.runProgram("kubectl", "get", object, "-o", "jsonpath={"+path+"}")
}

// deleteManaged deletes an AKS cluster with kubectl, which waits until it is gone.
func (l *lab) deleteManaged(name string) {
	l.t.Helper()
	begin := time.Now()
	l.runProgram("kubectl", "delete", "cluster", name, "--timeout", patience.String())
	l.t.Logf("deleted after %.0f s", time.Since(begin).Seconds())
	kinds := "azuremanagedclusters,azuremanagedcontrolplanes,azuremanagedmachinepools,azureasomanagedclusters,azureasomanagedcontrolplanes,azureasomanagedmachinepools,machinepools,secrets"
	l.eventually("nothing left in the management cluster", func() (bool, string) {
		rest := l.runProgram("kubectl", "get", kinds, "-o", "name", "-l", "cluster.x-k8s.io/cluster-name="+name)
		return strings.TrimSpace(rest) == "", rest
	})
}
