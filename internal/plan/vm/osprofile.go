package vm

import (
	"encoding/base64"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// adminUser is the account of the SSH key.
const adminUser = "capi"

// buildOSProfile returns the account and the bootstrap data. Only the creation of a VM needs the key and the password.
func buildOSProfile(p Profile) (*armcompute.OSProfile, error) {
	profile := &armcompute.OSProfile{
		AdminUsername:            new(adminUser),
		ComputerName:             new(p.Name),
		AllowExtensionOperations: new(!p.DisallowsExtensions),
	}
	if p.BootstrapData != nil {
		profile.CustomData = new(base64.StdEncoding.EncodeToString(p.BootstrapData))
	}
	if p.OSDisk.OSType == infrav1.WindowsOS {
		profile.WindowsConfiguration = &armcompute.WindowsConfiguration{EnableAutomaticUpdates: new(false)}
		if !p.Exists && p.BootstrapData != nil {
			if p.AdminPassword == "" {
				return nil, fmt.Errorf("%s runs Windows and the input has no administrator password", p.Name)
			}
			profile.AdminPassword = new(p.AdminPassword)
		}
		return profile, nil
	}
	key, err := base64.StdEncoding.DecodeString(p.SSHPublicKey)
	if err != nil {
		if p.Exists {
			return profile, nil
		}
		return nil, fmt.Errorf("the SSH key of %s is not base64: %w", p.Name, err)
	}
	profile.LinuxConfiguration = &armcompute.LinuxConfiguration{
		DisablePasswordAuthentication: new(true),
		SSH: &armcompute.SSHConfiguration{PublicKeys: []*armcompute.SSHPublicKey{{
			Path: new("/home/" + adminUser + "/.ssh/authorized_keys"), KeyData: new(string(key)),
		}}},
	}
	return profile, nil
}

// toScaleSetOSProfile returns the profile in the form of scale sets. Azure appends a number to the name for each VM.
func toScaleSetOSProfile(of *armcompute.OSProfile) *armcompute.VirtualMachineScaleSetOSProfile {
	return &armcompute.VirtualMachineScaleSetOSProfile{
		ComputerNamePrefix:       of.ComputerName,
		AdminUsername:            of.AdminUsername,
		AdminPassword:            of.AdminPassword,
		CustomData:               of.CustomData,
		AllowExtensionOperations: of.AllowExtensionOperations,
		LinuxConfiguration:       of.LinuxConfiguration,
		WindowsConfiguration:     of.WindowsConfiguration,
	}
}
