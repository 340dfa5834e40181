package scenario

import (
	"strings"
	"time"
)

// rollPool gives the VMs of a pool another size, and waits until the old ones are gone and as many new ones have joined.
func rollPool(l *lab, cluster, kubeconfig string) {
	pool := "azuremachinepool/" + cluster + "-mp-0"
	before := l.runProgram("kubectl", "get", pool, "-o", "jsonpath={.spec.providerIDList[0]}")
	l.runProgram("kubectl", "patch", pool, "--type", "merge", "-p", `{"spec":{"template":{"vmSize":"Standard_D4s_v3"}}}`)
	l.eventually("the VM has been replaced", func() (bool, string) {
		has := l.runProgram("kubectl", "get", pool, "-o", `jsonpath={.spec.providerIDList[*]} {.status.conditions[?(@.type=="Ready")].status}`)
		return !strings.Contains(has+" ", before+" ") && strings.HasSuffix(has, " True"), has
	})
	l.awaitNodes(cluster, kubeconfig, 2)
	l.growPool(cluster, kubeconfig)
}

// growPool adds a VM. Cluster API watches no Machines for the counts of a MachinePool, but the AzureMachinePool: once the new Machine is
// Ready, both counts have to follow within seconds. Cluster API may not count again for half a minute, or for ten hours, by itself.
func (l *lab) growPool(cluster, kubeconfig string) {
	l.t.Helper()
	pool := cluster + "-mp-0"
	l.runProgram("kubectl", "scale", "machinepool/"+pool, "--replicas", "2")
	l.awaitNodes(cluster, kubeconfig, 3)
	l.eventually("the pool has two Machines", func() (bool, string) {
		machines := l.runProgram("kubectl", "get", "machines", "-l", "cluster.x-k8s.io/pool-name="+pool, "-o", "name")
		return len(strings.Fields(machines)) == 2, machines
	})
	l.runProgram("kubectl", "wait", "machine", "-l", "cluster.x-k8s.io/pool-name="+pool, "--for=condition=Ready", "--timeout", patience.String())
	begin := time.Now()
	for _, kind := range []string{"azuremachinepool", "machinepool"} {
		l.runProgram("kubectl", "wait", kind+"/"+pool, "--for=jsonpath={.status.readyReplicas}=2", "--timeout", "25s")
		l.t.Logf("the %s counts a Ready Machine after %.1f s", kind, time.Since(begin).Seconds())
	}
}
