// Package vm plans what a VM is made of: image, disks, account, security, network interfaces, extensions, identities, price
// and place, whatever kind of object asks for it.
//
// It is pure, and knows no kind: a Profile is filled from an AzureMachine, whose VM is a resource of its own, or from the
// template of a pool, whose VMs a scale set makes. What both bodies have is built once, in the shape of a VM, and a function
// whose name begins with ScaleSet gives the same in the shape of a scale set. Checks take the path of the caller's field.
package vm

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Profile is all that the parts of a VM are computed from.
type Profile struct {
	// VirtualMachineProfile is the part of the spec that kinds share, defaulted as the webhook defaults it.
	infrav1.VirtualMachineProfile

	// Name is the name of the VM, or what the names of a scale set's VMs begin with. Disks are named after it.
	Name string

	// Version is the Kubernetes version that the default image is for; VersionFrom is the kind of object that has it.
	Version, VersionFrom string

	// Annotations are those of the object; some choose among Windows images.
	Annotations map[string]string

	// Place is where the VM goes.
	Place Place

	// Network is what its interfaces are in.
	Network Network

	// Size is the size's row in the SKU catalog of the region; nil when the catalog does not have it.
	Size *plan.VMSize

	// NearestSizes are the catalog's names most like that of a size it does not have, best first.
	NearestSizes []string

	// DisallowsExtensions tells that the VM takes no extensions.
	DisallowsExtensions bool

	// BootstrapData is what the VM boots with; nil when it is not there.
	BootstrapData []byte

	// AdminPassword is the password of the account of a Windows VM that is to be made.
	AdminPassword string

	// Exists tells that the VM exists: it keeps what it was made with, whatever became of the input.
	Exists bool
}

// Place is where a VM goes.
type Place struct {
	// Region is as plan.NormalizeRegion writes it.
	Region string
	// RegionZones are the availability zones of the region, sorted.
	RegionZones []string
	// Zones are the availability zones that the VM may go to; empty is anywhere.
	Zones []string
	// ZonesFrom tells in words whose field Zones are, for messages.
	ZonesFrom string
	// ToExtendedLocation is an edge zone; nil is the region itself.
	ExtendedLocation *infrav1.ExtendedLocationSpec
	// Cloud is the Azure cloud, "" the public one.
	Cloud string
}

// BuildProperties are the properties of a VM, but for its network interfaces and what it is part of. The error is that of input
// that Check refuses.
func BuildProperties(p Profile) (*armcompute.VirtualMachineProperties, error) {
	storage, err := buildStorageProfile(p)
	if err != nil {
		return nil, err
	}
	account, err := buildOSProfile(p)
	if err != nil {
		return nil, err
	}
	out := &armcompute.VirtualMachineProperties{
		HardwareProfile:        &armcompute.HardwareProfile{VMSize: new(armcompute.VirtualMachineSizeTypes(p.VMSize))},
		StorageProfile:         storage,
		OSProfile:              account,
		SecurityProfile:        buildSecurityProfile(p),
		DiagnosticsProfile:     buildDiagnostics(p),
		AdditionalCapabilities: BuildCapabilities(p),
	}
	out.Priority, out.EvictionPolicy, out.BillingProfile = buildSpotOptions(p)
	return out, nil
}

// BuildScaleSetProfile is the same for all VMs of a scale set, with their network interfaces and extensions. Their size is the
// SKU of the scale set, and capabilities, zones and identities are the scale set's, too.
func BuildScaleSetProfile(p Profile) (*armcompute.VirtualMachineScaleSetVMProfile, error) {
	properties, err := BuildProperties(p)
	if err != nil {
		return nil, err
	}
	network, err := buildScaleSetNetworkProfile(p)
	if err != nil {
		return nil, err
	}
	return &armcompute.VirtualMachineScaleSetVMProfile{
		StorageProfile:     toScaleSetStorageProfile(properties.StorageProfile),
		OSProfile:          toScaleSetOSProfile(properties.OSProfile),
		NetworkProfile:     network,
		ExtensionProfile:   toScaleSetExtensions(p),
		SecurityProfile:    properties.SecurityProfile,
		DiagnosticsProfile: properties.DiagnosticsProfile,
		Priority:           properties.Priority,
		EvictionPolicy:     properties.EvictionPolicy,
		BillingProfile:     properties.BillingProfile,
	}, nil
}

// BuildImagePlan is the purchase plan of the image. It is the VM's or scale set's, beside the properties.
func BuildImagePlan(p Profile) *armcompute.Plan {
	image, err := SelectImage(p)
	if err != nil {
		return nil
	}
	return toImagePlan(image)
}

// ToExtendedLocation is the edge zone as the VM or scale set has it, beside the properties.
func ToExtendedLocation(place Place) *armcompute.ExtendedLocation {
	if place.ExtendedLocation == nil {
		return nil
	}
	return &armcompute.ExtendedLocation{Name: new(place.ExtendedLocation.Name), Type: new(armcompute.ExtendedLocationTypes(place.ExtendedLocation.Type))}
}

// buildSpotOptions is how a VM is paid for that Azure may take back.
func buildSpotOptions(p Profile) (*armcompute.VirtualMachinePriorityTypes, *armcompute.VirtualMachineEvictionPolicyTypes, *armcompute.BillingProfile) {
	options := p.SpotVMOptions
	if options == nil {
		return nil, nil, nil
	}
	var eviction *armcompute.VirtualMachineEvictionPolicyTypes
	if options.EvictionPolicy != nil {
		eviction = new(armcompute.VirtualMachineEvictionPolicyTypes(*options.EvictionPolicy))
	}
	var billing *armcompute.BillingProfile
	if options.MaxPrice != nil {
		billing = &armcompute.BillingProfile{MaxPrice: new(options.MaxPrice.AsApproximateFloat64())}
	}
	return new(armcompute.VirtualMachinePriorityTypesSpot), eviction, billing
}

func buildDiagnostics(p Profile) *armcompute.DiagnosticsProfile {
	if p.Diagnostics == nil || p.Diagnostics.Boot == nil {
		return nil
	}
	boot := &armcompute.BootDiagnostics{Enabled: new(p.Diagnostics.Boot.StorageAccountType != infrav1.DisabledDiagnosticsStorage)}
	if managed := p.Diagnostics.Boot.UserManaged; p.Diagnostics.Boot.StorageAccountType == infrav1.UserManagedDiagnosticsStorage && managed != nil {
		boot.StorageURI = new(managed.StorageAccountURI)
	}
	return &armcompute.DiagnosticsProfile{BootDiagnostics: boot}
}
