package machine

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// addExtensions adds the extensions of the spec, which are kept as planned, and if it is enabled the one that reports a
// failed bootstrap, which is only created: a machine boots once.
func addExtensions(in plan.MachineInput, p vm.Profile, g *arm.Graph) {
	for _, extension := range vm.ListExtensions(p) {
		node := arm.Node{
			ID: plan.ExtensionID(in, extension.Name),
			Body: armcompute.VirtualMachineExtension{
				Location:   new(p.Place.Region),
				Tags:       plan.BuildMachineTags(in, "", ""),
				Properties: vm.BuildExtensionProperties(extension),
			},
			Policy:     arm.Repair,
			OwnedPaths: []string{"properties.settings"},
			// Extensions that were created without a tag by earlier releases are the machine's, too.
			Foreign: arm.UseForeign,
			Group:   infrav1.BootstrapSucceededCondition,
		}
		if extension.RunsOnce {
			node.Policy = arm.CreateOnly
		}
		g.Add(node)
	}
}
