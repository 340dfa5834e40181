package vm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const (
	bootstrapPublisher        = "Microsoft.Azure.ContainerUpstream"
	bootstrapExtensionLinux   = "CAPZ.Linux.Bootstrapping"
	bootstrapExtensionWindows = "CAPZ.Windows.Bootstrapping"
	bootstrapVersion          = "1.0"
	bootstrapVersionARM64     = "1.1"

	// bootstrapSentinel is the file that a bootstrap provider writes when it has finished:
	// https://cluster-api.sigs.k8s.io/developer/providers/contracts/bootstrap-config
	bootstrapSentinel = "/run/cluster-api/bootstrap-success.complete"
	bootstrapTries    = 60
	bootstrapPause    = 5
	// The logs of the bootstrap in the VM. Azure shows the message, which has at most a line.
	bootstrapLogLinux   = "/var/log/cloud-init-output.log"
	bootstrapLogWindows = `C:\Program Files\Cloudbase Solutions\Cloudbase-Init\log\cloudbase-init.log`
)

// Extension is an extension of a VM.
type Extension struct {
	infrav1.VMExtension
	// RunsOnce means that the extension runs only when the VM boots, and is not kept as planned.
	RunsOnce bool
}

// ListExtensions returns the extensions of the spec, each name once, and if it is enabled the one that reports a failed
// bootstrap, which wins over one of the same name.
func ListExtensions(p Profile) []Extension {
	var out []Extension
	add := func(extension infrav1.VMExtension, once bool) {
		if !slices.ContainsFunc(out, func(e Extension) bool { return strings.EqualFold(e.Name, extension.Name) }) {
			out = append(out, Extension{VMExtension: extension, RunsOnce: once})
		}
	}
	if extension, ok := buildBootstrapExtension(p); ok {
		add(extension, true)
	}
	for _, extension := range p.VMExtensions {
		add(extension, false)
	}
	return out
}

// BuildExtensionProperties returns the properties of an extension of a VM.
func BuildExtensionProperties(extension Extension) *armcompute.VirtualMachineExtensionProperties {
	properties := &armcompute.VirtualMachineExtensionProperties{
		Publisher:          new(extension.Publisher),
		Type:               new(extension.Name),
		TypeHandlerVersion: new(extension.Version),
	}
	if len(extension.Settings) > 0 {
		properties.Settings = map[string]string(extension.Settings)
	}
	if extension.ProtectedSettings != nil {
		properties.ProtectedSettings = map[string]string(extension.ProtectedSettings)
	}
	return properties
}

// toScaleSetExtensions returns the extensions in the form of scale sets, which have them in their body.
func toScaleSetExtensions(p Profile) *armcompute.VirtualMachineScaleSetExtensionProfile {
	out := &armcompute.VirtualMachineScaleSetExtensionProfile{Extensions: []*armcompute.VirtualMachineScaleSetExtension{}}
	for _, extension := range ListExtensions(p) {
		of := BuildExtensionProperties(extension)
		if of.Settings == nil {
			of.Settings = map[string]string{} // shows that settings were removed
		}
		out.Extensions = append(out.Extensions, &armcompute.VirtualMachineScaleSetExtension{
			Name: new(extension.Name),
			Properties: &armcompute.VirtualMachineScaleSetExtensionProperties{
				Publisher:          of.Publisher,
				Type:               of.Type,
				TypeHandlerVersion: of.TypeHandlerVersion,
				Settings:           of.Settings,
				ProtectedSettings:  of.ProtectedSettings,
			},
		})
	}
	return out
}

// buildBootstrapExtension returns the extension that waits in the VM for the sentinel file and fails if it does not
// appear. ok is false unless the spec enables it. It exists in the public cloud only.
func buildBootstrapExtension(p Profile) (infrav1.VMExtension, bool) {
	if p.DisableVMBootstrapExtension == nil || *p.DisableVMBootstrapExtension || p.DisallowsExtensions {
		return infrav1.VMExtension{}, false
	}
	if p.Place.Cloud != "" && p.Place.Cloud != infrav1.PublicCloud {
		return infrav1.VMExtension{}, false
	}
	extension := infrav1.VMExtension{Publisher: bootstrapPublisher, Version: bootstrapVersion}
	switch p.OSDisk.OSType {
	case infrav1.LinuxOS:
		extension.Name = bootstrapExtensionLinux
		if p.Size != nil && p.Size.Capabilities["CpuArchitectureType"] == "Arm64" {
			extension.Version = bootstrapVersionARM64
		}
		extension.ProtectedSettings = infrav1.Tags{"commandToExecute": fmt.Sprintf(
			`for i in $(seq 1 %[1]d); do test -f %[2]s && exit 0; sleep %[3]d; done; echo "bootstrapping did not finish: see %[4]s in the VM" >&2; exit 1`,
			bootstrapTries, bootstrapSentinel, bootstrapPause, bootstrapLogLinux)}
	case infrav1.WindowsOS:
		extension.Name = bootstrapExtensionWindows
		extension.ProtectedSettings = infrav1.Tags{"commandToExecute": fmt.Sprintf(
			`powershell.exe -Command "for ($i = 0; $i -lt %[1]d; $i++) { if (Test-Path '%[2]s') { exit 0 }; Start-Sleep -Seconds %[3]d }; [Console]::Error.WriteLine('bootstrapping did not finish: see %[4]s in the VM'); exit -2"`,
			bootstrapTries, bootstrapSentinel, bootstrapPause, bootstrapLogWindows)}
	default:
		return infrav1.VMExtension{}, false
	}
	return extension, true
}
