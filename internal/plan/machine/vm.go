package machine

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// adminUser is the account that the SSH key is for.
const adminUser = "capi"

// virtualMachine plans the VM. It is made once and only its tags change afterwards.
func virtualMachine(in plan.MachineInput, g *arm.Graph) error {
	node := arm.Node{
		ID:     plan.VMID(in),
		After:  nicIDs(in),
		Policy: arm.CreateOnly,
		Group:  infrav1.VMRunningCondition,
	}
	if set, ok := availabilitySetID(in); ok {
		node.After = append(node.After, set)
	}
	if in.BootstrapData == nil && !in.MachineFacts.VMExists {
		node.Blocked = "the bootstrap data secret is not there"
	}
	body, err := vmBody(in)
	if err != nil {
		return err
	}
	node.Body = body
	g.Add(node)
	return nil
}

func vmBody(in plan.MachineInput) (*armcompute.VirtualMachine, error) {
	spec := in.AzureMachine.Spec
	// Only making a VM needs the image and the key; one that exists keeps its own whatever became of the input.
	image, err := Image(in)
	if err != nil && !in.MachineFacts.VMExists {
		return nil, err
	}
	profile, err := osProfile(in)
	if err != nil && !in.MachineFacts.VMExists {
		return nil, err
	}
	vm := &armcompute.VirtualMachine{
		Location:         new(plan.Location(in.ClusterInput)),
		ExtendedLocation: computeLocation(in),
		Tags:             vmTags(in),
		Identity:         identity(spec),
		Plan:             imagePlan(image),
		Properties: &armcompute.VirtualMachineProperties{
			HardwareProfile:        &armcompute.HardwareProfile{VMSize: new(armcompute.VirtualMachineSizeTypes(spec.VMSize))},
			StorageProfile:         storageProfile(in, image),
			OSProfile:              profile,
			NetworkProfile:         networkProfile(in),
			SecurityProfile:        securityProfile(spec),
			DiagnosticsProfile:     diagnostics(spec),
			AdditionalCapabilities: capabilities(spec),
		},
	}
	if zone := FailureDomain(in); zone != "" {
		vm.Zones = plan.Pointers([]string{zone})
	}
	placement(in, vm.Properties)
	return vm, nil
}

// placement says what the VM is part of and how it is paid for.
func placement(in plan.MachineInput, properties *armcompute.VirtualMachineProperties) {
	spec := in.AzureMachine.Spec
	if set, ok := availabilitySetID(in); ok {
		properties.AvailabilitySet = &armcompute.SubResource{ID: plan.IDPointer(set)}
	}
	if id := spec.VirtualMachineScaleSetID; id != nil {
		properties.VirtualMachineScaleSet = &armcompute.SubResource{ID: new(strings.TrimPrefix(*id, "azure://"))}
	}
	if id := spec.CapacityReservationGroupID; id != nil {
		properties.CapacityReservation = &armcompute.CapacityReservationProfile{CapacityReservationGroup: &armcompute.SubResource{ID: new(*id)}}
	}
	if spot := spec.SpotVMOptions; spot != nil {
		properties.Priority = new(armcompute.VirtualMachinePriorityTypesSpot)
		if spot.EvictionPolicy != nil {
			properties.EvictionPolicy = new(armcompute.VirtualMachineEvictionPolicyTypes(*spot.EvictionPolicy))
		}
		if spot.MaxPrice != nil {
			properties.BillingProfile = &armcompute.BillingProfile{MaxPrice: new(spot.MaxPrice.AsApproximateFloat64())}
		}
	}
}

func osProfile(in plan.MachineInput) (*armcompute.OSProfile, error) {
	spec := in.AzureMachine.Spec
	profile := &armcompute.OSProfile{
		AdminUsername:            new(adminUser),
		ComputerName:             new(plan.VMName(in)),
		AllowExtensionOperations: new(spec.DisableExtensionOperations == nil || !*spec.DisableExtensionOperations),
	}
	if in.BootstrapData != nil {
		profile.CustomData = new(base64.StdEncoding.EncodeToString(in.BootstrapData))
	}
	if spec.OSDisk.OSType == infrav1.WindowsOS {
		profile.WindowsConfiguration = &armcompute.WindowsConfiguration{EnableAutomaticUpdates: new(false)}
		if !in.MachineFacts.VMExists && in.BootstrapData != nil {
			if in.AdminPassword == "" {
				return nil, fmt.Errorf("%s runs Windows and the input has no administrator password", in.AzureMachine.Name)
			}
			profile.AdminPassword = new(in.AdminPassword)
		}
		return profile, nil
	}
	key, err := base64.StdEncoding.DecodeString(spec.SSHPublicKey)
	if err != nil {
		return profile, fmt.Errorf("spec.sshPublicKey is not base64: %w", err)
	}
	profile.LinuxConfiguration = &armcompute.LinuxConfiguration{
		DisablePasswordAuthentication: new(true),
		SSH: &armcompute.SSHConfiguration{PublicKeys: []*armcompute.SSHPublicKey{{
			Path: new("/home/" + adminUser + "/.ssh/authorized_keys"), KeyData: new(string(key)),
		}}},
	}
	return profile, nil
}

