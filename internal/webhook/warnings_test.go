package webhook

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestNetworkWarnings are about networks that users bring, as far as a spec tells.
func TestNetworkWarnings(t *testing.T) {
	cluster := func(group, name string) *infrav1.AzureCluster {
		c := &infrav1.AzureCluster{}
		c.Spec.ResourceGroup = "c1"
		c.Spec.NetworkSpec.Vnet.ResourceGroup, c.Spec.NetworkSpec.Vnet.Name = group, name
		return c
	}
	for name, tc := range map[string]struct {
		reason string
		old, c *infrav1.AzureCluster
		warns  bool
	}{
		"own":             {reason: "the network is the cluster's", c: cluster("c1", "c1-vnet")},
		"own, other case": {reason: "groups compare without case", c: cluster("C1", "c1-vnet")},
		"group":           {reason: "a network elsewhere is most likely there already", c: cluster("shared", "hub"), warns: true},
		"unchanged":       {reason: "a warning is not repeated at every update", old: cluster("shared", "hub"), c: cluster("shared", "hub")},
		"renamed":         {reason: "the other name may be wrong, too", old: cluster("shared", "hbu"), c: cluster("shared", "hub"), warns: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := networkWarnings(tc.old, tc.c)
			if (len(got) == 1) != tc.warns {
				t.Fatalf("%s: got %q", tc.reason, got)
			}
			if vnet := tc.c.Spec.NetworkSpec.Vnet; tc.warns &&
				(!strings.Contains(got[0], vnet.Name) || !strings.Contains(got[0], vnet.ResourceGroup)) {
				t.Errorf("the warning names both: %q", got[0])
			}
		})
	}
	managed := &infrav1.AzureManagedControlPlane{}
	managed.Spec.ResourceGroupName = "c1"
	managed.Spec.VirtualNetwork.ResourceGroup, managed.Spec.VirtualNetwork.Name = "shared", "hub"
	if got := managedNetworkWarnings(managed); len(got) != 1 || !strings.HasPrefix(got[0], "spec.virtualNetwork: ") {
		t.Errorf("AKS clusters have networks, too: %q", got)
	}
}

// TestIncompletePlan creates objects of all kinds with VMs whose image has a part of a purchase plan.
func TestIncompletePlan(t *testing.T) {
	given, empty := new("cncf-upstream"), (*string)(nil)
	for name, tc := range map[string]struct {
		reason                string
		publisher, offer, sku *string
		want                  string
	}{
		"complete": {reason: "it is sent", publisher: given, offer: given, sku: given},
		"none":     {reason: "the image needs no plan"},
		"one of three": {reason: "Azure needs all", publisher: given, offer: empty, sku: empty,
			want: "image.sharedGallery: the purchase plan has no offer and no sku"},
		"two of three": {reason: "Azure needs all", publisher: given, offer: given, sku: empty, want: "image.sharedGallery: the purchase plan has no sku"},
	} {
		t.Run(name, func(t *testing.T) {
			image := &infrav1.Image{SharedGallery: &infrav1.AzureSharedGalleryImage{Publisher: tc.publisher, Offer: tc.offer, SKU: tc.sku}}
			machine, template, pool := newMachine(), &infrav1.AzureMachineTemplate{}, &infrav1.AzureMachinePool{}
			machine.Spec.Image, template.Spec.Template.Spec.Image, pool.Spec.Template.Image = image, image, image
			got := map[string]admission.Warnings{}
			got["spec."], _ = azureMachineKind(nil, random{}).ValidateCreate(t.Context(), machine)
			got["spec.template.spec."], _ = machineTemplates(random{}).ValidateCreate(t.Context(), template)
			got["spec.template."], _ = machinePools(nil, random{}).ValidateCreate(t.Context(), pool)
			for path, warnings := range got {
				warnings = slices.DeleteFunc(warnings, func(w string) bool { return strings.Contains(w, "is deprecated") })
				if (len(warnings) == 1) != (tc.want != "") || tc.want != "" && !strings.HasPrefix(warnings[0], path+tc.want) {
					t.Errorf("%s: %s: got %q, want %q", tc.reason, path, warnings, tc.want)
				}
			}
		})
	}
}

// TestSharedIdentity tests that sharing an identity returns a warning with the access that other namespaces get.
func TestSharedIdentity(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		kind    infrav1.IdentityType
		allowed *infrav1.AllowedNamespaces
		want    []string
	}{
		"private": {reason: "no other namespace gets access", kind: infrav1.WorkloadIdentity},
		"own": {reason: "a namespace shares nothing with itself", kind: infrav1.ServicePrincipal,
			allowed: &infrav1.AllowedNamespaces{NamespaceList: []string{"ids"}}},
		"empty list": {reason: "no namespace may use it", kind: infrav1.ServicePrincipal,
			allowed: &infrav1.AllowedNamespaces{NamespaceList: []string{}}},
		"no selection": {reason: "an empty selector selects no namespace", kind: infrav1.ServicePrincipal,
			allowed: &infrav1.AllowedNamespaces{Selector: &metav1.LabelSelector{}}},
		"all": {reason: "the templates have this, and a normal creation causes no warning", kind: infrav1.ServicePrincipal,
			allowed: &infrav1.AllowedNamespaces{}},
		"others": {reason: "they are named", kind: infrav1.ManualServicePrincipal,
			allowed: &infrav1.AllowedNamespaces{NamespaceList: []string{"ids", "a", "b"}}, want: []string{"in a, b can use", "client secret", "azure.json"}},
		"selected": {reason: "labels decide", kind: infrav1.WorkloadIdentity,
			allowed: &infrav1.AllowedNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}},
			want:    []string{"selector", "kubeconfigs"}},
		"no credential": {reason: "the access of a managed identity is its own, without a stored credential", kind: infrav1.UserAssignedMSI,
			allowed: &infrav1.AllowedNamespaces{NamespaceList: []string{"a"}},
			want:    []string{"all its permissions in Azure"}},
	} {
		t.Run(name, func(t *testing.T) {
			identity := &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "ids"}}
			identity.Spec.Type, identity.Spec.AllowedNamespaces, identity.Spec.ClientSecret.Name = tc.kind, tc.allowed, "secret"
			got := ""
			for _, warning := range identityWarnings(nil, identity) {
				if strings.Contains(warning, "docs/book/tenancy.md") {
					got = warning
				}
			}
			if (got != "") != (tc.want != nil) {
				t.Fatalf("%s: %q", tc.reason, got)
			}
			for _, text := range tc.want {
				if !strings.Contains(got, text) {
					t.Errorf("%s: %q lacks %q", tc.reason, got, text)
				}
			}
		})
	}
}
