package webhook

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

// newMachinePool returns the smallest AzureMachinePool that the CRD's defaults leave, with the key that the handler adds.
func newMachinePool(changes ...func(*infrav1.AzureMachinePoolSpec)) *infrav1.AzureMachinePool {
	p := &infrav1.AzureMachinePool{}
	p.Spec.Location, p.Spec.Identity = "westeurope", infrav1.VMIdentityNone
	p.Spec.Template.VirtualMachineProfile = newMachine().Spec.VirtualMachineProfile
	for _, change := range changes {
		change(&p.Spec)
	}
	return p
}

func TestDefaultAzureMachinePool(t *testing.T) {
	got := newMachinePool(func(s *infrav1.AzureMachinePoolSpec) {
		s.Identity, s.RoleAssignmentName = infrav1.VMIdentitySystemAssigned, "name"
		s.Template.SubnetName = "nodes"
		s.Template.DataDisks = []infrav1.DataDisk{{NameSuffix: "a"}, {NameSuffix: "b", Lun: new(int32(0))}}
		s.Template.SpotVMOptions, s.Template.OSDisk.DiffDiskSettings = &infrav1.SpotVMOptions{}, newEphemeralDisk()
	})
	later := got.DeepCopy()
	defaults.FillAzureMachinePool(got, "")
	want := newMachinePool(func(s *infrav1.AzureMachinePoolSpec) {
		s.Identity, s.SystemAssignedIdentityRole = infrav1.VMIdentitySystemAssigned, &infrav1.SystemAssignedIdentityRole{Name: "name"}
		s.Template.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "nodes", PrivateIPConfigs: 1}}
		s.Template.DataDisks = []infrav1.DataDisk{{NameSuffix: "a", Lun: new(int32(1))}, {NameSuffix: "b", Lun: new(int32(0))}}
		s.Template.SpotVMOptions,
			s.Template.OSDisk.DiffDiskSettings = &infrav1.SpotVMOptions{EvictionPolicy: new(infrav1.SpotEvictionPolicyDelete)}, newEphemeralDisk()
		s.Template.Diagnostics = &infrav1.Diagnostics{Boot: &infrav1.BootDiagnostics{StorageAccountType: infrav1.ManagedDiagnosticsStorage}}
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("as a machine, but that data disks are not cached: -want +got\n%s", diff)
	}
	defaults.FillAzureMachinePool(later, "s")
	want.Spec.SystemAssignedIdentityRole.Scope = "/subscriptions/s/"
	want.Spec.SystemAssignedIdentityRole.DefinitionID =
		"/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"
	if diff := cmp.Diff(want, later); diff != "" {
		t.Errorf("the subscription is known: -want +got\n%s", diff)
	}
}

func TestValidateAzureMachinePool(t *testing.T) {
	type spec = infrav1.AzureMachinePoolSpec
	role := func(s *spec) {
		s.Identity, s.SystemAssignedIdentityRole = infrav1.VMIdentitySystemAssigned, &infrav1.SystemAssignedIdentityRole{Name: "n"}
	}
	extension := func(settings, secret string) func(*spec) {
		return func(s *spec) {
			s.Template.VMExtensions = []infrav1.VMExtension{{Name: "e", Settings: infrav1.Tags{"a": settings},
				ProtectedSettings: infrav1.Tags{"b": secret}}}
		}
	}
	scaleSet := func(name string) func(*spec) {
		return func(s *spec) {
			s.ProviderID = "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/" + name
		}
	}
	for name, tc := range map[string]struct {
		reason      string
		old, change func(*spec)
		want        []string
	}{
		"template": {reason: "new VMs are made from it",
			change: func(s *spec) { s.Template.VMSize, s.Template.OSDisk.DiskSizeGB = "other", new(int32(64)) }},
		"key": {reason: "the key is a line of authorized_keys in base64", change: func(s *spec) { s.Template.SSHPublicKey = "no key" },
			want: []string{"spec.template.sshPublicKey: FieldValueInvalid"}},
		"stored key": {reason: "a stored mistake does not prevent other changes",
			old:    func(s *spec) { s.Template.SSHPublicKey = "no key" },
			change: func(s *spec) { s.Template.SSHPublicKey, s.AdditionalTags = "no key", infrav1.Tags{"a": "b"} }},
		"role": {reason: "its scope comes when the subscription is known", old: role,
			change: func(s *spec) { role(s); s.SystemAssignedIdentityRole.Scope = "/s" }},
		"another scale set": {reason: "the VMs of the pool would stay", old: scaleSet("a"), change: scaleSet("b"),
			want: []string{"spec.providerID: FieldValueForbidden"}},
		"imported scale set": {reason: "the pool would get a scale set of its own name", old: scaleSet("a"),
			change: func(s *spec) { s.ProviderID = "" }, want: []string{"spec.providerID: FieldValueForbidden"}},
		"provider ID left out": {reason: "it names the scale set of the pool's name, and the provider sets it again", old: scaleSet("pool"),
			change: func(s *spec) { s.ProviderID = "" }},
		"role's name": {reason: "the role is assigned", old: role, change: func(s *spec) { role(s); s.SystemAssignedIdentityRole.Name = "m" },
			want: []string{"spec.systemAssignedIdentityRole.name: FieldValueInvalid"}},
		"role gone": {reason: "a scale set may have another identity", old: role,
			change: func(s *spec) { s.Identity = infrav1.VMIdentityNone }},
		"extension": {reason: "the change is seen in the settings", old: extension("1", "1"), change: extension("2", "2")},
		"only a secret": {reason: "Azure does not show it", old: extension("1", "1"), change: extension("1", "2"),
			want: []string{"spec.template.vmExtensions[0].protectedSettings: FieldValueForbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.old == nil {
				tc.old = func(*spec) {}
			}
			old, changed := newMachinePool(tc.old), newMachinePool(tc.change)
			old.Name, changed.Name = "pool", "pool"
			defaults.FillAzureMachinePool(old, "")
			defaults.FillAzureMachinePool(changed, "")
			if diff := cmp.Diff(tc.want, errorPaths(validateUpdate(t, machinePools(nil, random{}), old, changed)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			changed.DeletionTimestamp = &deletionTime
			kept := slices.DeleteFunc(slices.Clone(tc.want), func(want string) bool { return strings.HasPrefix(want, "spec.template.") })
			if diff := cmp.Diff(kept, errorPaths(validateUpdate(t, machinePools(nil, random{}), old, changed)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("a pool that is being deleted is refused for the names of its resources alone: -want +got\n%s", diff)
			}
		})
	}
}
