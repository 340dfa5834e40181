package scenario

import "strings"

// rollPool gives the VMs of a pool another size, and waits until the old ones are gone and as many new ones have joined.
func rollPool(l *lab, cluster, kubeconfig string) {
	pool := "azuremachinepool/" + cluster + "-mp-0"
	before := l.run("kubectl", "get", pool, "-o", "jsonpath={.spec.providerIDList[0]}")
	l.run("kubectl", "patch", pool, "--type", "merge", "-p", `{"spec":{"template":{"vmSize":"Standard_D4s_v3"}}}`)
	l.eventually("the VM has been replaced", func() (bool, string) {
		has := l.run("kubectl", "get", pool, "-o", `jsonpath={.spec.providerIDList[*]} {.status.conditions[?(@.type=="Ready")].status}`)
		return !strings.Contains(has+" ", before+" ") && strings.HasSuffix(has, " True"), has
	})
	l.awaitNodes(cluster, kubeconfig, 2)
}
