package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const (
	subscription = "00000000-0000-0000-0000-000000000001"
	contributor  = "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"
	scaleSetID   = "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v"
	identityID   = "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
)

func ultra() *infrav1.ManagedDiskParameters {
	return &infrav1.ManagedDiskParameters{StorageAccountType: "UltraSSD_LRS"}
}

func ephemeral() *infrav1.DiffDiskSettings { return &infrav1.DiffDiskSettings{Option: "Local"} }

func TestDefaultAzureMachine(t *testing.T) {
	type spec = infrav1.AzureMachineSpec
	base := func(change func(*spec)) spec {
		s := newMachine().Spec
		s.Diagnostics = &infrav1.Diagnostics{Boot: &infrav1.BootDiagnostics{StorageAccountType: "Managed"}}
		s.NetworkInterfaces = []infrav1.NetworkInterface{{PrivateIPConfigs: 1}}
		change(&s)
		return s
	}
	for name, tc := range map[string]struct {
		reason       string
		change       func(*spec)
		subscription string
		want         func(*spec)
	}{
		"minimal": {reason: "a machine has boot diagnostics and one network interface", change: func(*spec) {}, want: func(*spec) {}},
		"disks": {
			reason: "disks take the lowest unit numbers that are free, and ultra disks are not cached",
			change: func(s *spec) {
				s.DataDisks = []infrav1.DataDisk{{NameSuffix: "a"}, {NameSuffix: "b", Lun: new(int32(0))}, {NameSuffix: "c", ManagedDisk: ultra()}, {NameSuffix: "d", CachingType: "ReadOnly"}}
			},
			want: func(s *spec) {
				s.DataDisks = []infrav1.DataDisk{
					{NameSuffix: "a", Lun: new(int32(1)), CachingType: "ReadWrite"}, {NameSuffix: "b", Lun: new(int32(0)), CachingType: "ReadWrite"},
					{NameSuffix: "c", Lun: new(int32(2)), CachingType: "None", ManagedDisk: ultra()}, {NameSuffix: "d", Lun: new(int32(3)), CachingType: "ReadOnly"}}
			},
		},
		"identity": {
			reason:       "the role of an identity is Contributor of the subscription",
			change:       func(s *spec) { s.Identity = infrav1.VMIdentitySystemAssigned },
			subscription: subscription,
			want: func(s *spec) {
				s.Identity = infrav1.VMIdentitySystemAssigned
				s.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Scope: "/subscriptions/" + subscription + "/", DefinitionID: contributor}
			},
		},
		"identity without subscription": {
			reason: "scope and definition wait for the subscription; the deprecated name moves",
			change: func(s *spec) { s.Identity, s.RoleAssignmentName = infrav1.VMIdentitySystemAssigned, "name" },
			want: func(s *spec) {
				s.Identity = infrav1.VMIdentitySystemAssigned
				s.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: "name"}
			},
		},
		"both names": {
			reason: "which name is meant is the user's to say",
			change: func(s *spec) {
				s.Identity, s.RoleAssignmentName = infrav1.VMIdentitySystemAssigned, "old"
				s.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: "new"}
			},
			want: func(s *spec) {
				s.Identity, s.RoleAssignmentName = infrav1.VMIdentitySystemAssigned, "old"
				s.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: "new"}
			},
		},
		"spot": {
			reason: "an evicted VM keeps its disk",
			change: func(s *spec) { s.SpotVMOptions = &infrav1.SpotVMOptions{} },
			want: func(s *spec) {
				s.SpotVMOptions = &infrav1.SpotVMOptions{EvictionPolicy: new(infrav1.SpotEvictionPolicyDeallocate)}
			},
		},
		"ephemeral spot": {
			reason: "a VM with an ephemeral disk cannot be deallocated",
			change: func(s *spec) { s.SpotVMOptions, s.OSDisk.DiffDiskSettings = &infrav1.SpotVMOptions{}, ephemeral() },
			want: func(s *spec) {
				s.SpotVMOptions, s.OSDisk.DiffDiskSettings = &infrav1.SpotVMOptions{EvictionPolicy: new(infrav1.SpotEvictionPolicyDelete)}, ephemeral()
			},
		},
		"diagnostics": {
			reason: "what the user says about diagnostics stays",
			change: func(s *spec) {
				s.Diagnostics = &infrav1.Diagnostics{Boot: &infrav1.BootDiagnostics{StorageAccountType: "Disabled"}}
			},
			want: func(s *spec) {
				s.Diagnostics = &infrav1.Diagnostics{Boot: &infrav1.BootDiagnostics{StorageAccountType: "Disabled"}}
			},
		},
		"deprecated network": {
			reason: "the deprecated fields become a network interface",
			change: func(s *spec) { s.SubnetName, s.AcceleratedNetworking = "nodes", new(false) },
			want: func(s *spec) {
				s.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "nodes", AcceleratedNetworking: new(false), PrivateIPConfigs: 1}}
			},
		},
		"both networks": {
			reason: "which subnet is meant is the user's to say",
			change: func(s *spec) { s.SubnetName, s.NetworkInterfaces = "nodes", []infrav1.NetworkInterface{{}} },
			want:   func(s *spec) { s.SubnetName, s.NetworkInterfaces = "nodes", []infrav1.NetworkInterface{{}} },
		},
		"two interfaces": {
			reason: "every interface has an address",
			change: func(s *spec) { s.NetworkInterfaces = []infrav1.NetworkInterface{{PrivateIPConfigs: 3}, {}} },
			want: func(s *spec) {
				s.NetworkInterfaces = []infrav1.NetworkInterface{{PrivateIPConfigs: 3}, {PrivateIPConfigs: 1}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(func(m *infrav1.AzureMachine) { tc.change(&m.Spec) })
			for range 2 {
				DefaultAzureMachine(m, tc.subscription)
				if diff := cmp.Diff(base(tc.want), m.Spec); diff != "" {
					t.Errorf("%s: -want +got\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestDefaultAzureMachineTemplate(t *testing.T) {
	template := &infrav1.AzureMachineTemplate{}
	spec := &template.Spec.Template.Spec
	spec.Identity, spec.SubnetName = infrav1.VMIdentitySystemAssigned, "nodes"
	spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "a"}}
	DefaultAzureMachineTemplate(template)
	want := infrav1.AzureMachineSpec{
		Identity:          infrav1.VMIdentitySystemAssigned,
		DataDisks:         []infrav1.DataDisk{{NameSuffix: "a", Lun: new(int32(0)), CachingType: "ReadWrite"}},
		NetworkInterfaces: []infrav1.NetworkInterface{{SubnetName: "nodes", PrivateIPConfigs: 1}},
	}
	if diff := cmp.Diff(want, *spec); diff != "" {
		t.Errorf("roles, spot options and diagnostics are the machine's: -want +got\n%s", diff)
	}
}

func TestValidateAzureMachine(t *testing.T) {
	type spec = infrav1.AzureMachineSpec
	confidential := func(change func(*spec)) func(*spec) {
		return func(s *spec) {
			s.OSDisk.ManagedDisk = &infrav1.ManagedDiskParameters{SecurityProfile: &infrav1.VMDiskSecurityProfile{SecurityEncryptionType: infrav1.SecurityEncryptionTypeDiskWithVMGuestState}}
			s.SecurityProfile = &infrav1.SecurityProfile{
				SecurityType: infrav1.SecurityTypesConfidentialVM,
				UefiSettings: &infrav1.UefiSettings{VTpmEnabled: new(true), SecureBootEnabled: new(true)},
			}
			change(s)
		}
	}
	disks := func(disks ...infrav1.DataDisk) func(*spec) { return func(s *spec) { s.DataDisks = disks } }
	image := func(i infrav1.Image) func(*spec) { return func(s *spec) { s.Image = &i } }
	marketplace := infrav1.AzureMarketplaceImage{ImagePlan: infrav1.ImagePlan{Publisher: "p", Offer: "o", SKU: "s"}, Version: "v"}
	gallery := infrav1.AzureComputeGalleryImage{Gallery: "g", Name: "n", Version: "v"}

	for name, tc := range map[string]struct {
		reason string
		change func(*spec)
		want   []string
	}{
		"minimal":           {reason: "what defaulting makes of the smallest spec is valid", change: func(*spec) {}},
		"image by ID":       {reason: "one way is enough", change: image(infrav1.Image{ID: new("id")})},
		"image by nothing":  {reason: "an image is named somehow", change: image(infrav1.Image{}), want: []string{"image: FieldValueRequired"}},
		"image twice":       {reason: "an image is named in one way", change: image(infrav1.Image{ID: new("id"), Marketplace: &marketplace}), want: []string{"image: FieldValueForbidden"}},
		"empty ID":          {reason: "an ID says something", change: image(infrav1.Image{ID: new("")}), want: []string{"image.id: FieldValueRequired"}},
		"marketplace":       {reason: "a marketplace image has four parts", change: image(infrav1.Image{Marketplace: &infrav1.AzureMarketplaceImage{}}), want: []string{"image.marketplace.publisher: FieldValueRequired", "image.marketplace.offer: FieldValueRequired", "image.marketplace.sku: FieldValueRequired", "image.marketplace.version: FieldValueRequired"}},
		"shared gallery":    {reason: "a shared image has five parts", change: image(infrav1.Image{SharedGallery: &infrav1.AzureSharedGalleryImage{Gallery: "g", Name: "n"}}), want: []string{"image.sharedGallery.subscriptionID: FieldValueRequired", "image.sharedGallery.resourceGroup: FieldValueRequired", "image.sharedGallery.version: FieldValueRequired"}},
		"community gallery": {reason: "a community gallery is nobody's", change: image(infrav1.Image{ComputeGallery: &gallery})},
		"gallery, no group": {reason: "a private gallery is in a group", change: func(s *spec) { g := gallery; g.SubscriptionID = new("s"); s.Image = &infrav1.Image{ComputeGallery: &g} }, want: []string{"image.computeGallery.resourceGroup: FieldValueRequired"}},
		"gallery, no owner": {reason: "a private gallery is in a subscription", change: func(s *spec) { g := gallery; g.ResourceGroup = new("g"); s.Image = &infrav1.Image{ComputeGallery: &g} }, want: []string{"image.computeGallery.subscriptionID: FieldValueRequired"}},
		"OS disk": {reason: "a managed disk without a type takes Azure's", change: func(s *spec) {
			s.OSDisk.ManagedDisk, s.OSDisk.DiskSizeGB = &infrav1.ManagedDiskParameters{}, new(int32(2048))
		}},
		"OS disk size":    {reason: "an OS disk has at most 2 TiB", change: func(s *spec) { s.OSDisk.DiskSizeGB = new(int32(2049)) }, want: []string{"osDisk.diskSizeGB: FieldValueInvalid"}},
		"OS type":         {reason: "there is an operating system", change: func(s *spec) { s.OSDisk.OSType = "" }, want: []string{"osDisk.osType: FieldValueRequired"}},
		"OS disk caching": {reason: "there are three ways", change: func(s *spec) { s.OSDisk.CachingType = "Write" }, want: []string{"osDisk.cachingType: FieldValueNotSupported"}},
		"OS disk type":    {reason: "the type is one of Azure's", change: func(s *spec) { s.OSDisk.ManagedDisk = &infrav1.ManagedDiskParameters{StorageAccountType: "Fast"} }, want: []string{"osDisk.managedDisk.storageAccountType: FieldValueNotSupported"}},
		"ultra OS disk":   {reason: "ultra disks are for data", change: func(s *spec) { s.OSDisk.ManagedDisk = ultra() }, want: []string{"osDisk.managedDisk.storageAccountType: FieldValueInvalid"}},
		"ephemeral, keyed": {reason: "an ephemeral disk has no key of its own", change: func(s *spec) {
			s.OSDisk.DiffDiskSettings = ephemeral()
			s.OSDisk.ManagedDisk = &infrav1.ManagedDiskParameters{DiskEncryptionSet: &infrav1.DiskEncryptionSetParameters{}}
		}, want: []string{"osDisk.managedDisk.diskEncryptionSet: FieldValueForbidden"}},
		"placement": {reason: "only a local disk has a place", change: func(s *spec) {
			s.OSDisk.DiffDiskSettings = &infrav1.DiffDiskSettings{Placement: new(infrav1.DiffDiskPlacementCacheDisk)}
		}, want: []string{"osDisk.diffDiskSettings.placement: FieldValueInvalid"}},
		"guest state key": {reason: "the guest state alone has no key of its own", change: func(s *spec) {
			s.OSDisk.ManagedDisk = &infrav1.ManagedDiskParameters{SecurityProfile: &infrav1.VMDiskSecurityProfile{DiskEncryptionSet: &infrav1.DiskEncryptionSetParameters{}}}
		}, want: []string{"osDisk.managedDisk.securityProfile.diskEncryptionSet: FieldValueForbidden"}},
		"data disks":         {reason: "an uncached ultra disk is fine", change: disks(infrav1.DataDisk{NameSuffix: "a", DiskSizeGB: 4, ManagedDisk: ultra()}, infrav1.DataDisk{NameSuffix: "b", DiskSizeGB: 32767})},
		"data disk size":     {reason: "data disks have 4 GiB to 32 TiB", change: disks(infrav1.DataDisk{NameSuffix: "a", DiskSizeGB: 3}, infrav1.DataDisk{NameSuffix: "b", DiskSizeGB: 32768}), want: []string{"dataDisks[0].diskSizeGB: FieldValueInvalid", "dataDisks[1].diskSizeGB: FieldValueInvalid"}},
		"data disk names":    {reason: "disks are known by name", change: disks(infrav1.DataDisk{DiskSizeGB: 4}, infrav1.DataDisk{NameSuffix: "a", DiskSizeGB: 4}, infrav1.DataDisk{NameSuffix: "a", DiskSizeGB: 4}), want: []string{"dataDisks[0].nameSuffix: FieldValueRequired", "dataDisks[2].nameSuffix: FieldValueDuplicate"}},
		"data disk units":    {reason: "units are few, and one disk each", change: disks(infrav1.DataDisk{NameSuffix: "a", DiskSizeGB: 4, Lun: new(int32(64))}, infrav1.DataDisk{NameSuffix: "b", DiskSizeGB: 4, Lun: new(int32(1))}, infrav1.DataDisk{NameSuffix: "c", DiskSizeGB: 4, Lun: new(int32(1))}), want: []string{"dataDisks[0].lun: FieldValueInvalid", "dataDisks[2].lun: FieldValueDuplicate"}},
		"data disk caching":  {reason: "ultra disks are not cached", change: disks(infrav1.DataDisk{NameSuffix: "a", DiskSizeGB: 4, ManagedDisk: ultra(), CachingType: "ReadOnly"}, infrav1.DataDisk{NameSuffix: "b", DiskSizeGB: 4, CachingType: "Write"}), want: []string{"dataDisks[0].cachingType: FieldValueInvalid", "dataDisks[1].cachingType: FieldValueNotSupported"}},
		"data disk type":     {reason: "the type is one of Azure's", change: disks(infrav1.DataDisk{NameSuffix: "a", DiskSizeGB: 4, ManagedDisk: &infrav1.ManagedDiskParameters{StorageAccountType: "Fast"}}), want: []string{"dataDisks[0].managedDisk.storageAccountType: FieldValueNotSupported"}},
		"confidential":       {reason: "a complete confidential VM is valid", change: confidential(func(*spec) {})},
		"confidential type":  {reason: "encrypted disks are for confidential VMs", change: confidential(func(s *spec) { s.SecurityProfile.SecurityType = "TrustedLaunch" }), want: []string{"securityProfile.securityType: FieldValueInvalid"}},
		"confidential UEFI":  {reason: "a confidential VM has a TPM", change: confidential(func(s *spec) { s.SecurityProfile.UefiSettings = nil }), want: []string{"securityProfile.uefiSettings: FieldValueRequired"}},
		"confidential boot":  {reason: "a confidential VM has a TPM, and boots securely", change: confidential(func(s *spec) { s.SecurityProfile.UefiSettings = &infrav1.UefiSettings{} }), want: []string{"securityProfile.uefiSettings.vTpmEnabled: FieldValueRequired", "securityProfile.uefiSettings.secureBootEnabled: FieldValueRequired"}},
		"confidential host":  {reason: "a disk is encrypted once", change: confidential(func(s *spec) { s.SecurityProfile.EncryptionAtHost = new(true) }), want: []string{"securityProfile.encryptionAtHost: FieldValueInvalid"}},
		"SSH key not base64": {reason: "the key is in base64", change: func(s *spec) { s.SSHPublicKey = "ssh-ed25519 AAAA" }, want: []string{"sshPublicKey: FieldValueInvalid"}},
		"SSH key not a key":  {reason: "the key is a line of authorized_keys", change: func(s *spec) { s.SSHPublicKey = "bm9wZQ==" }, want: []string{"sshPublicKey: FieldValueInvalid"}},

		"user-assigned": {reason: "an identity may have azure:// before it", change: func(s *spec) {
			s.Identity, s.UserAssignedIdentities = "UserAssigned", []infrav1.UserAssignedIdentity{{ProviderID: identityID}, {ProviderID: strings.TrimPrefix(identityID, "azure://")}}
		}},
		"user-assigned missing": {reason: "somebody has to be assigned", change: func(s *spec) { s.Identity = "UserAssigned" }, want: []string{"userAssignedIdentities: FieldValueRequired"}},
		"user-assigned unasked": {reason: "identities without identity: UserAssigned would be ignored", change: func(s *spec) { s.UserAssignedIdentities = []infrav1.UserAssignedIdentity{{ProviderID: identityID}} }, want: []string{"userAssignedIdentities: FieldValueForbidden"}},
		"user-assigned name": {reason: "identities are named by ID", change: func(s *spec) {
			s.Identity, s.UserAssignedIdentities = "UserAssigned", []infrav1.UserAssignedIdentity{{ProviderID: "i"}}
		}, want: []string{"userAssignedIdentities[0].providerID: FieldValueInvalid"}},
		"system-assigned": {reason: "the role waits for the subscription", change: func(s *spec) { s.Identity = "SystemAssigned" }},
		"role without identity": {reason: "a role needs somebody to play it", change: func(s *spec) {
			s.SystemAssignedIdentityRole, s.RoleAssignmentName = &infrav1.SystemAssignedIdentityRole{}, "name"
		}, want: []string{"roleAssignmentName: FieldValueForbidden", "systemAssignedIdentityRole: FieldValueForbidden"}},
		"role name": {reason: "Azure names role assignments by UUID", change: func(s *spec) { s.Identity, s.RoleAssignmentName = "SystemAssigned", "name" }, want: []string{"systemAssignedIdentityRole.name: FieldValueInvalid"}},
		"both role names": {reason: "which name is meant is the user's to say", change: func(s *spec) {
			s.Identity, s.RoleAssignmentName = "SystemAssigned", "name"
			s.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: "86bd2d98-0fb9-4b53-9f0e-2d2ee2a4d1a2"}
		}, want: []string{"roleAssignmentName: FieldValueForbidden"}},

		"own storage":         {reason: "diagnostics can be kept in one's own account", change: func(s *spec) { s.Diagnostics = diagnostics("UserManaged", "https://a.blob.core.windows.net/") }},
		"own storage missing": {reason: "one's own account has an address", change: func(s *spec) { s.Diagnostics = diagnostics("UserManaged", "") }, want: []string{"diagnostics.boot.userManaged.storageAccountURI: FieldValueRequired"}},
		"storage unasked":     {reason: "an account without storageAccountType: UserManaged would be ignored", change: func(s *spec) { s.Diagnostics = diagnostics("Managed", "https://a.blob.core.windows.net/") }, want: []string{"diagnostics.boot.userManaged: FieldValueForbidden"}},
		"both networks": {reason: "which subnet is meant is the user's to say", change: func(s *spec) {
			s.SubnetName, s.AcceleratedNetworking, s.NetworkInterfaces = "a", new(true), []infrav1.NetworkInterface{{SubnetName: "b"}}
		}, want: []string{"subnetName: FieldValueForbidden", "acceleratedNetworking: FieldValueForbidden"}},
		"no addresses":         {reason: "an interface has an address", change: func(s *spec) { s.NetworkInterfaces = []infrav1.NetworkInterface{{PrivateIPConfigs: -1}} }, want: []string{"networkInterfaces[0].privateIPConfigs: FieldValueInvalid"}},
		"capacity reservation": {reason: "the group is named by ID", change: func(s *spec) { s.CapacityReservationGroupID = new("g") }, want: []string{"capacityReservationGroupID: FieldValueInvalid"}},
		"scale set":            {reason: "an ID may have azure:// before it", change: func(s *spec) { s.VirtualMachineScaleSetID = new(scaleSetID) }},
		"scale set instance":   {reason: "an instance is not a scale set", change: func(s *spec) { s.VirtualMachineScaleSetID = new(scaleSetID + "/virtualMachines/0") }, want: []string{"virtualMachineScaleSetID: FieldValueInvalid"}},
		"extensions":           {reason: "extensions are allowed by default", change: func(s *spec) { s.VMExtensions = []infrav1.VMExtension{{Name: "e"}} }},
		"extensions on nothing": {reason: "extensions that are forbidden would fail", change: func(s *spec) {
			s.VMExtensions, s.DisableExtensionOperations = []infrav1.VMExtension{{Name: "e"}}, new(true)
		}, want: []string{"vmExtensions: FieldValueForbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(func(m *infrav1.AzureMachine) { tc.change(&m.Spec) })
			DefaultAzureMachine(m, "")
			if diff := cmp.Diff(below("spec.", tc.want), found(ValidateAzureMachine(m)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateDataDisksNotDefaulted(t *testing.T) {
	m := newMachine(func(m *infrav1.AzureMachine) {
		m.Spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "a", DiskSizeGB: 4}}
	})
	if diff := cmp.Diff([]string{"spec.dataDisks[0].lun: FieldValueRequired"}, found(ValidateAzureMachine(m))); diff != "" {
		t.Errorf("what defaulting adds is required: -want +got\n%s", diff)
	}
}

func diagnostics(account infrav1.BootDiagnosticsStorageAccountType, uri string) *infrav1.Diagnostics {
	boot := &infrav1.BootDiagnostics{StorageAccountType: account}
	if uri != "" {
		boot.UserManaged = &infrav1.UserManagedBootDiagnostics{StorageAccountURI: uri}
	}
	return &infrav1.Diagnostics{Boot: boot}
}

// below puts a prefix before paths.
func below(prefix string, paths []string) []string {
	var out []string
	for _, path := range paths {
		out = append(out, prefix+path)
	}
	return out
}
