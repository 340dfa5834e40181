package drift_test

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

func interfaceRows() []row {
	first := func(w *world, path string) (list []any, properties body) {
		w.T.Helper()
		list, _ = w.FindProperty(path, "properties.ipConfigurations").([]any)
		return list, harness.FindValue(list, "pipConfig.properties").(body)
	}
	return []row{
		{
			resource: "Network interface", change: "it is added to another backend pool", outcome: kept,
			note: "cloud-provider-azure does this for Services", object: controlPlane, path: cpNIC,
			do: func(w *world) {
				list, properties := first(w, cpNIC)
				pools, _ := properties["loadBalancerBackendAddressPools"].([]any)
				properties["loadBalancerBackendAddressPools"] = append(pools, body{"id": string(w.ResourceID(out)) + "/backendAddressPools/kubernetes"})
				w.EditResource(cpNIC, body{"properties": body{"ipConfigurations": list}})
			},
			holds: func(w *world) bool {
				_, properties := first(w, cpNIC)
				pools, _ := properties["loadBalancerBackendAddressPools"].([]any)
				return len(pools) == 2
			},
		},
		{
			resource: "Network interface", change: "an IP configuration is added", outcome: kept, object: worker, path: nic,
			do: func(w *world) {
				w.addElement(nic, "ipConfigurations",
					body{"name": "theirs", "properties": body{"primary": false, "privateIPAddressVersion": "IPv4", "privateIPAllocationMethod": "Dynamic",
						"privateIPAddress": "10.1.200.1", "provisioningState": "Succeeded", "subnet": body{"id": string(w.ResourceID(nodes))}}})
			},
			holds: func(w *world) bool { return w.FindProperty(nic, "properties.ipConfigurations.theirs") != nil },
		},
		{
			resource: "Network interface", change: "it gets a security group", outcome: kept, note: "the spec has no field for it", object: worker,
			path: nic,
			do: func(w *world) {
				w.EditResource(nic, body{"properties": body{"networkSecurityGroup": body{"id": string(w.ResourceID(group))}}})
			},
			holds: func(w *world) bool { return w.FindProperty(nic, "properties.networkSecurityGroup") != nil },
		},
		tagChanged("Network interface", worker, nic),
		disownedRow("Network interface", worker, nic, "c1"),
		strippedRow("Network interface", worker, nic),
		editedRow("Network interface", "IP forwarding or accelerated networking are changed", "", worker, nic,
			body{"properties": body{"enableIPForwarding": false}}),
		editedRow("Network interface", "DNS servers are changed", "", worker, nic,
			body{"properties": body{"dnsSettings": body{"dnsServers": []any{"9.9.9.9"}}}}),
		{
			resource: "Network interface", change: "it is removed from a backend pool or NAT rule", outcome: repaired, object: controlPlane,
			path: cpNIC,
			do: func(w *world) {
				list, properties := first(w, cpNIC)
				pools, _ := properties["loadBalancerBackendAddressPools"].([]any)
				theirs := slices.DeleteFunc(pools, func(pool any) bool { return !strings.HasSuffix(pool.(body)["id"].(string), "/kubernetes") })
				properties["loadBalancerBackendAddressPools"], properties["loadBalancerInboundNatRules"] = theirs, []any{}
				w.EditResource(cpNIC, body{"properties": body{"ipConfigurations": list}})
			},
		},
		editedRow("Inbound NAT rule", "it forwards to another port", "", controlPlane, natRule, body{"properties": body{"backendPort": 2222}}),
		tagsOnly("Machine's public IP address", worker, network+"publicIPAddresses/pip-"+worker),
	}
}

