package defaults

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// FillAzureMachine fills in fields that the user left out. With an empty subscriptionID, the scope and the definition
// of a system-assigned identity's role stay empty until the subscription is known. Random values are not filled in: the
// SSH key and the name of the role assignment.
func FillAzureMachine(m *infrav1.AzureMachine, subscriptionID string) {
	spec := &m.Spec
	fillLUNs(spec.DataDisks)
	fillDataDiskCaching(spec.DataDisks)
	FillIdentityRole(&spec.ManagedIdentities, subscriptionID)
	fillSpotVMOptions(spec.SpotVMOptions, spec.OSDisk)
	spec.Diagnostics = fillDiagnostics(spec.Diagnostics)
	fillNetworkInterfaces(&spec.VirtualMachineProfile)
}

// FillAzureMachineTemplate fills in the fields that do not depend on the machine that is made from the template.
func FillAzureMachineTemplate(t *infrav1.AzureMachineTemplate) {
	spec := &t.Spec.Template.Spec
	fillLUNs(spec.DataDisks)
	fillDataDiskCaching(spec.DataDisks)
	fillNetworkInterfaces(&spec.VirtualMachineProfile)
}
