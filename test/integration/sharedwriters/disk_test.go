package sharedwriters_test

import (
	"net/http"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const volume = compute + "disks/pvc-6f1c2a90"

// provisionDisk makes the disk of a volume, as the azuredisk driver does.
func (w *world) provisionDisk() {
	w.T.Helper()
	w.PutResource(volume, body{"location": "eastus", "sku": body{"name": "Premium_LRS"},
		"tags":       body{"kubernetes.io-created-for-pvc-name": "data", "k8s-azure-created-by": "kubernetes-azure-dd"},
		"properties": body{"creationData": body{"createOption": "Empty"}, "diskSizeGB": 8}})
}

// findAttached returns the data disk of the volume, in a list with those that a machine or instance has.
func (w *world) findAttached(path string) []any {
	w.T.Helper()
	have, _ := w.FindProperty(path, "properties.storageProfile.dataDisks").([]any)
	lun := 0
	for _, disk := range have {
		if harness.FindValue(disk, "lun") == float64(lun) {
			lun++
		}
	}
	return append(have, body{"name": "pvc-6f1c2a90", "lun": lun, "caching": "ReadOnly", "createOption": "Attach",
		"managedDisk": w.ResourceReference(volume)})
}

func diskRows() []row {
	const program = "azuredisk CSI driver"
	ownDisk := func(_ *world, s *setup) {
		s.machine.Spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "data", DiskSizeGB: 8, Lun: new(int32(0))}}
		s.pool.Spec.Template.DataDisks = []infrav1.DataDisk{{NameSuffix: "data", DiskSizeGB: 8, Lun: new(int32(0))}}
	}
	attachedTo := func(path func(*world) string) func(*world) bool {
		return func(w *world) bool { return w.FindProperty(volume, "managedBy") == string(w.ResourceID(path(w))) }
	}
	machineVM := func(*world) string { return vm }
	first := func(w *world) string { return w.instancePaths()[0] }
	machineTag := func(w *world) {
		harness.ChangeObject(w.Stage, newMachine(), func(m *infrav1.AzureMachine) { m.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
	}
	poolTag := func(w *world) {
		harness.ChangeObject(w.Stage, newPool(), func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
	}
	const poolPut = "PUT resourceGroups/c1/Microsoft.Compute/virtualMachineScaleSets/c1-mp"
	return []row{
		{
			program: program, resource: "Virtual machine", entry: "a data disk for each volume", verb: "PUT with location and data disks",
			in: selfManaged, prepare: ownDisk,
			write: func(w *world) {
				w.provisionDisk()
				w.PutResource(vm, body{"location": "eastus", "properties": body{"storageProfile": body{"dataDisks": w.findAttached(vm)}}})
			},
			kept: attachedTo(machineVM), change: machineTag, sends: "PATCH resourceGroups/c1/Microsoft.Compute/virtualMachines/c1-md",
		},
		{
			program: program, resource: "Virtual machine", entry: "a data disk, in releases that patch", verb: "PATCH with data disks",
			in: selfManaged, prepare: ownDisk,
			write: func(w *world) {
				w.provisionDisk()
				w.PatchResource(vm, body{"properties": body{"storageProfile": body{"dataDisks": w.findAttached(vm)}}})
			},
			kept: attachedTo(machineVM), change: machineTag, sends: "PATCH resourceGroups/c1/Microsoft.Compute/virtualMachines/c1-md",
		},
		{
			program: program, resource: "Virtual machine", entry: "a data disk, attached by itself", verb: "POST attachDetachDataDisks",
			in: selfManaged, prepare: ownDisk,
			write: func(w *world) {
				w.provisionDisk()
				w.sendVersion(http.MethodPost, vm+"/attachDetachDataDisks", w.ResourceVersion(vm),
					body{"dataDisksToAttach": []any{body{"diskId": string(w.ResourceID(volume))}}})
			},
			kept: attachedTo(machineVM), change: machineTag, sends: "PATCH resourceGroups/c1/Microsoft.Compute/virtualMachines/c1-md",
		},
		{
			program: program, resource: "Instance of a scale set", entry: "a data disk for each volume", verb: "PUT with data disks",
			in: selfManaged,
			write: func(w *world) {
				w.provisionDisk()
				w.PutResource(first(w), body{"properties": body{"storageProfile": body{"dataDisks": w.findAttached(first(w))}}})
			},
			kept: attachedTo(first), change: poolTag, sends: poolPut,
		},
		{
			program: program, resource: "Instance of a scale set", entry: "a data disk beside those of the spec", verb: "PUT with data disks",
			in: selfManaged, prepare: ownDisk,
			write: func(w *world) {
				w.provisionDisk()
				w.PutResource(first(w), body{"properties": body{"storageProfile": body{"dataDisks": w.findAttached(first(w))}}})
			},
			kept: attachedTo(first), change: poolTag, sends: poolPut,
		},
		{
			program: program, resource: "Instance of a scale set", entry: "a data disk, attached by itself", verb: "POST attachDetachDataDisks",
			in: selfManaged, prepare: ownDisk,
			write: func(w *world) {
				w.provisionDisk()
				w.sendVersion(http.MethodPost, first(w)+"/attachDetachDataDisks", w.ResourceVersion(scaleSet),
					body{"dataDisksToAttach": []any{body{"diskId": string(w.ResourceID(volume))}}})
			},
			kept: attachedTo(first), change: poolTag, sends: poolPut,
		},
		{
			program: "azurefile CSI driver", resource: "Subnet of nodes", entry: "a service endpoint for storage", verb: "PUT of the whole subnet",
			in:    selfManaged,
			write: func(w *world) { w.InsertElements(subnet, "serviceEndpoints", body{"service": "Microsoft.Storage"}) },
			kept: func(w *world) bool {
				endpoints, _ := w.FindProperty(subnet, "properties.serviceEndpoints").([]any)
				return slices.ContainsFunc(endpoints, func(endpoint any) bool { return harness.FindValue(endpoint, "service") == "Microsoft.Storage" })
			},
			change: serviceEndpoint("Microsoft.Sql"), sends: "PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/c1-vnet/subnets/nodes",
		},
	}
}

// lockResource is a management lock on a resource.
func (w *world) lockResource(path string) {
	w.T.Helper()
	w.sendVersion(http.MethodPut, path+"/providers/Microsoft.Authorization/locks/backup", "2020-05-01",
		body{"properties": body{"level": "CanNotDelete"}})
}

// extensionPath returns the path of an extension of a VM.
func extensionPath(name string) string {
	return vm + "/" + types.VirtualMachineExtension[len(types.VirtualMachine)+1:] + "/" + name
}
