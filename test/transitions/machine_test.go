package transitions_test

import (
	"maps"
	"regexp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// tags are values for additional tags.
var tags = []any{map[string]any{"a": "x"}, map[string]any{"a": "y", "b": "z"}, map[string]any{"b": ""}, map[string]any{}}

// vmHints are hints about VMs, for a kind that has them below a path.
func vmHints(at string) hints {
	out := hints{}
	for name, values := range map[string][]any{
		// References to resources that other users create in Azure.
		"image": nil, "osDisk.managedDisk.diskEncryptionSet": nil, "dataDisks[].managedDisk.diskEncryptionSet": nil,
		"osDisk.managedDisk.securityProfile.diskEncryptionSet": nil, "dataDisks[].managedDisk.securityProfile.diskEncryptionSet": nil,
		"diagnostics.boot.userManaged": nil, "capacityReservationGroupID": nil,

		"vmSize": {"Standard_D2s_v3", "Standard_D4s_v3", "Standard_E2bds_v5", ""}, "sshPublicKey": {sshKey, "no key"},
		"subnetName": {"c1-node-subnet", "none"}, "networkInterfaces[].subnetName": {"c1-node-subnet", ""},
		"networkInterfaces[].privateIPConfigs": {int64(1), int64(2)},
		"osDisk.osType":                        {"Linux", "Windows"}, "osDisk.diskSizeGB": {int64(30), int64(64), int64(2049)},
		"dataDisks[].nameSuffix": {"data", "logs"}, "dataDisks[].lun": {int64(0), int64(1)}, "dataDisks[].diskSizeGB": {int64(4), int64(64)},
		"spotVMOptions.maxPrice":       {"1", "-1", "0.5", "-2"},
		"terminateNotificationTimeout": {int64(5), int64(15), int64(4)},
		"vmExtensions[].name":          {"one", "two"}, "vmExtensions[].publisher": {"Microsoft.Azure.Extensions"},
		"vmExtensions[].version":  {"2.1"},
		"vmExtensions[].settings": {map[string]any{"a": "x"}, map[string]any{}}, "vmExtensions[].protectedSettings": {map[string]any{"a": "x"}},
	} {
		out[at+name] = values
	}
	return out
}

// identities are hints about the identities of VMs.
var identities = hints{
	"userAssignedIdentities":                  nil,
	"roleAssignmentName":                      {"00000000-0000-4000-8000-000000000001", "a"},
	"systemAssignedIdentityRole.name":         {"00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003", "a"},
	"systemAssignedIdentityRole.scope":        {"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/c1"},
	"systemAssignedIdentityRole.definitionID": {"/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"},
}

func joinHints(of ...hints) hints {
	out := hints{}
	for _, each := range of {
		maps.Copy(out, each)
	}
	return out
}

// createNetwork makes the network that machines need.
func (w *world) createNetwork() {
	w.T.Helper()
	w.ApplyNetwork(w.life.cluster, nil)
	w.WaitReady(&infrav1.AzureCluster{}, w.life.cluster)
	w.CopyInfrastructure(w.life.cluster)
}

// disk is the minimal spec of the disk of a VM.
var disk = map[string]any{"osType": "Linux", "diskSizeGB": int64(30), "managedDisk": map[string]any{"storageAccountType": "Premium_LRS"}}

// madeUpKey is a difference in how VMs are reached.
var madeUpKey = excuse{reason: "a key is made up where none is given, and one that VMs have stays",
	difference: regexp.MustCompile(`\.publicKeys\.0\.keyData: `)}

// machine is a machine of a self-managed cluster.
var machine = life{
	kinds: map[string]kind{"AzureMachine": {plural: "azuremachines", hints: joinHints(vmHints(""), identities, hints{
		"providerID": nil, "virtualMachineScaleSetID": nil, "additionalTags": tags,
		"failureDomain": {"1", "2"}, "dnsServers": {[]any{"10.0.0.4"}, []any{}},
	})}},
	cluster: "c1",
	objects: []object{{name: "c1-md-0", kind: "AzureMachine",
		base: map[string]any{"vmSize": "Standard_D2s_v3", "sshPublicKey": sshKey, "osDisk": disk}}},
	before: (*world).createNetwork,
	create: func(w *world, admitted map[string]client.Object) {
		w.CreateMachine(admitted["c1-md-0"].(*infrav1.AzureMachine), harness.Worker, "")
	},
	excused: []excuse{madeUpKey},
}
