package webhook

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// DefaultAzureMachine fills in what the user left out. With an empty subscriptionID, the scope and the definition of a
// system-assigned identity's role stay empty until somebody knows the subscription. What is random is not filled in: the
// SSH key and the name of the role assignment.
func DefaultAzureMachine(m *infrav1.AzureMachine, subscriptionID string) {
	spec := &m.Spec
	DefaultLUNs(spec.DataDisks)
	DefaultDataDiskCaching(spec.DataDisks)
	defaultIdentityRole(&spec.ManagedIdentities, subscriptionID)
	DefaultSpotVMOptions(spec.SpotVMOptions, spec.OSDisk)
	spec.Diagnostics = DefaultDiagnostics(spec.Diagnostics)
	DefaultNetworkInterfaces(&spec.VirtualMachineProfile)
}

// DefaultAzureMachineTemplate fills in what does not depend on the machine that is made from the template.
func DefaultAzureMachineTemplate(t *infrav1.AzureMachineTemplate) {
	spec := &t.Spec.Template.Spec
	DefaultLUNs(spec.DataDisks)
	DefaultDataDiskCaching(spec.DataDisks)
	DefaultNetworkInterfaces(&spec.VirtualMachineProfile)
}
