package webhook

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

func TestValidateAzureMachineUpdate(t *testing.T) {
	type spec = infrav1.AzureMachineSpec
	nop := func(*spec) {}
	for name, tc := range map[string]struct {
		reason      string
		old, change func(*spec)
		want        []string
	}{
		"nothing": {reason: "no change is no offence", old: nop, change: nop},
		"mutable": {reason: "fields that Azure can change on a VM, or that only new parts read, may change", old: nop, change: func(s *spec) {
			s.VMSize, s.FailureDomain, s.AdditionalTags, s.ProviderID = "Standard_D4s_v5", new("1"), infrav1.Tags{"a": "b"}, new("azure:///x")
			s.DNSServers, s.VMExtensions = []string{"10.0.0.4"}, []infrav1.VMExtension{{Name: "e"}}
		}},
		"invalid and the same": {reason: "a stored value is not validated again", old: func(s *spec) { s.SSHPublicKey = "x" },
			change: func(s *spec) { s.AdditionalTags = infrav1.Tags{"a": "b"} }},
		"immutable": {reason: "a VM is not made twice", old: nop, change: func(s *spec) {
			s.RoleAssignmentName = "name"
			s.DataDisks = []infrav1.DataDisk{{NameSuffix: "a", DiskSizeGB: 4}}
			s.SpotVMOptions = &infrav1.SpotVMOptions{}
			s.Diagnostics = newDiagnostics("Disabled", "")
			s.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{}
		}, want: []string{"roleAssignmentName: FieldValueForbidden", "dataDisks: FieldValueForbidden", "systemAssignedIdentityRole: FieldValueForbidden",
			"spotVMOptions: FieldValueForbidden", "diagnostics: FieldValueForbidden"}},
		"identity added": {reason: "Azure gives a VM more identities in place", old: func(s *spec) {
			s.Identity, s.UserAssignedIdentities = "UserAssigned", []infrav1.UserAssignedIdentity{{ProviderID: identityID}}
		}, change: func(s *spec) {
			s.UserAssignedIdentities = []infrav1.UserAssignedIdentity{{ProviderID: identityID + "2"},
				{ProviderID: strings.TrimPrefix(identityID, "azure://")}}
		}},
		"first identity": {reason: "also to one that has none", old: nop, change: func(s *spec) {
			s.Identity, s.UserAssignedIdentities = "UserAssigned", []infrav1.UserAssignedIdentity{{ProviderID: identityID}}
		}},
		"identity removed": {reason: "it would stay with the VM", old: func(s *spec) {
			s.Identity, s.UserAssignedIdentities = "UserAssigned",
				[]infrav1.UserAssignedIdentity{{ProviderID: identityID}, {ProviderID: identityID + "2"}}
		}, change: func(s *spec) { s.UserAssignedIdentities = s.UserAssignedIdentities[:1] },
			want: []string{"userAssignedIdentities: FieldValueForbidden"}},
		"extension changed": {reason: "Azure applies new settings", old: func(s *spec) {
			s.VMExtensions = []infrav1.VMExtension{{Name: "e", Version: "1", ProtectedSettings: infrav1.Tags{"a": "1"}}}
		}, change: func(s *spec) {
			s.VMExtensions = []infrav1.VMExtension{{Name: "f"}, {Name: "e", Version: "2", ProtectedSettings: infrav1.Tags{"a": "2"}}}
		}},
		"extension changed out of sight": {reason: "the change would not be found", old: func(s *spec) {
			s.VMExtensions = []infrav1.VMExtension{{Name: "e", ProtectedSettings: infrav1.Tags{"a": "1"}}}
		}, change: func(s *spec) {
			s.VMExtensions = []infrav1.VMExtension{{Name: "f"}, {Name: "e", ProtectedSettings: infrav1.Tags{"a": "2"}}}
		}, want: []string{"vmExtensions[1].protectedSettings: FieldValueForbidden"}},
		"role filled in": {reason: "scope and definition come when the subscription is known",
			old: func(s *spec) { s.Identity = "SystemAssigned" }, change: func(s *spec) {
				s.SystemAssignedIdentityRole.Scope, s.SystemAssignedIdentityRole.DefinitionID = "/subscriptions/s/", contributor
			}},
		"role": {reason: "the role is assigned", old: func(s *spec) {
			s.Identity, s.SystemAssignedIdentityRole = "SystemAssigned",
				&infrav1.SystemAssignedIdentityRole{Name: "a", Scope: "b", DefinitionID: "c"}
		}, change: func(s *spec) { s.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{} },
			want: []string{"systemAssignedIdentityRole.name: FieldValueInvalid", "systemAssignedIdentityRole.scope: FieldValueInvalid",
				"systemAssignedIdentityRole.definitionID: FieldValueInvalid"}},
		"deprecated role name": {reason: "an old machine's name has moved by defaulting",
			old:    func(s *spec) { s.Identity, s.RoleAssignmentName = "SystemAssigned", "name" },
			change: func(s *spec) { s.AdditionalTags = infrav1.Tags{"a": "b"} }},
		"subnet filled in": {reason: "the subnet of the first interface is filled in when it is clear", old: nop,
			change: func(s *spec) { s.NetworkInterfaces[0].SubnetName = "nodes" }},
		"subnet": {reason: "a network interface does not move", old: func(s *spec) { s.SubnetName = "a" },
			change: func(s *spec) { s.NetworkInterfaces[0].SubnetName = "b" }, want: []string{"networkInterfaces: FieldValueForbidden"}},
		"subnet of the second": {reason: "only the first interface has a default",
			old:    func(s *spec) { s.NetworkInterfaces = make([]infrav1.NetworkInterface, 2) },
			change: func(s *spec) { s.NetworkInterfaces[1].SubnetName = "b" }, want: []string{"networkInterfaces: FieldValueForbidden"}},
		"accelerated removed": {reason: "the deprecated field can go", old: func(s *spec) {
			s.AcceleratedNetworking, s.NetworkInterfaces = new(true), []infrav1.NetworkInterface{{PrivateIPConfigs: 1}}
		}, change: func(s *spec) { s.AcceleratedNetworking = nil }},
		"accelerated set": {reason: "the deprecated field can only go", old: nop, change: func(s *spec) { s.AcceleratedNetworking = new(true) },
			want: []string{"acceleratedNetworking: FieldValueForbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			old := newMachine(func(m *infrav1.AzureMachine) { tc.old(&m.Spec) })
			defaults.FillAzureMachine(old, "")
			m := old.DeepCopy()
			tc.change(&m.Spec)
			defaults.FillAzureMachine(m, "")
			if diff := cmp.Diff(filterBelow("spec.", tc.want), errorPaths(validateUpdate(t, azureMachineKind(nil, random{}), old, m)),
				cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			m.DeletionTimestamp = &deletionTime
			var kept []string
			for _, want := range filterBelow("spec.", tc.want) {
				if namesResources.MatchString(want) {
					kept = append(kept, want)
				}
			}
			if diff := cmp.Diff(kept, errorPaths(validateUpdate(t, azureMachineKind(nil, random{}), old, m)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("a machine that is being deleted is refused for the names of its resources alone: -want +got\n%s", diff)
			}
		})
	}
}

// namesResources matches errors about fields that name resources of a machine.
var namesResources = regexp.MustCompile(`^spec\.(roleAssignmentName|dataDisks|networkInterfaces|systemAssignedIdentityRole)\b`)

func newMachineTemplate(change func(*infrav1.AzureMachineSpec)) *infrav1.AzureMachineTemplate {
	template := &infrav1.AzureMachineTemplate{}
	template.Spec.Template.Spec = newMachine().Spec
	change(&template.Spec.Template.Spec)
	defaults.FillAzureMachineTemplate(template)
	return template
}

func TestValidateAzureMachineTemplateUpdate(t *testing.T) {
	type spec = infrav1.AzureMachineSpec
	nop := func(*spec) {}
	for name, tc := range map[string]struct {
		reason      string
		old, change func(*spec)
		refused     bool
	}{
		"nothing": {reason: "no change is no offence", old: nop, change: nop},
		"size":    {reason: "machines were made from it", old: nop, change: func(s *spec) { s.VMSize = "Standard_D4s_v5" }, refused: true},
		"key added": {reason: "an old template has no key", old: func(s *spec) { s.SSHPublicKey = "" },
			change: func(s *spec) { s.SSHPublicKey = testSSHKey }},
		"key removed": {reason: "machines have the key", old: nop, change: func(s *spec) { s.SSHPublicKey = "" }, refused: true},
		"interfaces": {reason: "the deprecated field and the interface have the same value", old: func(s *spec) { s.SubnetName = "nodes" },
			change: func(s *spec) {
				s.SubnetName, s.NetworkInterfaces = "", []infrav1.NetworkInterface{{SubnetName: "nodes"}}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			old := newMachineTemplate(tc.old)
			template := newMachineTemplate(func(s *spec) { *s = *old.Spec.Template.Spec.DeepCopy(); tc.change(s) })
			template.Spec.Template.ObjectMeta.Labels = map[string]string{"a": "b"}
			got := errorPaths(validateUpdate(t, machineTemplates(random{}), old, template))
			want := []string{"spec.template.spec: FieldValueForbidden"}
			if !tc.refused {
				want = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}
