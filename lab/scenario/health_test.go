package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// expectReplaced deallocates the VM of the first worker and waits until Cluster API, with the book's MachineHealthCheck,
// has put another machine in its place.
func (l *lab) expectReplaced(cluster, kubeconfig string, nodes int) {
	l.t.Helper()
	begin := time.Now()
	workers := l.runProgram("kubectl", "get", "machines", "-l", "cluster.x-k8s.io/deployment-name="+cluster+"-md-0", "-o",
		"jsonpath={.items[*].metadata.name}")
	machine := "machine/" + strings.Fields(workers)[0]
	node := l.readField(machine, ".status.nodeRef.name")
	azureMachine := "azuremachine/" + l.readField(machine, ".spec.infrastructureRef.name")
	vm := strings.TrimPrefix(l.readField(machine, ".spec.providerID"), "azure://")

	check := "machinehealthcheck/" + cluster + "-workers"
	l.applyManifest(l.healthCheck(cluster))
	l.waitFor(machine, conditionPath("HealthCheckSucceeded", "status"), "True")
	l.deallocateVM(vm)

	// What was found in order is looked at again after minutes; the annotation asks for a look now.
	l.runProgram("kubectl", "annotate", azureMachine, "infrastructure.cluster.x-k8s.io/reconcile-requested-at=stopped")
	l.waitFor(azureMachine, conditionPath("VMRunning", "reason"), "VMStopped")
	l.waitFor(azureMachine, conditionPath("VMRunning", "status"), "False")
	l.waitFor(azureMachine, conditionPath("Ready", "status"), "False")
	l.waitFor(machine, conditionPath("InfrastructureReady", "status"), "False")
	// One command both waits and shows, because the machine is gone soon after.
	message := l.runProgram("kubectl", "wait", machine, "--for=jsonpath={"+conditionPath("HealthCheckSucceeded", "reason")+"}=UnhealthyMachine",
		"-o", "jsonpath={"+conditionPath("HealthCheckSucceeded", "message")+"}", "--timeout", patience.String())
	if !strings.Contains(message, "InfrastructureReady on Machine is reporting status False with reason VMStopped") {
		l.t.Errorf("the MachineHealthCheck found another cause than the stopped VM: %s", message)
	}
	// With the seconds that it allows here, it would also replace the new machine while Azure makes its VM.
	l.runProgram("kubectl", "delete", check)

	l.runProgram("kubectl", "wait", machine, "--for=delete", "--timeout", patience.String())
	if slices.Contains(l.listResources(), strings.ToLower(vm)) {
		l.t.Errorf("%s is left in Azure after its machine was replaced", vm)
	}
	l.awaitNodes(cluster, kubeconfig, nodes)
	if there, err := l.readyNodes(kubeconfig); err != nil || slices.Contains(there, node) {
		l.t.Errorf("Ready nodes %v, want another than %s in its place; %v", there, node, err)
	}
	l.t.Logf("a stopped worker was replaced after %.0f s", time.Since(begin).Seconds())
}

// conditionPath returns the path of a field of the object's condition.
func conditionPath(typ, field string) string {
	return fmt.Sprintf(`.status.conditions[?(@.type=="%s")].%s`, typ, field)
}

// healthCheck returns the book's MachineHealthCheck, for another cluster, and with less patience because Azure is faster here.
func (l *lab) healthCheck(cluster string) string {
	l.t.Helper()
	for _, b := range l.codeBlocks() {
		if b.Language == "yaml" && b.Page == "docs/book/selfmanaged/troubleshooting.md" &&
			strings.Contains(b.Text, "unhealthyMachineConditions:") {
			return l.editManifest(strings.ReplaceAll(b.Text, "c1-", cluster+"-"), "MachineHealthCheck", "", func(spec map[string]any) {
				spec["clusterName"] = cluster
				of := spec["checks"].(map[string]any)["unhealthyMachineConditions"].([]any)
				of[0].(map[string]any)["timeoutSeconds"] = 10
			})
		}
	}
	l.t.Fatal("the book's page about troubleshooting has no MachineHealthCheck that looks at conditions of Machines")
	return ""
}

// deallocateVM stops a VM as people do, and waits until Azure has done it.
func (l *lab) deallocateVM(vm string) {
	l.t.Helper()
	azure, err := simulator.New(l.loadSettings())
	if err != nil {
		l.t.Fatal(err)
	}
	if err := azure.RunAction(l.t.Context(), vm, "deallocate", "2025-04-01"); err != nil {
		l.t.Fatal(err)
	}
	l.eventually("Azure has deallocated "+vm, func() (bool, string) {
		guests, err := azure.ListGuests(l.t.Context())
		if err != nil {
			return false, err.Error()
		}
		i := slices.IndexFunc(guests, func(g simulator.Guest) bool { return strings.EqualFold(g.VMID, vm) })
		if i < 0 {
			return false, "no such VM"
		}
		return guests[i].PowerState == "deallocated", guests[i].PowerState
	})
}