func machineRows() []row {
	const running = infrav1.VMRunningCondition
	const theirIdentity = "resourceGroups/hub/providers/Microsoft.ManagedIdentity/userAssignedIdentities/theirs"
	extension := vm + "/extensions/CustomScript"
	return []row{
		tagChanged("Virtual machine", worker, vm),
		tagAdded("Virtual machine", worker, vm),
		disownedRow("Virtual machine", worker, vm, "c1"),
		strippedRow("Virtual machine", worker, vm),
		{
			resource: "Virtual machine", change: "an identity is assigned", outcome: kept, object: worker, path: vm,
			do: func(w *world) {
				w.EditResource(vm, body{"identity": body{"userAssignedIdentities": body{string(w.ResourceID(theirIdentity)): body{}}}})
			},
			holds: func(w *world) bool {
				identities, _ := w.FindProperty(vm, "identity.userAssignedIdentities").(body)
				return identities[string(w.ResourceID(theirIdentity))] != nil
			},
		},
		{
			resource: "Virtual machine", change: "a user-assigned identity is removed", outcome: repaired, object: worker, path: vm,
			do: func(w *world) {
				identities, _ := w.FindProperty(vm, "identity.userAssignedIdentities").(body)
				for id := range identities {
					if strings.HasSuffix(id, "/one") {
						w.EditResource(vm, body{"identity": body{"userAssignedIdentities": body{id: nil}}})
					}
				}
			},
		},
		driftedRow("Virtual machine", "it is resized", "the spec applies at creation only. Replace the Machine to change the size", worker, vm,
			running, "properties.hardwareProfile.vmSize",
			body{"properties": body{"hardwareProfile": body{"vmSize": "Standard_D4s_v3"}}},
			body{"properties": body{"hardwareProfile": body{"vmSize": "Standard_D2s_v3"}}}),
		driftedRow("Virtual machine", "boot diagnostics are turned off", "the spec applies at creation only. Replace the Machine to turn them on", worker, vm, running,
			"properties.diagnosticsProfile.bootDiagnostics.enabled",
			body{"properties": body{"diagnosticsProfile": body{"bootDiagnostics": body{"enabled": false}}}},
			body{"properties": body{"diagnosticsProfile": body{"bootDiagnostics": body{"enabled": true}}}}),
		{
			resource: "Virtual machine", change: "a data disk is detached", outcome: reported, note: "the spec applies at creation only. Replace the Machine to restore it", object: worker, path: vm,
			do: func(w *world) {
				w.EditResource(vm, body{"properties": body{"storageProfile": body{"dataDisks": []any{}}}})
			},
			want: metav1.Condition{Type: running, Status: metav1.ConditionTrue, Reason: infrav1.DriftedReason,
				Message: "properties.storageProfile.dataDisks"},
			undo: func(w *world) {
				w.EditResource(vm, body{"properties": body{"storageProfile": body{"dataDisks": []any{body{"name": worker + "_data", "lun": 0,
					"diskSizeGB":   8,
					"createOption": "Empty", "caching": "ReadWrite",
					"managedDisk": body{"id": string(w.ResourceID(disk))}}}}}})
			},
		},
		haltedRow("it is deallocated", "the provider does not start it. Start it, or let a MachineHealthCheck replace the Machine", "deallocate",
			"deallocated"),
		haltedRow("it is stopped", "the provider does not start it. Start it, or let a MachineHealthCheck replace the Machine", "powerOff", "stopped"),
		{
			resource: "Virtual machine", change: "a data disk is attached", outcome: kept, note: "the CSI driver attaches one for each volume",
			object: worker, path: vm,
			do: func(w *world) {
				disks, _ := w.FindProperty(vm, "properties.storageProfile.dataDisks").([]any)
				w.EditResource(vm, body{"properties": body{"storageProfile": body{"dataDisks": append(disks,
					body{"name": "pvc-1", "lun": 1, "diskSizeGB": 4, "createOption": "Attach", "caching": "ReadOnly"})}}})
			},
			holds: func(w *world) bool { return w.FindProperty(vm, "properties.storageProfile.dataDisks.pvc-1") != nil },
		},
		tagsOnly("Disk", worker, disk),
		keptRow("Disk", "it is grown", "", worker, disk, body{"properties": body{"diskSizeGB": 64}}, "properties.diskSizeGB", 64.0),
		removedRow("VM extension", "an extension of the spec is removed", "", worker, extension),
		editedRow("VM extension", "settings or version are changed", "", worker, extension,
			body{"properties": body{"settings": body{"a": "2", "b": "3"}}}),
		{
			resource: "VM extension", change: "an extension is added", outcome: kept, note: "Azure Policy adds extensions", object: worker, path: vm,
			do: func(w *world) {
				w.PutResource(vm+"/extensions/Theirs",
					body{"location": "eastus", "properties": body{"publisher": "p", "type": "t", "typeHandlerVersion": "1.0"}})
			},
			holds: func(w *world) bool { _, ok := w.FindResource(vm + "/extensions/Theirs"); return ok },
		},
		{
			resource: "Availability set", change: "a tag of the provider is changed or removed", outcome: repaired, note: "tags of other users stay",
			object: inSet, path: set,
			do: func(w *world) {
				w.EditResource(set, body{"tags": body{infrav1.RoleTag: "theirs", infrav1.NameTag: nil}})
			},
		},
		removedRow("Role assignment", "the role of a system-assigned identity is removed", "", withRole,
			"providers/Microsoft.Authorization/roleAssignments/"+roleName),
	}
}

// haltedRow returns a VM that is stopped outside the provider; it can be started again.
func haltedRow(change, note, action, message string) row {
	const path = compute + "virtualMachines/" + stopped
	return row{resource: "Virtual machine", change: change, outcome: reported, note: note, object: stopped, path: path,
		do:   func(w *world) { w.PostAction(path, action) },
		want: metav1.Condition{Type: infrav1.VMRunningCondition, Status: metav1.ConditionFalse, Reason: infrav1.VMStoppedReason, Message: message},
		undo: func(w *world) { w.PostAction(path, "start") },
	}
}

// lostRows take machines away; they come last.
func lostRows() []row {
	const running = infrav1.VMRunningCondition
	lost := func(name, change, note, reason, message string, do func(w *world)) row {
		return row{resource: "Virtual machine", change: change, outcome: reported, note: note, object: name,
			path: compute + "virtualMachines/" + name, do: do,
			want: metav1.Condition{Type: running, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
	}
	const replace = "the provider does not create it again. Let a MachineHealthCheck replace the Machine, or replace it yourself"
	return []row{
		lost(failing, "it fails", replace, infrav1.VMFailedReason, "InternalOperationError", func(w *world) {
			w.EditResource(compute+"virtualMachines/"+failing, body{"properties": body{"provisioningState": "Failed"}})
		}),
		lost(vanishing, "it is removed", replace, infrav1.VMDeletedReason, "no longer exists", func(w *world) {
			w.RemoveResource(compute + "virtualMachines/" + vanishing)
		}),
		lost(spotStopped, "Azure evicts a spot VM with the policy Deallocate", "the provider does not start it. Start it, or replace the Machine",
			infrav1.SpotVMEvictedReason, "deallocated", func(w *world) {
				w.AddFault(fault.Rule{Now: true, ID: string(w.ResourceID(compute + "virtualMachines/" + spotStopped)), Kind: fault.Evict})
			}),
		lost(spotDeleted, "Azure evicts a spot VM with the policy Delete", replace, infrav1.SpotVMEvictedReason, "evicted", func(w *world) {
			w.AddFault(fault.Rule{Now: true, ID: string(w.ResourceID(compute + "virtualMachines/" + spotDeleted)), Kind: fault.Evict})
		}),
	}
}
