package defaults

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestDefaultAzureManagedControlPlane(t *testing.T) {
	type object = infrav1.AzureManagedControlPlane
	type spec = infrav1.AzureManagedControlPlaneSpec
	defaults := func(changes ...func(*spec)) spec {
		s := newControlPlane().Spec
		s.Version = "v1.33.2"
		s.ResourceGroupName = "c1"
		s.NodeResourceGroupName = "MC_c1_aks1_westeurope"
		s.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{
			Name: "aks1", ResourceGroup: "c1", CIDRBlock: "10.0.0.0/8",
			Subnet: infrav1.ManagedControlPlaneSubnet{Name: "aks1", CIDRBlock: "10.240.0.0/16"},
		}
		s.NetworkPlugin, s.LoadBalancerSKU, s.EnablePreviewFeatures = new("azure"), new("Standard"), new(false)
		s.SKU = &infrav1.AKSSku{Tier: "Free"}
		s.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(false)}
		s.DNSPrefix = new("aks1")
		for _, change := range changes {
			change(&s)
		}
		return s
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*object)
		want   spec
	}{
		"minimal": {"everything AKS needs has a default", func(*object) {}, defaults()},
		"version": {"versions begin with v", func(c *object) { c.Spec.Version = "v1.34.0" }, defaults(func(s *spec) { s.Version = "v1.34.0" })},
		"no label": {
			"defaults from the Cluster's name wait for the label",
			func(c *object) { c.Labels = nil; c.Spec.FleetsMember = &infrav1.FleetsMember{} },
			defaults(func(s *spec) {
				s.ResourceGroupName, s.NodeResourceGroupName, s.VirtualNetwork.ResourceGroup = "", "", ""
				s.FleetsMember = &infrav1.FleetsMember{}
			}),
		},
		"groups": {
			"the network is in the cluster's group, and nodes are in a group that is named after it",
			func(c *object) { c.Spec.ResourceGroupName = "rg" },
			defaults(func(s *spec) {
				s.ResourceGroupName, s.VirtualNetwork.ResourceGroup, s.NodeResourceGroupName = "rg", "rg", "MC_rg_aks1_westeurope"
			}),
		},
		"overlay": {
			"with overlay, pods take no addresses of the virtual network",
			func(c *object) { c.Spec.NetworkPluginMode = new(infrav1.NetworkPluginModeOverlay) },
			defaults(func(s *spec) {
				s.NetworkPluginMode = new(infrav1.NetworkPluginModeOverlay)
				s.VirtualNetwork.CIDRBlock, s.VirtualNetwork.Subnet.CIDRBlock = "10.224.0.0/12", "10.224.0.0/16"
			}),
		},
		"network": {
			"the user's network settings stay",
			func(c *object) {
				c.Spec.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{Name: "v", ResourceGroup: "vg", CIDRBlock: "10.1.0.0/16",
					Subnet: infrav1.ManagedControlPlaneSubnet{Name: "s", CIDRBlock: "10.1.0.0/24"}}
			},
			defaults(func(s *spec) {
				s.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{Name: "v", ResourceGroup: "vg", CIDRBlock: "10.1.0.0/16",
					Subnet: infrav1.ManagedControlPlaneSubnet{Name: "s", CIDRBlock: "10.1.0.0/24"}}
			}),
		},
		"paid": {"Paid is Azure's earlier name of Standard", func(c *object) { c.Spec.SKU = &infrav1.AKSSku{Tier: "Paid"} },
			defaults(func(s *spec) { s.SKU.Tier = "Standard" })},
		"fleet": {
			"a member is called as the Cluster", func(c *object) { c.Spec.FleetsMember = &infrav1.FleetsMember{} },
			defaults(func(s *spec) { s.FleetsMember = &infrav1.FleetsMember{Name: "c1"} }),
		},
		"plan": {
			"a plan is called as cluster and product",
			func(c *object) {
				c.Spec.Extensions = []infrav1.AKSExtension{{Name: "e", Plan: &infrav1.ExtensionPlan{Product: "p"}},
					{Name: "f", Plan: &infrav1.ExtensionPlan{Product: "p", Name: "own"}}}
			},
			defaults(func(s *spec) {
				s.Extensions = []infrav1.AKSExtension{{Name: "e", Plan: &infrav1.ExtensionPlan{Product: "p", Name: "aks1-p"}},
					{Name: "f", Plan: &infrav1.ExtensionPlan{Product: "p", Name: "own"}}}
			}),
		},
		"identity": {"an identity is system-assigned by default", func(c *object) { c.Spec.Identity = &infrav1.Identity{} },
			defaults(func(s *spec) { s.Identity = &infrav1.Identity{Type: "SystemAssigned"} })},
		"issuer": {"an issuer that is on stays on",
			func(c *object) { c.Spec.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)} },
			defaults(func(s *spec) { s.OIDCIssuerProfile.Enabled = new(true) })},
		"prefix": {"the name in DNS is not copied", func(c *object) { c.Spec.DNSPrefix = new("own") },
			defaults(func(s *spec) { s.DNSPrefix = new("own") })},
	} {
		t.Run(name, func(t *testing.T) {
			c := newControlPlane(tc.change)
			FillAzureManagedControlPlane(c)
			if diff := cmp.Diff(tc.want, c.Spec); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			again := c.DeepCopy()
			FillAzureManagedControlPlane(again)
			if diff := cmp.Diff(c, again); diff != "" {
				t.Errorf("defaulting twice differs: -once +twice\n%s", diff)
			}
		})
	}
}

func TestDefaultAzureManagedControlPlaneTemplate(t *testing.T) {
	template := &infrav1.AzureManagedControlPlaneTemplate{ObjectMeta: metav1.ObjectMeta{Name: "class"}}
	template.Spec.Template.Spec.AzureManagedControlPlaneClassSpec = newControlPlane().Spec.AzureManagedControlPlaneClassSpec
	template.Spec.Template.Spec.SKU = &infrav1.AKSSku{Tier: "Paid"}
	FillAzureManagedControlPlaneTemplate(template)
	want := newControlPlane().Spec.AzureManagedControlPlaneClassSpec
	want.Version = "v1.33.2"
	want.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{CIDRBlock: "10.0.0.0/8",
		Subnet: infrav1.ManagedControlPlaneSubnet{CIDRBlock: "10.240.0.0/16"}}
	want.NetworkPlugin, want.LoadBalancerSKU, want.EnablePreviewFeatures = new("azure"), new("Standard"), new(false)
	want.SKU = &infrav1.AKSSku{Tier: "Standard"}
	want.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(false)}
	if diff := cmp.Diff(want, template.Spec.Template.Spec.AzureManagedControlPlaneClassSpec); diff != "" {
		t.Errorf("a template has the defaults that do not depend on the cluster: -want +got\n%s", diff)
	}
}
