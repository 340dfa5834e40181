package crd_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

var (
	azureMachinePool = kind{name: "AzureMachinePool", path: []string{"spec"},
		spec: "{location: westeurope, template: {vmSize: Standard_D2s_v5, osDisk: {}, sshPublicKey: " + sshPublicKey + "}}"}
	azureMachinePoolTemplate = kind{name: "AzureMachinePool", path: []string{"spec", "template"}, beside: "{spec: {location: westeurope}}",
		spec: azureMachine.spec}
	azureMachinePoolMachine = kind{name: "AzureMachinePoolMachine", path: []string{"spec"}, spec: "{providerID: azure:///vm}"}
)

// TestAzureMachinePoolDefaults checks the defaults of the schema, on which manifests of users depend.
func TestAzureMachinePoolDefaults(t *testing.T) {
	strategy := func(policy infrav1.AzureMachinePoolDeletePolicyType, surge,
		unavailable intstr.IntOrString) infrav1.AzureMachinePoolDeploymentStrategy {
		return infrav1.AzureMachinePoolDeploymentStrategy{Type: "RollingUpdate", RollingUpdate: &infrav1.MachineRollingUpdateDeployment{
			DeletePolicy: policy, MaxSurge: &surge, MaxUnavailable: &unavailable,
		}}
	}
	for name, tc := range map[string]struct {
		reason, spec string
		want         infrav1.AzureMachinePoolDeploymentStrategy
	}{
		"nothing set": {reason: "one more at a time, the oldest go first", spec: "{}",
			want: strategy("Oldest", intstr.FromInt32(1), intstr.FromInt32(0))},
		"policy": {reason: "each part has its default", spec: "{strategy: {rollingUpdate: {deletePolicy: Newest}}}",
			want: strategy("Newest", intstr.FromInt32(1), intstr.FromInt32(0))},
		"percentages": {reason: "values that are set stay", spec: "{strategy: {rollingUpdate: {maxSurge: 20%, maxUnavailable: 10%}}}",
			want: strategy("Oldest", intstr.FromString("20%"), intstr.FromString("10%"))},
	} {
		t.Run(name, func(t *testing.T) {
			obj := createObject(t, azureMachinePool.newObject(t, tc.spec))
			raw, err := json.Marshal(obj.Object)
			if err != nil {
				t.Fatal(err)
			}
			pool := &infrav1.AzureMachinePool{}
			if err := json.Unmarshal(raw, pool); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, pool.Spec.Strategy); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
			if pool.Spec.OrchestrationMode != infrav1.UniformOrchestration || pool.Spec.Identity != infrav1.VMIdentityNone ||
				pool.Spec.Template.OSDisk.OSType != infrav1.LinuxOS {
				t.Errorf("mode, identity and system: got %s, %s and %s", pool.Spec.OrchestrationMode, pool.Spec.Identity,
					pool.Spec.Template.OSDisk.OSType)
			}
		})
	}
}

// TestAzureMachinePoolTemplateCreation checks the template with the rules of a machine, except those of fields that only a machine has.
func TestAzureMachinePoolTemplateCreation(t *testing.T) {
	table := machineRows()
	for name, r := range table {
		for _, own := range []string{"dentity:", "dentities:", "IdentityRole", "roleAssignmentName", "ReservationGroupID", "ScaleSetID",
			"disableExtensionOperations", "failureDomain", "dnsServers"} {
			if strings.Contains(r.spec, own) {
				delete(table, name)
			}
		}
	}
	if len(table) < 70 {
		t.Errorf("only %d rules are shared", len(table))
	}
	azureMachinePoolTemplate.checkRows(t, table)
}

// TestAzureMachinePoolIdentities checks that the identities of a pool have the rules of a machine's, although they are the pool's own
// fields.
func TestAzureMachinePoolIdentities(t *testing.T) {
	table := machineRows()
	maps.DeleteFunc(table, func(_ string, r row) bool {
		return !strings.Contains(r.spec, "dentity:") && !strings.Contains(r.spec, "dentities:") && !strings.Contains(r.spec, "roleAssignmentName")
	})
	if len(table) < 8 {
		t.Errorf("only %d rules are shared", len(table))
	}
	azureMachinePool.checkRows(t, table)
}

