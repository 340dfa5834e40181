package defaults

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// FillAzureMachinePool fills in fields that the user left out. Data disks without a caching type stay without one, as they are in existing
// scale sets. subscriptionID is that of FillAzureMachine.
func FillAzureMachinePool(p *infrav1.AzureMachinePool, subscriptionID string) {
	template := &p.Spec.Template
	fillLUNs(template.DataDisks)
	FillIdentityRole(&p.Spec.ManagedIdentities, subscriptionID)
	fillSpotVMOptions(template.SpotVMOptions, template.OSDisk)
	template.Diagnostics = fillDiagnostics(template.Diagnostics)
	fillNetworkInterfaces(&template.VirtualMachineProfile)
}
