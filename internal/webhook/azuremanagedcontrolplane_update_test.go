package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

func TestValidateAzureManagedControlPlaneUpdate(t *testing.T) {
	type object = infrav1.AzureManagedControlPlane
	type spec = infrav1.AzureManagedControlPlaneSpec
	aad := func(s *spec) {
		s.AADProfile = &infrav1.AADProfile{Managed: true, AdminGroupObjectIDs: []string{"g"}}
	}
	overlay := func(s *spec) { s.NetworkPluginMode = new(infrav1.NetworkPluginModeOverlay) }
	proxy := func(url string) func(*spec) {
		return func(s *spec) { s.HTTPProxyConfig = &infrav1.HTTPProxyConfig{HTTPProxy: &url} }
	}
	access := func(p infrav1.APIServerAccessProfile) func(*spec) {
		return func(s *spec) { s.APIServerAccessProfile = &p }
	}
	extension := func(change func(*infrav1.AKSExtension)) func(*spec) {
		return func(s *spec) {
			e := infrav1.AKSExtension{Name: "e", ExtensionType: new("t"),
				Scope: &infrav1.ExtensionScope{ScopeType: "Cluster", ReleaseNamespace: "n"}, Plan: &infrav1.ExtensionPlan{Product: "p"}}
			change(&e)
			s.Extensions = []infrav1.AKSExtension{{Name: "other", ExtensionType: new("o")}, e}
		}
	}
	nothing := func(*infrav1.AKSExtension) {}
	for name, tc := range map[string]struct {
		reason string
		// runs is the version that the control plane runs; "" is the old version.
		runs string
		// fresh tells that no plan was made yet.
		fresh       bool
		old, change func(*spec)
		want        []string
	}{
		"first try": {reason: "a cluster that was never requested can be corrected", fresh: true, old: func(s *spec) {
			s.SSHPublicKey, s.FleetsMember, s.DNSServiceIP = new(testSSHKey), &infrav1.FleetsMember{Name: "a"}, new("10.0.0.10")
			s.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)}
			aad(s)
			overlay(s)
			proxy("http://a")(s)
			extension(nothing)(s)
		}, change: func(s *spec) {
			s.Location, s.SubscriptionID, s.AzureEnvironment = "northeurope", "other", infrav1.ChinaCloud
			s.ResourceGroupName, s.NodeResourceGroupName, s.DNSPrefix, s.SSHPublicKey = "other", "other-nodes", new("other"), nil
			s.NetworkPlugin, s.NetworkPluginMode, s.LoadBalancerSKU, s.DNSServiceIP = new("kubenet"), nil, new("Basic"), nil
			s.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{Name: "other", ResourceGroup: "network", CIDRBlock: "10.0.0.0/7",
				Subnet: infrav1.ManagedControlPlaneSubnet{Name: "other", CIDRBlock: "10.241.0.0/16"}}
			s.FleetsMember.Name, s.OIDCIssuerProfile, s.AADProfile, s.HTTPProxyConfig = "b", nil, nil, nil
			access(infrav1.APIServerAccessProfile{EnablePrivateCluster: new(true)})(s)
			s.Extensions[1].ExtensionType = new("u")
		}},
		"first try, data plane": {reason: "a cluster that was never requested can be corrected", fresh: true,
			change: func(s *spec) {
				s.NetworkDataplane, s.NetworkPolicy = new(infrav1.NetworkDataplaneTypeCilium), new("cilium")
			}},
		"environment": {reason: "resources do not move between clouds", change: func(s *spec) { s.AzureEnvironment = infrav1.ChinaCloud },
			want: []string{"spec.azureEnvironment: FieldValueForbidden"}},
		"public environment": {reason: "no environment is the public cloud", change: func(s *spec) { s.AzureEnvironment = infrav1.PublicCloud }},
		"plugin": {reason: "pods stay where they are", change: func(s *spec) { s.NetworkPlugin = new("kubenet") },
			want: []string{"spec.networkPlugin: FieldValueForbidden"}},
		"plugin left out": {reason: "the default is what it was", change: func(s *spec) { s.NetworkPlugin = nil }},
		"kubenet to overlay": {reason: "AKS migrates kubenet", old: func(s *spec) { s.NetworkPlugin = new("kubenet") },
			change: func(s *spec) { s.NetworkPlugin = new("azure"); overlay(s) }},
		"kubenet to overlay, policy": {reason: "AKS turns overlay on where no policy is in the way",
			old:    func(s *spec) { s.NetworkPlugin, s.NetworkPolicy = new("kubenet"), new("calico") },
			change: func(s *spec) { s.NetworkPlugin = new("azure"); overlay(s) },
			want:   []string{"spec.networkPluginMode: FieldValueForbidden"}},
		"kubenet to the subnet": {reason: "AKS migrates kubenet to overlay only", old: func(s *spec) { s.NetworkPlugin = new("kubenet") },
			change: func(s *spec) { s.NetworkPlugin = new("azure") }, want: []string{"spec.networkPlugin: FieldValueForbidden"}},
		"kubenet to none": {reason: "AKS migrates kubenet to overlay only", old: func(s *spec) { s.NetworkPlugin = new("kubenet") },
			change: func(s *spec) { s.NetworkPlugin = new("none") }, want: []string{"spec.networkPlugin: FieldValueForbidden"}},
		"dataplane": {reason: "AKS replaces its data plane by Cilium", change: func(s *spec) {
			s.NetworkDataplane, s.NetworkPolicy = new(infrav1.NetworkDataplaneTypeCilium), new("cilium")
		}},
		"dataplane back": {reason: "AKS does not replace Cilium", old: func(s *spec) {
			s.NetworkDataplane, s.NetworkPolicy = new(infrav1.NetworkDataplaneTypeCilium), new("cilium")
		}, change: func(s *spec) { s.NetworkDataplane, s.NetworkPolicy = nil, new("calico") },
			want: []string{"spec.networkDataplane: FieldValueForbidden"}},
		"dataplane of AKS": {reason: "the value is the default", change: func(s *spec) { s.NetworkDataplane = new(infrav1.NetworkDataplaneTypeAzure) }},
		"load balancer": {reason: "load balancers are not made twice", change: func(s *spec) { s.LoadBalancerSKU = new("Basic") },
			want: []string{"spec.loadBalancerSKU: FieldValueForbidden"}},
		"DNS": {reason: "pods have the address", change: func(s *spec) { s.DNSServiceIP = new("10.0.0.10") },
			want: []string{"spec.dnsServiceIP: FieldValueForbidden"}},
		"issuer on": {reason: "AKS turns the issuer on at any time",
			change: func(s *spec) { s.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)} }},
		"issuer off": {reason: "AKS does not turn the issuer off",
			old:    func(s *spec) { s.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)} },
			change: func(s *spec) { s.OIDCIssuerProfile.Enabled = new(false) },
			want:   []string{"spec.oidcIssuerProfile.enabled: FieldValueForbidden"}},
		"issuer left out": {reason: "AKS does not turn the issuer off",
			old:    func(s *spec) { s.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)} },
			change: func(s *spec) { s.OIDCIssuerProfile = nil },
			want:   []string{"spec.oidcIssuerProfile.enabled: FieldValueForbidden"}},
		"location": {reason: "after a move the spec is all there is",
			change: func(s *spec) { s.Location, s.SubscriptionID = "northeurope", "other" },
			want:   []string{"spec.subscriptionID: FieldValueForbidden", "spec.location: FieldValueForbidden"}},
		"tags": {reason: "tags follow", change: func(s *spec) { s.AdditionalTags = infrav1.Tags{"a": "b"} }},
		"group": {reason: "resources do not move", change: func(s *spec) { s.ResourceGroupName = "other" },
			want: []string{"spec.resourceGroupName: FieldValueInvalid"}},
		"node group": {reason: "AKS makes the group with the cluster", change: func(s *spec) { s.NodeResourceGroupName = "other" },
			want: []string{"spec.nodeResourceGroupName: FieldValueInvalid"}},
		"vnet": {reason: "nodes stay where they are", change: func(s *spec) { s.VirtualNetwork.Name = "other" },
			want: []string{"spec.virtualNetwork.name: FieldValueInvalid"}},
		"vnet group": {reason: "nodes stay where they are", change: func(s *spec) { s.VirtualNetwork.ResourceGroup = "other" },
			want: []string{"spec.virtualNetwork.resourceGroup: FieldValueInvalid"}},
		"vnet range": {reason: "nodes have addresses", change: func(s *spec) { s.VirtualNetwork.CIDRBlock = "10.0.0.0/7" },
			want: []string{"spec.virtualNetwork.cidrBlock: FieldValueInvalid"}},
		"subnet": {reason: "nodes stay where they are", change: func(s *spec) { s.VirtualNetwork.Subnet.Name = "other" },
			want: []string{"spec.virtualNetwork.subnet.name: FieldValueInvalid"}},
		"subnet range": {reason: "nodes have addresses", change: func(s *spec) { s.VirtualNetwork.Subnet.CIDRBlock = "10.241.0.0/16" },
			want: []string{"spec.virtualNetwork.subnet.cidrBlock: FieldValueInvalid"}},
		"service endpoints": {reason: "a subnet gets endpoints at any time", change: func(s *spec) {
			s.VirtualNetwork.Subnet.ServiceEndpoints = infrav1.ServiceEndpoints{{Service: "Microsoft.Storage.Global", Locations: []string{"*"}}}
		}},
		"SSH key": {reason: "AKS sets keys of machines once", old: func(s *spec) { s.SSHPublicKey = new(testSSHKey) },
			change: func(s *spec) { s.SSHPublicKey = new("b3RoZXI=") }, want: []string{"spec.sshPublicKey: FieldValueInvalid"}},
		"SSH key added": {reason: "AKS sets keys of machines once", change: func(s *spec) { s.SSHPublicKey = new(testSSHKey) },
			want: []string{"spec.sshPublicKey: FieldValueInvalid"}},
		"SSH key removed": {reason: "AKS sets keys of machines once", old: func(s *spec) { s.SSHPublicKey = new(testSSHKey) },
			change: func(s *spec) { s.SSHPublicKey = nil }, want: []string{"spec.sshPublicKey: FieldValueRequired"}},
		"prefix": {reason: "the endpoint has the prefix", change: func(s *spec) { s.DNSPrefix = new("other") },
			want: []string{"spec.dnsPrefix: FieldValueInvalid"}},
		"prefix emptied": {reason: "the endpoint has the prefix", change: func(s *spec) { s.DNSPrefix = new("") },
			want: []string{"spec.dnsPrefix: FieldValueInvalid"}},
		"prefix by default": {reason: "the default equals the stored value", change: func(s *spec) { s.DNSPrefix = nil }},
		"member": {reason: "a member keeps its name", old: func(s *spec) { s.FleetsMember = &infrav1.FleetsMember{Name: "a"} },
			change: func(s *spec) { s.FleetsMember.Name = "b" }, want: []string{"spec.fleetsMember.name: FieldValueInvalid"}},
		"member leaves": {reason: "a cluster leaves a fleet", old: func(s *spec) { s.FleetsMember = &infrav1.FleetsMember{Name: "a"} },
			change: func(s *spec) { s.FleetsMember = nil }},
		"member joins": {reason: "a cluster joins a fleet", change: func(s *spec) { s.FleetsMember = &infrav1.FleetsMember{Name: "a"} }},
		"accounts disabled": {reason: "AKS turns local accounts off at any time", old: aad,
			change: func(s *spec) { s.DisableLocalAccounts = new(true) }},
		"accounts enabled": {reason: "AKS turns local accounts on at any time",
			old: func(s *spec) { aad(s); s.DisableLocalAccounts = new(true) }, change: func(s *spec) { s.DisableLocalAccounts = new(false) }},
		"accounts, unsaid": {reason: "AKS turns local accounts on at any time",
			old: func(s *spec) { aad(s); s.DisableLocalAccounts = new(true) }, change: func(s *spec) { s.DisableLocalAccounts = nil }},
		"accounts, no Entra": {reason: "without local accounts and Entra ID no user could sign in",
			change: func(s *spec) { s.DisableLocalAccounts = new(true) },
			want:   []string{"spec.disableLocalAccounts: FieldValueForbidden"}},
		"accounts stay, no Entra": {reason: "the value is AKS's default", change: func(s *spec) { s.DisableLocalAccounts = new(false) }},
		"accounts disabled later, no Entra": {reason: "without local accounts and Entra ID no user could sign in",
			old: func(s *spec) { s.DisableLocalAccounts = new(false) }, change: func(s *spec) { s.DisableLocalAccounts = new(true) },
			want: []string{"spec.disableLocalAccounts: FieldValueForbidden"}},
		"Entra": {reason: "AKS turns Entra ID on at any time", change: aad},
		"no Entra": {reason: "AKS does not turn Entra ID off", old: aad, change: func(s *spec) { s.AADProfile = nil },
			want: []string{"spec.aadProfile: FieldValueRequired"}},
		"unmanaged Entra": {reason: "AKS does not turn Entra ID off", old: aad, change: func(s *spec) { s.AADProfile.Managed = false },
			want: []string{"spec.aadProfile.managed: FieldValueForbidden"}},
		"no administrators": {reason: "the cluster needs administrators", old: aad,
			change: func(s *spec) { s.AADProfile.AdminGroupObjectIDs = nil },
			want:   []string{"spec.aadProfile.adminGroupObjectIDs: FieldValueRequired"}},
		"administrators": {reason: "other groups replace them", old: aad,
			change: func(s *spec) { s.AADProfile.AdminGroupObjectIDs = []string{"h"} }},

		"overlay": {reason: "AKS turns overlay on later", change: overlay},
		"overlay, policy": {reason: "AKS turns overlay on where no policy is in the way", old: func(s *spec) { s.NetworkPolicy = new("calico") },
			change: overlay, want: []string{"spec.networkPluginMode: FieldValueForbidden"}},
		"overlay off": {reason: "AKS does not turn overlay off", old: overlay, change: func(s *spec) { s.NetworkPluginMode = nil },
			want: []string{"spec.networkPluginMode: FieldValueForbidden"}},
		"overlay stays": {reason: "an unchanged value is not refused", old: func(s *spec) { overlay(s); s.NetworkPolicy = new("calico") },
			change: func(s *spec) { s.AdditionalTags = infrav1.Tags{"a": "b"} }},
		"policy": {reason: "AKS changes the policy engine at any time", old: func(s *spec) { s.NetworkPolicy = new("azure") },
			change: func(s *spec) { s.NetworkPolicy = new("calico") }},
		"policy installed": {reason: "AKS installs a policy engine at any time", change: func(s *spec) { s.NetworkPolicy = new("calico") }},
		"outbound": {reason: "AKS changes the way out at any time",
			old:    func(s *spec) { s.OutboundType = new(infrav1.ManagedControlPlaneOutboundTypeLoadBalancer) },
			change: func(s *spec) { s.OutboundType = new(infrav1.ManagedControlPlaneOutboundTypeUserDefinedRouting) }},
		"no policy": {reason: "AKS can remove a policy engine", old: func(s *spec) { s.NetworkPolicy = new("azure") },
			change: func(s *spec) { s.NetworkPolicy = nil }, want: []string{"spec.networkPolicy: FieldValueRequired"}},
		"no outbound": {reason: "AKS can change the outbound type",
			old:    func(s *spec) { s.OutboundType = new(infrav1.ManagedControlPlaneOutboundTypeUserDefinedRouting) },
			change: func(s *spec) { s.OutboundType = nil }, want: []string{"spec.outboundType: FieldValueRequired"}},
		"proxy":       {reason: "AKS gives nodes a proxy at any time", change: proxy("http://a")},
		"other proxy": {reason: "AKS gives nodes another proxy at any time", old: proxy("http://a"), change: proxy("http://b")},
		"no proxy": {reason: "AKS does not take a proxy away", old: proxy("http://a"), change: func(s *spec) { s.HTTPProxyConfig = nil },
			want: []string{"spec.httpProxyConfig: FieldValueRequired"}},
		"empty proxy": {reason: "AKS does not take a proxy away", old: proxy("http://a"),
			change: func(s *spec) { s.HTTPProxyConfig = &infrav1.HTTPProxyConfig{} }, want: []string{"spec.httpProxyConfig: FieldValueRequired"}},

		"private": {reason: "a cluster is private from the beginning",
			change: access(infrav1.APIServerAccessProfile{EnablePrivateCluster: new(true)}),
			want:   []string{"spec.apiServerAccessProfile.enablePrivateCluster: FieldValueForbidden"}},
		"public": {reason: "a private cluster stays private", old: access(infrav1.APIServerAccessProfile{EnablePrivateCluster: new(true)}),
			change: func(s *spec) { s.APIServerAccessProfile = nil },
			want:   []string{"spec.apiServerAccessProfile.enablePrivateCluster: FieldValueForbidden"}},
		"not private": {reason: "no profile is an empty one", change: access(infrav1.APIServerAccessProfile{EnablePrivateCluster: new(false)})},
		"zone": {reason: "the zone has the endpoint",
			old:    access(infrav1.APIServerAccessProfile{EnablePrivateCluster: new(true), PrivateDNSZone: new("System")}),
			change: func(s *spec) { s.APIServerAccessProfile.PrivateDNSZone = new("None") },
			want:   []string{"spec.apiServerAccessProfile.privateDNSZone: FieldValueInvalid"}},
		"public FQDN": {reason: "AKS publishes the name of a private cluster at any time",
			old:    access(infrav1.APIServerAccessProfile{EnablePrivateCluster: new(true)}),
			change: func(s *spec) { s.APIServerAccessProfile.EnablePrivateClusterPublicFQDN = new(true) }},
		"ranges": {reason: "AKS lets others in at any time",
			change: access(infrav1.APIServerAccessProfile{AuthorizedIPRanges: []string{"203.0.113.0/24"}})},
		"ranges opened": {reason: "AKS can remove the restriction at any time",
			old:    access(infrav1.APIServerAccessProfile{AuthorizedIPRanges: []string{"203.0.113.0/24"}}),
			change: func(s *spec) { s.APIServerAccessProfile = nil }},

		"upgrade": {reason: "AKS upgrades", change: func(s *spec) { s.Version = "v1.34.0" }},
		"downgrade": {reason: "AKS does not downgrade", change: func(s *spec) { s.Version = "v1.33.1" },
			want: []string{"spec.version: FieldValueInvalid"}},
		"downgrade to 1.9": {reason: "versions are numbers", change: func(s *spec) { s.Version = "v1.9.0" },
			want: []string{"spec.version: FieldValueInvalid"}},
		"corrected": {reason: "a version that AKS refused can be undone", runs: "v1.32.1",
			change: func(s *spec) { s.Version = "v1.33.1" }},
		"version is none": {reason: "a version is one", change: func(s *spec) { s.Version = "vlatest" },
			want: []string{"spec.version: FieldValueInvalid"}},
		"no channel": {reason: "AKS stops upgrading by itself", old: func(s *spec) {
			s.AutoUpgradeProfile = &infrav1.ManagedClusterAutoUpgradeProfile{UpgradeChannel: new(infrav1.UpgradeChannelStable)}
		}, change: func(s *spec) { s.AutoUpgradeProfile = nil }},
		"add-on": {reason: "an add-on that is not wanted any more is turned off",
			old:    func(s *spec) { s.AddonProfiles = []infrav1.AddonProfile{{Name: "omsagent", Enabled: true}} },
			change: func(s *spec) { s.AddonProfiles = nil }},
		"image cleaner": {reason: "a removed setting is turned off", old: func(s *spec) {
			s.SecurityProfile = &infrav1.ManagedClusterSecurityProfile{
				ImageCleaner: &infrav1.ManagedClusterSecurityProfileImageCleaner{Enabled: true}}
		}, change: func(s *spec) { s.SecurityProfile = nil }},
		"tier": {reason: "AKS changes the tier at any time", change: func(s *spec) { s.SKU.Tier = "Standard" }},

		"extension": {reason: "an extension with a scope can be updated", old: extension(nothing),
			change: extension(func(e *infrav1.AKSExtension) { e.ConfigurationSettings = map[string]string{"a": "b"} })},
		"extension type": {reason: "an extension is of one type", old: extension(nothing),
			change: extension(func(e *infrav1.AKSExtension) { e.ExtensionType = new("u") }),
			want:   []string{"spec.extensions[1].extensionType: FieldValueInvalid"}},
		"extension train": {reason: "Azure sets the train once", old: extension(nothing),
			change: extension(func(e *infrav1.AKSExtension) { e.ReleaseTrain = new("Preview") }),
			want:   []string{"spec.extensions[1].releaseTrain: FieldValueInvalid"}},
		"extension version": {reason: "Azure sets the version once",
			old:    extension(func(e *infrav1.AKSExtension) { e.Version, e.AutoUpgradeMinorVersion = new("1"), new(false) }),
			change: extension(func(e *infrav1.AKSExtension) { e.Version, e.AutoUpgradeMinorVersion = new("2"), new(false) }),
			want:   []string{"spec.extensions[1].version: FieldValueInvalid"}},
		"extension unpinned": {reason: "a version is unset",
			old:    extension(func(e *infrav1.AKSExtension) { e.Version, e.AutoUpgradeMinorVersion = new("1"), new(false) }),
			change: extension(nothing)},
		"extension scope": {reason: "an extension stays where it is", old: extension(nothing),
			change: extension(func(e *infrav1.AKSExtension) { e.Scope.ReleaseNamespace = "m" }),
			want:   []string{"spec.extensions[1].scope: FieldValueForbidden"}},
		"extension plan": {reason: "a plan is bought once", old: extension(nothing),
			change: extension(func(e *infrav1.AKSExtension) { e.Plan.Product = "q" }),
			want:   []string{"spec.extensions[1].plan: FieldValueForbidden"}},
		"extension identity": {reason: "Azure sets the identity once", old: extension(nothing),
			change: extension(func(e *infrav1.AKSExtension) { e.Identity = "SystemAssigned" }),
			want:   []string{"spec.extensions[1].identity: FieldValueForbidden"}},
		"extension removed": {reason: "extensions come and go", old: extension(nothing), change: func(s *spec) { s.Extensions = nil }},
		"stored error": {reason: "a stored mistake does not prevent other changes",
			old:    func(s *spec) { s.LoadBalancerProfile = &infrav1.LoadBalancerProfile{IdleTimeoutInMinutes: new(1)} },
			change: func(s *spec) { s.AdditionalTags = infrav1.Tags{"a": "b"} }},
		"stored error, moved": {reason: "entries of lists move",
			old:    func(s *spec) { s.ASOManagedClusterPatches = []string{"{}", `{"spec":{"x":1}}`} },
			change: func(s *spec) { s.ASOManagedClusterPatches = []string{`{"spec":{"x":1}}`} }},
		"stored error, worse": {reason: "another wrong value is refused",
			old:    func(s *spec) { s.LoadBalancerProfile = &infrav1.LoadBalancerProfile{IdleTimeoutInMinutes: new(1)} },
			change: func(s *spec) { s.LoadBalancerProfile.IdleTimeoutInMinutes = new(2) },
			want:   []string{"spec.loadBalancerProfile.idleTimeoutInMinutes: FieldValueInvalid"}},
		"stored error, others": {reason: "another field is checked",
			old:    func(s *spec) { s.LoadBalancerProfile = &infrav1.LoadBalancerProfile{IdleTimeoutInMinutes: new(1)} },
			change: func(s *spec) { s.LoadBalancerProfile.AllocatedOutboundPorts = new(-1) },
			want:   []string{"spec.loadBalancerProfile.allocatedOutboundPorts: FieldValueInvalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.old == nil {
				tc.old = func(*spec) {}
			}
			old := defaultedControlPlane(func(c *object) { tc.old(&c.Spec) })
			old.Status.Version = old.Spec.Version
			if !tc.fresh {
				giveEndpoint(old)
			}
			if tc.runs != "" {
				old.Status.Version = tc.runs
			}
			c := old.DeepCopy()
			tc.change(&c.Spec)
			defaults.FillAzureManagedControlPlane(c)
			if diff := cmp.Diff(tc.want, errorPaths(validateUpdate(t, controlPlanes(managedLookup{}, random{}), old, c)),
				cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			c.DeletionTimestamp = &deletionTime
			if errs := validateUpdate(t, controlPlanes(managedLookup{}, random{}), old, c); len(errs) > 0 {
				t.Errorf("an object that is being deleted is never refused: %v", errs)
			}
		})
	}
}

