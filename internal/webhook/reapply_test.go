package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// updateOf returns the context of a request that replaces old.
func updateOf(t testing.TB, old any) context.Context {
	t.Helper()
	raw, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	return admission.NewContextWithRequest(context.Background(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Update, OldObject: runtime.RawExtension{Raw: raw},
	}})
}

// A manifest without an SSH key can be applied again: the key that was made for it stays.
func TestReapplyKeepsTheGeneratedKey(t *testing.T) {
	machine := &infrav1.AzureMachine{}
	machine.Spec.SSHPublicKey = "c3NoLXJzYQ=="
	again := machine.DeepCopy()
	again.Spec.SSHPublicKey = ""
	handler := azureMachineKind(nil, random{})
	if err := handler.Default(updateOf(t, machine), again); err != nil {
		t.Fatal(err)
	}
	if again.Spec.SSHPublicKey != machine.Spec.SSHPublicKey {
		t.Errorf("AzureMachine: got the key %q", again.Spec.SSHPublicKey)
	}

	template := &infrav1.AzureMachineTemplate{}
	template.Spec.Template.Spec.SSHPublicKey = "c3NoLXJzYQ=="
	anew := template.DeepCopy()
	anew.Spec.Template.Spec.SSHPublicKey = ""
	if err := machineTemplates(random{}).Default(updateOf(t, template), anew); err != nil {
		t.Fatal(err)
	}
	if anew.Spec.Template.Spec.SSHPublicKey != template.Spec.Template.Spec.SSHPublicKey {
		t.Errorf("AzureMachineTemplate: got the key %q", anew.Spec.Template.Spec.SSHPublicKey)
	}

	other := template.DeepCopy()
	other.Spec.Template.Spec.SSHPublicKey = "b3RoZXI="
	if err := machineTemplates(random{}).Default(updateOf(t, template), other); err != nil {
		t.Fatal(err)
	}
	if other.Spec.Template.Spec.SSHPublicKey != "b3RoZXI=" {
		t.Error("a key that is given is left for validation to refuse")
	}
}

// TestReplaceKeepsTheRole replaces objects whose system-assigned identity has got the name and the rights of its role.
func TestReplaceKeepsTheRole(t *testing.T) {
	filled := infrav1.SystemAssignedIdentityRole{Name: "n", Scope: "s", DefinitionID: "d"}
	for name, test := range map[string]struct {
		reason      string
		given, want *infrav1.SystemAssignedIdentityRole
		deprecated  string
	}{
		"left out":    {"a manifest has no role", nil, &filled, ""},
		"scope alone": {"a manifest has a part of the role", &infrav1.SystemAssignedIdentityRole{Scope: "s"}, &filled, ""},
		"another name": {"it is refused and not replaced", &infrav1.SystemAssignedIdentityRole{Name: "other"},
			&infrav1.SystemAssignedIdentityRole{Name: "other", Scope: "s", DefinitionID: "d"}, ""},
		"deprecated name": {"it moves into the role", nil, &filled, "n"},
	} {
		t.Run(name, func(t *testing.T) {
			machine, pool := &infrav1.AzureMachine{}, &infrav1.AzureMachinePool{}
			for _, spec := range []*infrav1.ManagedIdentities{&machine.Spec.ManagedIdentities, &pool.Spec.ManagedIdentities} {
				spec.Identity, spec.SystemAssignedIdentityRole = infrav1.VMIdentitySystemAssigned, filled.DeepCopy()
			}
			newMachine, newPool := machine.DeepCopy(), pool.DeepCopy()
			for _, spec := range []*infrav1.ManagedIdentities{&newMachine.Spec.ManagedIdentities, &newPool.Spec.ManagedIdentities} {
				spec.SystemAssignedIdentityRole, spec.RoleAssignmentName = test.given.DeepCopy(), test.deprecated
			}
			if err := errors.Join(azureMachineKind(nil, random{}).Default(updateOf(t, machine), newMachine),
				machinePools(nil, random{}).Default(updateOf(t, pool), newPool)); err != nil {
				t.Fatal(err)
			}
			for kind, spec := range map[string]infrav1.ManagedIdentities{"AzureMachine": newMachine.Spec.ManagedIdentities,
				"AzureMachinePool": newPool.Spec.ManagedIdentities} {
				if diff := cmp.Diff(test.want, spec.SystemAssignedIdentityRole); diff != "" || spec.RoleAssignmentName != "" {
					t.Errorf("%s: %s: the deprecated name is %q, the role (-want +got):\n%s", test.reason, kind, spec.RoleAssignmentName, diff)
				}
			}
		})
	}
}

