package webhook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

const (
	subscription = "00000000-0000-0000-0000-000000000001"
	contributor  = "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"
	identityID   = "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
)

func newUltraDisk() *infrav1.ManagedDiskParameters {
	return &infrav1.ManagedDiskParameters{StorageAccountType: "UltraSSD_LRS"}
}

func newEphemeralDisk() *infrav1.DiffDiskSettings { return &infrav1.DiffDiskSettings{Option: "Local"} }

func TestDefaultAzureMachine(t *testing.T) {
	type spec = infrav1.AzureMachineSpec
	premiumV2 := &infrav1.ManagedDiskParameters{StorageAccountType: infrav1.StorageAccountTypePremiumV2}
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
			reason: "disks take the lowest unit numbers that are free, and ultra disks and Premium SSD v2 are not cached",
			change: func(s *spec) {
				s.DataDisks = []infrav1.DataDisk{{NameSuffix: "a"}, {NameSuffix: "b", Lun: new(int32(0))},
					{NameSuffix: "c", ManagedDisk: newUltraDisk()},
					{NameSuffix: "d", CachingType: "ReadOnly"}, {NameSuffix: "e", ManagedDisk: premiumV2}}
			},
			want: func(s *spec) {
				s.DataDisks = []infrav1.DataDisk{
					{NameSuffix: "a", Lun: new(int32(1)), CachingType: "ReadWrite"}, {NameSuffix: "b", Lun: new(int32(0)), CachingType: "ReadWrite"},
					{NameSuffix: "c", Lun: new(int32(2)), CachingType: "None", ManagedDisk: newUltraDisk()},
					{NameSuffix: "d", Lun: new(int32(3)), CachingType: "ReadOnly"},
					{NameSuffix: "e", Lun: new(int32(4)), CachingType: "None", ManagedDisk: premiumV2}}
			},
		},
		"identity": {
			reason:       "the role of an identity is Contributor of the subscription",
			change:       func(s *spec) { s.Identity = infrav1.VMIdentitySystemAssigned },
			subscription: subscription,
			want: func(s *spec) {
				s.Identity = infrav1.VMIdentitySystemAssigned
				s.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Scope: "/subscriptions/" + subscription + "/",
					DefinitionID: contributor}
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
			reason: "the user has to choose one of the two names",
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
			change: func(s *spec) {
				s.SpotVMOptions, s.OSDisk.DiffDiskSettings = &infrav1.SpotVMOptions{}, newEphemeralDisk()
			},
			want: func(s *spec) {
				s.SpotVMOptions, s.OSDisk.DiffDiskSettings = &infrav1.SpotVMOptions{
					EvictionPolicy: new(infrav1.SpotEvictionPolicyDelete)}, newEphemeralDisk()
			},
		},
		"diagnostics": {
			reason: "the user's diagnostics settings stay",
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
			reason: "the user has to choose one of the two subnets",
			change: func(s *spec) { s.SubnetName, s.NetworkInterfaces = "nodes", []infrav1.NetworkInterface{{}} },
			want:   func(s *spec) { s.SubnetName, s.NetworkInterfaces = "nodes", []infrav1.NetworkInterface{{}} },
		},
		"two equal networks": {
			reason: "a manifest with the deprecated fields is applied again beside the interface that they became",
			change: func(s *spec) {
				s.SubnetName, s.AcceleratedNetworking = "nodes", new(true)
				s.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "nodes", AcceleratedNetworking: new(true), PrivateIPConfigs: 1}}
			},
			want: func(s *spec) {
				s.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "nodes", AcceleratedNetworking: new(true), PrivateIPConfigs: 1}}
			},
		},
		"networks that differ in part": {
			reason: "the user has to choose one of the two settings",
			change: func(s *spec) {
				s.SubnetName, s.AcceleratedNetworking = "nodes", new(false)
				s.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "nodes", AcceleratedNetworking: new(true), PrivateIPConfigs: 1}}
			},
			want: func(s *spec) {
				s.AcceleratedNetworking = new(false)
				s.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "nodes", AcceleratedNetworking: new(true), PrivateIPConfigs: 1}}
			},
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
				defaults.FillAzureMachine(m, tc.subscription)
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
	defaults.FillAzureMachineTemplate(template)
	want := infrav1.AzureMachineSpec{
		ManagedIdentities: infrav1.ManagedIdentities{Identity: infrav1.VMIdentitySystemAssigned},
		VirtualMachineProfile: infrav1.VirtualMachineProfile{
			DataDisks:         []infrav1.DataDisk{{NameSuffix: "a", Lun: new(int32(0)), CachingType: "ReadWrite"}},
			NetworkInterfaces: []infrav1.NetworkInterface{{SubnetName: "nodes", PrivateIPConfigs: 1}},
		},
	}
	if diff := cmp.Diff(want, *spec); diff != "" {
		t.Errorf("roles, spot options and diagnostics are the machine's: -want +got\n%s", diff)
	}
}

// sshKeyRow is the creation of an AzureMachine with an SSH key.
type sshKeyRow struct {
	reason string
	key    string
	want   []string
}

func TestValidateAzureMachine(t *testing.T) {
	for name, row := range sshKeyRows() {
		t.Run(name, func(t *testing.T) {
			m := newMachine(func(m *infrav1.AzureMachine) { m.Spec.SSHPublicKey = row.key })
			defaults.FillAzureMachine(m, "")
			if diff := cmp.Diff(row.want, errorPaths(ValidateAzureMachine(m)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", row.reason, diff)
			}
		})
	}
}

func sshKeyRows() map[string]sshKeyRow {
	return map[string]sshKeyRow{
		"key":        {reason: "a line of authorized_keys in base64 is one", key: testSSHKey},
		"no key":     {reason: "the key is made on creation"},
		"not base64": {reason: "the key is in base64", key: "ssh-ed25519 AAAA", want: []string{"spec.sshPublicKey: FieldValueInvalid"}},
		"not a key":  {reason: "the key is a line of authorized_keys", key: "bm9wZQ==", want: []string{"spec.sshPublicKey: FieldValueInvalid"}},
	}
}

func newDiagnostics(account infrav1.BootDiagnosticsStorageAccountType, uri string) *infrav1.Diagnostics {
	boot := &infrav1.BootDiagnostics{StorageAccountType: account}
	if uri != "" {
		boot.UserManaged = &infrav1.UserManagedBootDiagnostics{StorageAccountURI: uri}
	}
	return &infrav1.Diagnostics{Boot: boot}
}

// filterBelow puts a prefix before paths.
func filterBelow(prefix string, paths []string) []string {
	var out []string
	for _, path := range paths {
		out = append(out, prefix+path)
	}
	return out
}