// giveEndpoint makes a control plane one whose cluster exists in AKS.
func giveEndpoint(c *infrav1.AzureManagedControlPlane) {
	c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "h", Port: 443}
	c.Annotations = map[string]string{infrav1.EndpointAnnotation: "h:443"}
}

// TestFleetMemberIsRenamed expects the remedy for the name of a fleet member in its error.
func TestFleetMemberIsRenamed(t *testing.T) {
	old := defaultedControlPlane(func(c *infrav1.AzureManagedControlPlane) { c.Spec.FleetsMember = &infrav1.FleetsMember{Name: "a"} })
	giveEndpoint(old)
	c := old.DeepCopy()
	c.Spec.FleetsMember.Name = "b"
	errs := validateUpdate(t, controlPlanes(managedLookup{}, random{}), old, c)
	if len(errs) != 1 || !strings.Contains(errs[0].Detail, "remove fleetsMember") {
		t.Errorf("got %v", errs)
	}
}

func TestAutoUpgradedVersion(t *testing.T) {
	old := defaultedControlPlane()
	old.Status.AutoUpgradeVersion = "v1.34.2"
	for version, want := range map[string][]string{"v1.33.2": nil, "v1.34.1": {"spec.version: FieldValueInvalid"}, "v1.34.2": nil,
		"v1.35.0": nil} {
		c := old.DeepCopy()
		c.Spec.Version = version
		c.Spec.AdditionalTags = infrav1.Tags{"a": "b"}
		if diff := cmp.Diff(want, errorPaths(validateUpdate(t, controlPlanes(managedLookup{}, random{}), old, c)),
			cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("AKS has upgraded the cluster to 1.34.2, so %s: -want +got\n%s", version, diff)
		}
	}
}

