package machine

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const (
	bootstrapPublisher        = "Microsoft.Azure.ContainerUpstream"
	bootstrapExtensionLinux   = "CAPZ.Linux.Bootstrapping"
	bootstrapExtensionWindows = "CAPZ.Windows.Bootstrapping"
	bootstrapVersion          = "1.0"
	bootstrapVersionARM64     = "1.1"

	// bootstrapSentinel is the file that a bootstrap provider leaves when it is through:
	// https://cluster-api.sigs.k8s.io/developer/providers/contracts/bootstrap-config
	bootstrapSentinel = "/run/cluster-api/bootstrap-success.complete"
	bootstrapTries    = 60
	bootstrapPause    = 5
	bootstrapHelp     = "https://capz.sigs.k8s.io/self-managed/troubleshooting.html"
)

// extensions plans the extensions of the spec, which are kept in line with it, and where it is turned on the one that
// reports a failed bootstrap, which is made once: a machine boots once.
func extensions(in plan.MachineInput, g *arm.Graph) {
	if extension, ok := bootstrapExtension(in); ok {
		addExtension(in, g, extension, arm.CreateOnly)
	}
	for _, extension := range in.AzureMachine.Spec.VMExtensions {
		addExtension(in, g, extension, arm.Repair)
	}
}

func addExtension(in plan.MachineInput, g *arm.Graph, spec infrav1.VMExtension, policy arm.Policy) {
	id := plan.ExtensionID(in, spec.Name)
	if g.Has(id) {
		return
	}
	properties := &armcompute.VirtualMachineExtensionProperties{
		Publisher:          new(spec.Publisher),
		Type:               new(spec.Name),
		TypeHandlerVersion: new(spec.Version),
	}
	if len(spec.Settings) > 0 {
		properties.Settings = map[string]string(spec.Settings)
	}
	if spec.ProtectedSettings != nil {
		properties.ProtectedSettings = map[string]string(spec.ProtectedSettings)
	}
	g.Add(arm.Node{
		ID: id,
		Body: armcompute.VirtualMachineExtension{
			Location:   new(plan.Location(in.ClusterInput)),
			Tags:       plan.MachineTags(in, "", ""),
			Properties: properties,
		},
		Policy: policy,
		Owned:  []string{"properties.settings"},
		// Extensions made before they had a tag are the machine's, too.
		Foreign: arm.UseForeign,
		Group:   infrav1.BootstrapSucceededCondition,
	})
}

// bootstrapExtension is the extension that waits in the VM for the sentinel file and fails when it does not come. It must
// be turned on, and exists in the public cloud only.
func bootstrapExtension(in plan.MachineInput) (infrav1.VMExtension, bool) {
	spec := in.AzureMachine.Spec
	if spec.DisableVMBootstrapExtension == nil || *spec.DisableVMBootstrapExtension {
		return infrav1.VMExtension{}, false
	}
	if spec.DisableExtensionOperations != nil && *spec.DisableExtensionOperations {
		return infrav1.VMExtension{}, false
	}
	if cloud := in.AzureCluster.Spec.AzureEnvironment; cloud != "" && cloud != infrav1.PublicCloud {
		return infrav1.VMExtension{}, false
	}
	extension := infrav1.VMExtension{Publisher: bootstrapPublisher, Version: bootstrapVersion}
	switch spec.OSDisk.OSType {
	case infrav1.LinuxOS:
		extension.Name = bootstrapExtensionLinux
		if size := in.MachineFacts.VMSize; size != nil && size.Capabilities["CpuArchitectureType"] == "Arm64" {
			extension.Version = bootstrapVersionARM64
		}
		extension.ProtectedSettings = infrav1.Tags{"commandToExecute": fmt.Sprintf(
			`for i in $(seq 1 %[1]d); do test -f %[2]s && exit 0; sleep %[3]d; done; echo "bootstrapping did not finish: see %[4]s" >&2; exit 1`,
			bootstrapTries, bootstrapSentinel, bootstrapPause, bootstrapHelp)}
	case infrav1.WindowsOS:
		extension.Name = bootstrapExtensionWindows
		extension.ProtectedSettings = infrav1.Tags{"commandToExecute": fmt.Sprintf(
			`powershell.exe -Command "for ($i = 0; $i -lt %[1]d; $i++) { if (Test-Path '%[2]s') { exit 0 }; Start-Sleep -Seconds %[3]d }; exit -2"`,
			bootstrapTries, bootstrapSentinel, bootstrapPause)}
	default:
		return infrav1.VMExtension{}, false
	}
	return extension, true
}