func TestAzureMachinePoolRules(t *testing.T) {
	const made, again = "{providerID: azure:///vmss}", "create a new pool"
	azureMachinePool.checkRows(t, map[string]row{
		"minimal":             {reason: "the smallest spec with its defaults is valid"},
		"no size":             {reason: "a VM has a size", spec: `{template: {vmSize: ""}}`, want: []string{"template.vmSize: set the size"}},
		"notice of 5 minutes": {reason: "Azure gives 5 to 15 minutes", spec: "{template: {terminateNotificationTimeout: 5}}"},
		"notice of 4 minutes": {reason: "Azure gives 5 to 15 minutes", spec: "{template: {terminateNotificationTimeout: 4}}",
			want: []string{"template.terminateNotificationTimeout: 5"}},
		"notice of 16 minutes": {reason: "Azure gives 5 to 15 minutes", spec: "{template: {terminateNotificationTimeout: 16}}",
			want: []string{"template.terminateNotificationTimeout: 15"}},
		"mode": {reason: "there are two", spec: "{orchestrationMode: Rigid}",
			want: []string{"orchestrationMode: Unsupported value"}},
		"strategy": {reason: "there is one", spec: "{strategy: {type: Recreate}}",
			want: []string{"strategy.type: Unsupported value"}},
		"policy": {reason: "there are three", spec: "{strategy: {rollingUpdate: {deletePolicy: Any}}}",
			want: []string{"strategy.rollingUpdate.deletePolicy: Unsupported value"}},
		"no way to replace": {reason: "neither more nor fewer", spec: "{strategy: {rollingUpdate: {maxSurge: 0}}}",
			want: []string{"strategy.rollingUpdate.maxUnavailable: nothing would ever be replaced"}},
		"no percentages": {reason: "percentages that are nothing in numbers let one VM be unavailable",
			spec: `{strategy: {rollingUpdate: {maxSurge: "0%", maxUnavailable: "0%"}}}`},
		"no percentage": {reason: "numbers alone are refused", spec: `{strategy: {rollingUpdate: {maxSurge: "0%", maxUnavailable: 0}}}`},
		"fewer":         {reason: "one way is enough", spec: "{strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}}"},
		"surge as text": {reason: "text is a percentage", spec: `{strategy: {rollingUpdate: {maxSurge: "2"}}}`,
			want: []string{"strategy.rollingUpdate.maxSurge: %$"}},
		"surge below 0": {reason: "no number of VMs", spec: "{strategy: {rollingUpdate: {maxSurge: -1}}}",
			want: []string{"strategy.rollingUpdate.maxSurge: percentage"}},

		"location, made": {reason: "a scale set does not move", spec: made, change: "{location: northeurope}",
			want: []string{"location: " + again}},
		"location, not made": {reason: "a typing error can be corrected before there is a scale set", change: "{location: northeurope}"},
		"mode, made": {reason: "Azure does not change it", spec: made, change: "{orchestrationMode: Flexible}",
			want: []string{"orchestrationMode: " + again}},
		"mode, by default": {reason: "Uniform is the default", spec: made, change: "{orchestrationMode: null}"},
		"domains, made": {reason: "Azure does not change it", spec: made, change: "{platformFaultDomainCount: 2}",
			want: []string{"platformFaultDomainCount: " + again}},
		"system, made": {reason: "a scale set of Windows has another name", spec: made, change: "{template: {osDisk: {osType: Windows}}}",
			want: []string{"template.osDisk.osType: " + again}},
		"spot, made": {reason: "Azure does not turn VMs into spot VMs", spec: made, change: "{template: {spotVMOptions: {}}}",
			want: []string{"template.spotVMOptions: " + again}},
		"spot no more": {reason: "as above", spec: "{providerID: azure:///vmss, template: {spotVMOptions: {}}}",
			change: "{template: {spotVMOptions: null}}",
			want:   []string{"template.spotVMOptions: " + again}},
		"spot, other price": {reason: "the price is that of new VMs", spec: "{providerID: azure:///vmss, template: {spotVMOptions: {}}}",
			change: `{template: {spotVMOptions: {maxPrice: "1"}}}`},
		"no size, made": {reason: "a VM has a size", spec: made, change: `{template: {vmSize: ""}}`,
			want: []string{"template.vmSize: set the size"}},
		"no way, made": {reason: "neither more nor fewer", spec: made,
			change: "{strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}}",
			want:   []string{"strategy.rollingUpdate.maxUnavailable: nothing would ever be replaced"}},
		"role without identity, existing pool": {reason: "no identity can have the role", spec: made,
			change: "{systemAssignedIdentityRole: {name: 00000000-0000-4000-8000-000000000001}}",
			want:   []string{"systemAssignedIdentityRole: needs identity: SystemAssigned"}},
		"template, made": {reason: "new VMs are made from it", spec: made,
			change: "{template: {vmSize: Standard_D4s_v5, osDisk: {diskSizeGB: 64}, image: {id: i}}}"},
		"extension, open": {reason: "a field that is not set can be set once", change: "{template: {disableVMBootstrapExtension: true}}"},
		"extension, set": {reason: "a field that is set stays", spec: "{template: {disableVMBootstrapExtension: false}}",
			change: "{template: {disableVMBootstrapExtension: null}}",
			want:   []string{"template.disableVMBootstrapExtension: cannot change once it is set"}},
	})
	azureMachinePoolMachine.checkRows(t, map[string]row{
		"minimal": {reason: "a VM is all there is to name"},
		"no VM":   {reason: "it stands for one", spec: `{providerID: ""}`, want: []string{"providerID: set the provider ID of the VM"}},
		"another": {reason: "it stands for one", change: "{providerID: azure:///other}", want: []string{"providerID: cannot change"}},
		"number":  {reason: "Azure assigns it when the VM exists", change: `{instanceID: "3"}`},
	})
}