// TestDefaultsWaitForTheLabel updates a control plane that was created before it got its label; it expects that the webhook fills in the
// fields that depend on the label.
func TestDefaultsWaitForTheLabel(t *testing.T) {
	old := defaultedControlPlane(func(c *infrav1.AzureManagedControlPlane) {
		c.Labels = nil
		c.Spec.FleetsMember = &infrav1.FleetsMember{}
	})
	c := old.DeepCopy()
	c.Labels = newControlPlane().Labels
	defaults.FillAzureManagedControlPlane(c)
	if c.Spec.ResourceGroupName != "c1" || c.Spec.NodeResourceGroupName == "" || c.Spec.FleetsMember.Name != "c1" {
		t.Errorf("the defaults of the Cluster's name are missing: %s", mustJSON(t, c.Spec))
	}
	if errs := validateUpdate(t, controlPlanes(managedLookup{}, random{}), old, c); len(errs) > 0 {
		t.Errorf("defaults that come later are refused: %v", errs)
	}
}

// TestStoredWithoutDefaults takes a control plane from before there was a default for the name in DNS.
func TestStoredWithoutDefaults(t *testing.T) {
	stored := newControlPlane()
	giveEndpoint(stored)
	for prefix, want := range map[string][]string{"aks1": nil, "other": {"spec.dnsPrefix: FieldValueInvalid"}} {
		old, c := stored.DeepCopy(), stored.DeepCopy()
		defaults.FillAzureManagedControlPlane(old)
		c.Spec.DNSPrefix = &prefix
		defaults.FillAzureManagedControlPlane(c)
		if diff := cmp.Diff(want, errorPaths(validateUpdate(t, controlPlanes(managedLookup{}, random{}), old, c)),
			cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("no prefix was the object's name, so %s: -want +got\n%s", prefix, diff)
		}
	}
}