// TestReplaceKeepsTheEndpoint replaces objects with an endpoint.
func TestReplaceKeepsTheEndpoint(t *testing.T) {
	set := infrav1.APIEndpoint{Host: "c1.example.com", Port: 6443}
	for name, test := range map[string]struct {
		reason           string
		old, given, want infrav1.APIEndpoint
	}{
		"left out":    {"the controller has set it", set, infrav1.APIEndpoint{}, set},
		"port alone":  {"the port is a user's to choose, the host is not", set, infrav1.APIEndpoint{Port: 6443}, set},
		"not set yet": {"there is nothing to keep", infrav1.APIEndpoint{}, infrav1.APIEndpoint{}, infrav1.APIEndpoint{}},
		"another": {"it is refused and not replaced", set, infrav1.APIEndpoint{Host: "other", Port: 1},
			infrav1.APIEndpoint{Host: "other", Port: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			old, c := &infrav1.AzureCluster{}, &infrav1.AzureCluster{}
			old.Spec.ControlPlaneEndpoint, c.Spec.ControlPlaneEndpoint = test.old, test.given
			if err := azureClusterKind(plan.Features{}).Default(updateOf(t, old), c); err != nil {
				t.Fatal(err)
			}
			if got := c.Spec.ControlPlaneEndpoint; got != test.want {
				t.Errorf("%s: AzureCluster: got %v, want %v", test.reason, got, test.want)
			}
			oldDocuments, documents := &infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedCluster{}
			oldDocuments.Spec.ControlPlaneEndpoint, documents.Spec.ControlPlaneEndpoint = test.old, test.given
			if err := asoClusters(managedLookup{}, plan.Features{}).Default(updateOf(t, oldDocuments), documents); err != nil {
				t.Fatal(err)
			}
			if got := documents.Spec.ControlPlaneEndpoint; got != test.want {
				t.Errorf("%s: AzureASOManagedCluster: got %v, want %v", test.reason, got, test.want)
			}
		})
	}
}

// TestReplaceKeepsTheFrontends replaces clusters whose API server has an address that the user named.
func TestReplaceKeepsTheFrontends(t *testing.T) {
	public := []infrav1.FrontendIP{{Name: "f", PublicIP: &infrav1.PublicIPSpec{Name: "mine", DNSName: "mine.westeurope.cloudapp.azure.com"}}}
	private := []infrav1.FrontendIP{{Name: "f", FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.0.0.101"}}}
	byDefault := newDefaulted().Spec.NetworkSpec.APIServerLB.FrontendIPs
	lb := func(typ infrav1.LBType, frontends []infrav1.FrontendIP) *infrav1.LoadBalancerSpec {
		return &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: typ}, FrontendIPs: frontends}
	}
	for name, test := range map[string]struct {
		reason     string
		old, given *infrav1.LoadBalancerSpec
		made       bool
		want       []infrav1.FrontendIP
	}{
		"load balancer left out": {"the API server would get another address", lb(infrav1.Public, public), nil, true, public},
		"frontends left out":     {"the API server would get another address", lb(infrav1.Public, public), lb("", nil), true, public},
		"private address":        {"machines use the address", lb(infrav1.Internal, private), lb(infrav1.Internal, nil), true, private},
		"nothing there yet":      {"the address can be left to the default again", lb(infrav1.Public, public), nil, false, byDefault},
		"another type": {"it is refused, and not because of the frontends", lb(infrav1.Internal, private), lb(infrav1.Public, nil), true,
			byDefault},
		"other frontends": {"they are refused and not replaced", lb(infrav1.Public, public), lb(infrav1.Public, byDefault), true, byDefault},
		"none stored":     {"an object of another version has the default", nil, nil, true, byDefault},
	} {
		t.Run(name, func(t *testing.T) {
			old, c := newCluster(), newCluster()
			old.Status.Ready = test.made
			old.Spec.NetworkSpec.APIServerLB, c.Spec.NetworkSpec.APIServerLB = test.old, test.given
			if err := azureClusterKind(plan.Features{}).Default(updateOf(t, old), c); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, c.Spec.NetworkSpec.APIServerLB.FrontendIPs); diff != "" {
				t.Errorf("%s: -want +got\n%s", test.reason, diff)
			}
		})
	}
}

// TestEveryKindCarries checks that kinds whose annotations tell what they own in Azure have mutating webhooks, which keep the annotations
// where a replacement leaves them out.
func TestEveryKindCarries(t *testing.T) {
	for _, k := range servedKinds(nil, plan.Features{}, false) {
		if mutating, _ := k.operations(); len(mutating) == 0 && k.name() != "AzureClusterIdentity" {
			t.Errorf("%s has no mutating webhook, so kubectl replace makes its controller forget the object's resources in Azure", k.name())
		}
	}
}
