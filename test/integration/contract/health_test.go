package contract_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// mishap is an incident of a running machine, as in the first column of the book's table.
type mishap struct {
	reason string
	spot   bool
	do     func(w *virtual.Scenario, id, machine string)
}

func listMishaps() map[string]mishap {
	now := func(rule fault.Rule) func(*virtual.Scenario, string, string) {
		return func(w *virtual.Scenario, id, _ string) {
			rule.Now, rule.ID = true, id
			addFault(w, rule)
		}
	}
	return map[string]mishap{
		"the VM was stopped or deallocated": {reason: "it does not start by itself", do: func(w *virtual.Scenario, _, machine string) {
			w.SendAsUser("POST", "resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/"+machine+"/deallocate", "2025-04-01", nil)
		}},
		"the VM was deleted":      {reason: "it is not made again", do: now(fault.Rule{Kind: fault.Remove})},
		"Azure evicted a spot VM": {reason: "it does not start by itself", spot: true, do: now(fault.Rule{Kind: fault.Evict})},
		"the provisioning of the VM failed": {reason: "it does not recover",
			do: now(fault.Rule{Kind: fault.Edit, Patch: map[string]any{"properties": map[string]any{"provisioningState": "Failed"}}})},
		"Azure refuses a change of a VM that runs, such as tags that a policy forbids": {reason: "the spec is not applied",
			do: func(w *virtual.Scenario, _, machine string) {
				for _, method := range []string{"PUT", "PATCH"} {
					addFault(w, fault.Rule{Method: method, ID: "*/" + machine + "*", Count: -1, Kind: fault.Status, Status: 403,
						Code: "RequestDisallowedByPolicy", Message: "Resource was disallowed by policy."})
				}
				changeObject(w, "AzureMachine", machine,
					func(o client.Object) { o.(*infrav1.AzureMachine).Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
			}},
		"Azure does not answer, or the identity may not read any more": {reason: "the machine may run well",
			do: func(w *virtual.Scenario, _, _ string) {
				addFault(w, fault.Rule{Method: "GET", Count: -1, Kind: fault.Status, Status: 403, Code: "AuthorizationFailed",
					Message: "The client does not have authorization."})
			}},
	}
}

func addFault(w *virtual.Scenario, rule fault.Rule) {
	w.T.Helper()
	if err := w.Azure.AddFault(rule); err != nil {
		w.T.Fatal(err)
	}
}

// TestMachineHealth makes each mishap happen to a running machine. Its Ready, which Cluster API mirrors to InfrastructureReady of the
// Machine, has the status and the reason of the book's table, so that the book's MachineHealthCheck replaces the machines that it is
// to. The lab tests the replacement with Cluster API.
func TestMachineHealth(t *testing.T) {
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "selfmanaged", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	check := healthCheck(t, string(page))
	if conditions := check.Spec.Checks.UnhealthyMachineConditions; len(conditions) != 1 ||
		conditions[0].Type != clusterv1.InfrastructureReadyCondition || conditions[0].Status != metav1.ConditionFalse {
		t.Fatalf("the book's MachineHealthCheck looks at %+v", conditions)
	}
	documented := map[string][2]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| ([^|]+) \\| (True|False) \\| `(\\w+)` \\|$").FindAllStringSubmatch(string(page), -1) {
		documented[row[1]] = [2]string{row[2], row[3]}
	}
	all := listMishaps()
	for name := range documented {
		if _, ok := all[name]; !ok {
			t.Errorf("the book describes %q, which has no row here", name)
		}
	}
	for name, mishap := range all {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				w.StartProvider()
				w.ApplyNetwork("c1", nil)
				w.WaitReady(&infrav1.AzureCluster{}, "c1")
				w.CopyInfrastructure("c1")
				machine := w.AzureMachine("c1", "m1")
				if mishap.spot {
					machine.Spec.SpotVMOptions = &infrav1.SpotVMOptions{}
				}
				defaults.FillAzureMachine(machine, w.Azure.SubscriptionID)
				w.CreateMachine(machine, harness.Worker, "")
				w.WaitMachineProvisioned("m1")
				mishap.do(w, "/subscriptions/"+w.Azure.SubscriptionID+"/resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/m1", "m1")
				virtual.WaitForSignal(nil, time.Hour)
				w.ReadObject(machine, "m1")
				ready := harness.FindCondition(machine, infrav1.ReadyCondition)
				if got := [2]string{string(ready.Status), ready.Reason}; got != documented[name] {
					t.Errorf("Ready is %v, the book has %v; it counts because %s: %s", got, documented[name], mishap.reason, ready.Message)
				}
			})
		})
	}
}

// healthCheck returns the book's MachineHealthCheck, which selects conditions of Machines.
func healthCheck(t *testing.T, page string) *clusterv1.MachineHealthCheck {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1) {
		check := &clusterv1.MachineHealthCheck{}
		if err := yaml.UnmarshalStrict([]byte(block[1]), check); err == nil && check.Kind == "MachineHealthCheck" {
			return check
		}
	}
	t.Fatal("the page has no MachineHealthCheck")
	return nil
}
