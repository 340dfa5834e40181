// Package vm plans the parts of a VM: image, disks, account, security, network interfaces, extensions, identities, price
// and place.
//
// It is pure and independent of kinds: a Profile is built from an AzureMachine, whose VM is a resource of its own, or from
// the template of a pool, whose VMs belong to a scale set. Parts that both bodies have are built once, in the form of a
// VM. Functions with ScaleSet in their name convert them into the form of a scale set. Checks take the path of the
// caller's field.
package vm

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Profile is the description of a VM.
type Profile struct {
	// VirtualMachineProfile is the part of the spec that kinds share, with defaults filled in.
	infrav1.VirtualMachineProfile

	// Name is the name of the VM, or the prefix of the names of a scale set's VMs. Disks are named after it.
	Name string

	// Version is the Kubernetes version of the default image. VersionFrom is the kind of the object with the version, for
	// messages.
	Version, VersionFrom string

	// Annotations are those of the object. Some choose among Windows images.
	Annotations map[string]string

	// Place is the place of the VM.
	Place Place

	// Network is the network of its interfaces.
	Network Network

	// Size is the size's row in the SKU catalog of the region; nil if the catalog does not list it.
	Size *plan.VMSize

	// NearestSizes are the catalog's names most similar to an unknown size, best first.
	NearestSizes []string

	// DisallowsExtensions means that the VM accepts no extensions.
	DisallowsExtensions bool

	// BootstrapData is the bootstrap data of the VM; nil if it does not exist.
	BootstrapData []byte

	// AdminPassword is the password of the administrator account of a new Windows VM.
	AdminPassword string

	// Exists means that the VM exists. It keeps the settings of its creation, whatever the input is now.
	Exists bool
}

// Place is the place of a VM.
type Place struct {
	// Region has the form of plan.NormalizeRegion.
	Region string
	// RegionZones are the availability zones of the region, sorted.
	RegionZones []string
	// Zones are the availability zones in which the VM may be placed; empty for any.
	Zones []string
	// ZonesFrom describes the field of Zones in words, for messages.
	ZonesFrom string
	// ExtendedLocation is an edge zone; nil for the region itself.
	ExtendedLocation *infrav1.ExtendedLocationSpec
	// Cloud is the Azure cloud, "" for the public one.
	Cloud string
}

// BuildProperties returns the properties of a VM, without its network interfaces and memberships. The error is a fault of
// the input that the checks refuse.
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
		CapacityReservation:    buildCapacityReservation(p),
	}
	out.Priority, out.EvictionPolicy, out.BillingProfile = buildSpotOptions(p)
	return out, nil
}

// BuildScaleSetProfile returns the profile of all VMs of a scale set, with their network interfaces and extensions. Their
// size is the SKU of the scale set. Capabilities, zones and identities are also properties of the scale set.
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
		// Azure can change it, for VMs that are made afterwards, so VMs are replaced for it like for the rest of the template.
		// https://learn.microsoft.com/en-us/azure/virtual-machines/capacity-reservation-associate-virtual-machine-scale-set
		CapacityReservation: properties.CapacityReservation,
	}, nil
}

// buildCapacityReservation returns the capacity reservation group of the VM, nil for none.
func buildCapacityReservation(p Profile) *armcompute.CapacityReservationProfile {
	if p.CapacityReservationGroupID == nil {
		return nil
	}
	return &armcompute.CapacityReservationProfile{
		CapacityReservationGroup: &armcompute.SubResource{ID: new(arm.TrimScheme(*p.CapacityReservationGroupID))},
	}
}

// BuildImagePlan returns the purchase plan of the image, which the VM or scale set has beside its properties.
func BuildImagePlan(p Profile) *armcompute.Plan {
	image, err := SelectImage(p)
	if err != nil {
		return nil
	}
	return toImagePlan(image)
}

// ToExtendedLocation returns the edge zone in the form of SDK models.
func ToExtendedLocation(place Place) *armcompute.ExtendedLocation {
	if place.ExtendedLocation == nil {
		return nil
	}
	return &armcompute.ExtendedLocation{Name: new(place.ExtendedLocation.Name),
		Type: new(armcompute.ExtendedLocationTypes(place.ExtendedLocation.Type))}
}

// buildSpotOptions returns the priority, eviction policy and maximum price of a spot VM, nil for another VM.
func buildSpotOptions(p Profile) (*armcompute.VirtualMachinePriorityTypes, *armcompute.VirtualMachineEvictionPolicyTypes,
	*armcompute.BillingProfile) {
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
	if managed := p.Diagnostics.Boot.UserManaged; p.Diagnostics.Boot.StorageAccountType == infrav1.UserManagedDiagnosticsStorage &&
		managed != nil {
		boot.StorageURI = new(managed.StorageAccountURI)
	}
	return &armcompute.DiagnosticsProfile{BootDiagnostics: boot}
}