func networkProfile(in plan.MachineInput) *armcompute.NetworkProfile {
	profile := &armcompute.NetworkProfile{}
	for i, id := range nicIDs(in) {
		profile.NetworkInterfaces = append(profile.NetworkInterfaces, &armcompute.NetworkInterfaceReference{
			ID:         plan.IDPointer(id),
			Properties: &armcompute.NetworkInterfaceReferenceProperties{Primary: new(i == 0)},
		})
	}
	return profile
}

func identity(spec infrav1.AzureMachineSpec) *armcompute.VirtualMachineIdentity {
	switch spec.Identity {
	case infrav1.VMIdentitySystemAssigned:
		return &armcompute.VirtualMachineIdentity{Type: new(armcompute.ResourceIdentityTypeSystemAssigned)}
	case infrav1.VMIdentityUserAssigned:
		identities := map[string]*armcompute.UserAssignedIdentitiesValue{}
		for _, identity := range spec.UserAssignedIdentities {
			identities[strings.TrimPrefix(identity.ProviderID, "azure://")] = &armcompute.UserAssignedIdentitiesValue{}
		}
		return &armcompute.VirtualMachineIdentity{Type: new(armcompute.ResourceIdentityTypeUserAssigned), UserAssignedIdentities: identities}
	default:
		return nil
	}
}

func diagnostics(spec infrav1.AzureMachineSpec) *armcompute.DiagnosticsProfile {
	if spec.Diagnostics == nil || spec.Diagnostics.Boot == nil {
		return nil
	}
	boot := &armcompute.BootDiagnostics{Enabled: new(spec.Diagnostics.Boot.StorageAccountType != infrav1.DisabledDiagnosticsStorage)}
	if managed := spec.Diagnostics.Boot.UserManaged; spec.Diagnostics.Boot.StorageAccountType == infrav1.UserManagedDiagnosticsStorage && managed != nil {
		boot.StorageURI = new(managed.StorageAccountURI)
	}
	return &armcompute.DiagnosticsProfile{BootDiagnostics: boot}
}

// capabilities turns ultra disks on for a machine that has one, unless the spec says otherwise.
func capabilities(spec infrav1.AzureMachineSpec) *armcompute.AdditionalCapabilities {
	if spec.AdditionalCapabilities != nil && spec.AdditionalCapabilities.UltraSSDEnabled != nil {
		return &armcompute.AdditionalCapabilities{UltraSSDEnabled: spec.AdditionalCapabilities.UltraSSDEnabled}
	}
	if hasUltraDisk(spec) {
		return &armcompute.AdditionalCapabilities{UltraSSDEnabled: new(true)}
	}
	return nil
}

func hasUltraDisk(spec infrav1.AzureMachineSpec) bool {
	for _, disk := range spec.DataDisks {
		if disk.ManagedDisk != nil && disk.ManagedDisk.StorageAccountType == infrav1.StorageAccountTypeUltraSSD {
			return true
		}
	}
	return false
}

// securityProfile is that of trusted launch, which knows only to turn things on, or of a confidential VM, which is sent as
// the spec has it.
func securityProfile(spec infrav1.AzureMachineSpec) *armcompute.SecurityProfile {
	if spec.SecurityProfile == nil {
		return nil
	}
	out := &armcompute.SecurityProfile{EncryptionAtHost: spec.SecurityProfile.EncryptionAtHost}
	if spec.SecurityProfile.SecurityType != "" {
		out.SecurityType = new(armcompute.SecurityTypes(spec.SecurityProfile.SecurityType))
	}
	if uefi := spec.SecurityProfile.UefiSettings; uefi != nil {
		out.UefiSettings = &armcompute.UefiSettings{SecureBootEnabled: uefi.SecureBootEnabled, VTpmEnabled: uefi.VTpmEnabled}
		if spec.SecurityProfile.SecurityType != infrav1.SecurityTypesConfidentialVM {
			out.UefiSettings = &armcompute.UefiSettings{SecureBootEnabled: onlyTrue(uefi.SecureBootEnabled), VTpmEnabled: onlyTrue(uefi.VTpmEnabled)}
		}
	}
	return out
}

func onlyTrue(value *bool) *bool {
	if value == nil || !*value {
		return nil
	}
	return value
}

func computeLocation(in plan.MachineInput) *armcompute.ExtendedLocation {
	location := in.AzureCluster.Spec.ExtendedLocation
	if location == nil {
		return nil
	}
	return &armcompute.ExtendedLocation{Name: new(location.Name), Type: new(armcompute.ExtendedLocationTypes(location.Type))}
}