func TestAzureManagedControlPlaneTemplate(t *testing.T) {
	type spec = infrav1.AzureManagedControlPlaneTemplateResourceSpec
	p := func(name string) string { return "spec.template.spec." + name }
	for name, tc := range map[string]struct {
		reason      string
		old, change func(*spec)
		want        []string
	}{
		"tags":    {reason: "tags follow", change: func(s *spec) { s.AdditionalTags = infrav1.Tags{"a": "b"} }},
		"group":   {reason: "a patch of the class names the group", change: func(s *spec) { s.ResourceGroupName = "other" }},
		"upgrade": {reason: "Cluster API upgrades", change: func(s *spec) { s.Version = "v1.34.0" }},
		"downgrade": {reason: "AKS does not downgrade", change: func(s *spec) { s.Version = "v1.32.0" },
			want: []string{p("version: FieldValueInvalid")}},
		"outbound": {reason: "AKS changes the way out",
			change: func(s *spec) { s.OutboundType = new(infrav1.ManagedControlPlaneOutboundTypeUserDefinedRouting) }},
		"policy": {reason: "AKS changes the policy engine", change: func(s *spec) { s.NetworkPolicy = new("calico") }},
		"subscription": {reason: "clusters do not move", change: func(s *spec) { s.SubscriptionID = "other" },
			want: []string{p("subscriptionID: FieldValueForbidden")}},
		"location": {reason: "clusters do not move", change: func(s *spec) { s.Location = "other" },
			want: []string{p("location: FieldValueForbidden")}},
		"network": {reason: "clusters keep their network", change: func(s *spec) {
			s.DNSServiceIP, s.NetworkPlugin, s.LoadBalancerSKU = new("10.0.0.10"), new("none"), new("Basic")
		}, want: []string{p("loadBalancerSKU: FieldValueForbidden"), p("dnsServiceIP: FieldValueForbidden"),
			p("networkPlugin: FieldValueForbidden")}},
		"kubenet to overlay": {reason: "AKS migrates kubenet", old: func(s *spec) { s.NetworkPlugin = new("kubenet") },
			change: func(s *spec) {
				s.NetworkPlugin, s.NetworkPluginMode = new("azure"), new(infrav1.NetworkPluginModeOverlay)
			}},
		"dataplane": {reason: "AKS replaces its data plane by Cilium", change: func(s *spec) {
			s.NetworkDataplane, s.NetworkPolicy = new(infrav1.NetworkDataplaneTypeCilium), new("cilium")
		}},
		"ranges": {reason: "clusters keep their network", change: func(s *spec) {
			s.VirtualNetwork.CIDRBlock, s.VirtualNetwork.Subnet.CIDRBlock, s.VirtualNetwork.Subnet.Name = "10.0.0.0/7", "10.0.0.0/16", "n"
		}, want: []string{p("virtualNetwork.subnet.name: FieldValueInvalid"), p("virtualNetwork.cidrBlock: FieldValueInvalid"),
			p("virtualNetwork.subnet.cidrBlock: FieldValueInvalid")}},
		"private": {reason: "a cluster is private from the beginning", change: func(s *spec) {
			s.APIServerAccessProfile = &infrav1.APIServerAccessProfile{EnablePrivateCluster: new(true)}
		}, want: []string{p("apiServerAccessProfile.enablePrivateCluster: FieldValueForbidden")}},
		"network name": {reason: "clusters keep their network", change: func(s *spec) {
			s.VirtualNetwork.Name, s.VirtualNetwork.ResourceGroup = "network", "g"
		}, want: []string{p("virtualNetwork.name: FieldValueInvalid"), p("virtualNetwork.resourceGroup: FieldValueInvalid")}},
		"network renamed": {reason: "clusters keep their network",
			old: func(s *spec) { s.VirtualNetwork.Name, s.VirtualNetwork.ResourceGroup = "a", "b" }, change: func(s *spec) {
				s.VirtualNetwork.Name, s.VirtualNetwork.ResourceGroup = "network", ""
			}, want: []string{p("virtualNetwork.name: FieldValueInvalid"), p("virtualNetwork.resourceGroup: FieldValueInvalid")}},
		"cloud": {reason: "resources do not move between clouds", change: func(s *spec) { s.AzureEnvironment = infrav1.USGovernmentCloud },
			want: []string{p("azureEnvironment: FieldValueForbidden")}},
		"cloud by name": {reason: "the value is the default", change: func(s *spec) { s.AzureEnvironment = infrav1.PublicCloud }},
		"issuer": {reason: "AKS does not turn the issuer off", old: func(s *spec) {
			s.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)}
		}, change: func(s *spec) { s.OIDCIssuerProfile = nil }, want: []string{p("oidcIssuerProfile.enabled: FieldValueForbidden")}},
		"issuer on": {reason: "AKS turns the issuer on at any time",
			change: func(s *spec) { s.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)} }},
		"proxy removed": {reason: "AKS does not remove a proxy",
			old:    func(s *spec) { s.HTTPProxyConfig = &infrav1.HTTPProxyConfig{HTTPProxy: new("http://proxy")} },
			change: func(s *spec) { s.HTTPProxyConfig = nil }, want: []string{p("httpProxyConfig: FieldValueRequired")}},
		"overlay off": {reason: "AKS does not turn overlay off",
			old:    func(s *spec) { s.NetworkPluginMode = new(infrav1.NetworkPluginModeOverlay) },
			change: func(s *spec) { s.NetworkPluginMode = nil }, want: []string{p("networkPluginMode: FieldValueForbidden")}},
		"overlay on": {reason: "AKS turns overlay on", change: func(s *spec) { s.NetworkPluginMode = new(infrav1.NetworkPluginModeOverlay) }},
		"overlay on, policy": {reason: "AKS does not turn overlay on with a policy engine",
			old:    func(s *spec) { s.NetworkPolicy = new("calico") },
			change: func(s *spec) { s.NetworkPluginMode = new(infrav1.NetworkPluginModeOverlay) },
			want:   []string{p("networkPluginMode: FieldValueForbidden")}},
		"Entra": {reason: "AKS does not turn Entra ID off", old: func(s *spec) { s.AADProfile = &infrav1.AADProfile{Managed: true} },
			change: func(s *spec) { s.AADProfile = nil }, want: []string{p("aadProfile: FieldValueRequired")}},
		"extension": {reason: "an extension is of one type",
			old:    func(s *spec) { s.Extensions = []infrav1.AKSExtension{{Name: "e", ExtensionType: new("t")}} },
			change: func(s *spec) { s.Extensions = []infrav1.AKSExtension{{Name: "e", ExtensionType: new("u")}} },
			want:   []string{p("extensions[0].extensionType: FieldValueInvalid")}},
		"checks": {reason: "templates are checked as clusters",
			change: func(s *spec) { s.LoadBalancerProfile = &infrav1.LoadBalancerProfile{IdleTimeoutInMinutes: new(1)} },
			want:   []string{p("loadBalancerProfile.idleTimeoutInMinutes: FieldValueInvalid")}},
		"patch": {reason: "a key that means nothing would vanish",
			change: func(s *spec) { s.ASOManagedClusterPatches = []string{`{"spec":{"x":1}}`} },
			want:   []string{p("asoManagedClusterPatches[0]: FieldValueInvalid")}},
		"stored": {reason: "a stored mistake does not prevent other changes", old: func(s *spec) { s.Version = "1.33" },
			change: func(s *spec) { s.AdditionalTags = infrav1.Tags{"a": "b"} }},
	} {
		t.Run(name, func(t *testing.T) {
			old := newControlPlaneTemplate()
			if tc.old != nil {
				tc.old(&old.Spec.Template.Spec)
			}
			defaults.FillAzureManagedControlPlaneTemplate(old)
			template := old.DeepCopy()
			tc.change(&template.Spec.Template.Spec)
			defaults.FillAzureManagedControlPlaneTemplate(template)
			if diff := cmp.Diff(tc.want, errorPaths(validateUpdate(t, controlPlaneTemplates, old, template)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
	bad := newControlPlaneTemplate(func(t *infrav1.AzureManagedControlPlaneTemplate) { t.Spec.Template.Spec.Version = "latest" })
	defaults.FillAzureManagedControlPlaneTemplate(bad)
	if diff := cmp.Diff([]string{p("version: FieldValueInvalid")}, errorPaths(ValidateAzureManagedControlPlaneTemplate(bad))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
