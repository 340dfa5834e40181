package webhook

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// controlPlaneRow is the creation of an AzureManagedControlPlane of a Cluster, or of none that is known.
type controlPlaneRow struct {
	reason  string
	change  func(*infrav1.AzureManagedControlPlane)
	cluster *clusterv1.Cluster
	want    []string
}

func checkControlPlaneRows(t *testing.T, rows map[string]controlPlaneRow) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			c := defaultedControlPlane(row.change)
			if diff := cmp.Diff(row.want, errorPaths(ValidateAzureManagedControlPlane(c, row.cluster)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", row.reason, diff)
			}
		})
	}
}

// listControlPlaneRows returns the rows of all tables.
func listControlPlaneRows() map[string]controlPlaneRow {
	out := map[string]controlPlaneRow{}
	for table, rows := range map[string]map[string]controlPlaneRow{"control plane": controlPlaneRows(), "access": accessRows(),
		"autoscaler": autoScalerRows(), "security": securityRows(), "extensions": extensionRows()} {
		for name, row := range rows {
			out[table+": "+name] = row
		}
	}
	return out
}

func TestValidateAzureManagedControlPlane(t *testing.T) { checkControlPlaneRows(t, controlPlaneRows()) }

func controlPlaneRows() map[string]controlPlaneRow {
	type object = infrav1.AzureManagedControlPlane
	services := networkOf([]string{"192.168.0.0/16"}, nil)
	return map[string]controlPlaneRow{
		"minimal": {reason: "the defaults are valid", change: func(*object) {}},
		"reserved": {reason: "Azure reserves words", change: func(c *object) { c.Name = "my-Windows" },
			want: []string{"metadata.name: FieldValueInvalid"}},
		"reserved, too": {reason: "Azure reserves words", change: func(c *object) { c.Name = "microsoft1" },
			want: []string{"metadata.name: FieldValueInvalid"}},
		"dotted name": {reason: "AKS clusters have no dots in their names",
			change: func(c *object) { c.Name, c.Spec.DNSPrefix = "a.b", new("ab") }, want: []string{"metadata.name: FieldValueInvalid"}},
		"long name": {reason: "names of AKS clusters end somewhere",
			change: func(c *object) { c.Name, c.Spec.DNSPrefix = strings.Repeat("a", 64), new("ab") },
			want:   []string{"metadata.name: FieldValueTooLong"}},
		"node group": {reason: "AKS cuts its own name where it is too long, and refuses the user's",
			change: func(c *object) { c.Spec.NodeResourceGroupName = strings.Repeat("n", 81) },
			want:   []string{"spec.nodeResourceGroupName: FieldValueTooLong"}},
		"node group in letters of another script": {reason: "AKS counts characters",
			change: func(c *object) { c.Spec.NodeResourceGroupName = strings.Repeat("ü", 80) }},
		"long group": {reason: "the name that defaulting makes may be too long: AKS cuts it",
			change: func(c *object) { c.Spec.ResourceGroupName = strings.Repeat("g", 85) }},
		"version": {reason: "AKS wants the patch version", change: func(c *object) { c.Spec.Version = "v1.33" },
			want: []string{"spec.version: FieldValueInvalid"}},
		"leading zero": {reason: "versions are semantic", change: func(c *object) { c.Spec.Version = "v1.033.0" },
			want: []string{"spec.version: FieldValueInvalid"}},
		"identity": {reason: "the provider needs an identity to sign in with", change: func(c *object) { c.Spec.IdentityRef = nil },
			want: []string{"spec.identityRef.name: FieldValueRequired"}},
		"other identity": {reason: "there is one kind of identity",
			change: func(c *object) { c.Spec.IdentityRef = &corev1.ObjectReference{Kind: "Secret", Name: "s"} },
			want:   []string{"spec.identityRef.kind: FieldValueNotSupported"}},
		"kindless": {reason: "there is one kind of identity, so it need not be named",
			change: func(c *object) { c.Spec.IdentityRef.Kind = "" }},
		"SSH key": {reason: "a key is base64", change: func(c *object) { c.Spec.SSHPublicKey = new("ssh-rsa AAA") },
			want: []string{"spec.sshPublicKey: FieldValueInvalid"}},
		"SSH line": {reason: "a key is a line of authorized_keys", change: func(c *object) { c.Spec.SSHPublicKey = new("bm90IGEga2V5") },
			want: []string{"spec.sshPublicKey: FieldValueInvalid"}},
		"good SSH key": {reason: "a key is a line of authorized_keys in base64",
			change: func(c *object) { c.Spec.SSHPublicKey = new(testSSHKey) }},
		"prefix": {reason: "a name in DNS begins with a letter or digit", change: func(c *object) { c.Spec.DNSPrefix = new("-a") },
			want: []string{"spec.dnsPrefix: FieldValueInvalid"}},
		"prefix underline": {reason: "a name in DNS has no underline", change: func(c *object) { c.Spec.DNSPrefix = new("a_b") },
			want: []string{"spec.dnsPrefix: FieldValueInvalid"}},
		"long prefix": {reason: "54 characters are all", change: func(c *object) { c.Spec.DNSPrefix = new(strings.Repeat("a", 55)) },
			want: []string{"spec.dnsPrefix: FieldValueInvalid"}},
		"longest prefix": {reason: "54 characters fit", change: func(c *object) { c.Spec.DNSPrefix = new(strings.Repeat("a", 54)) }},
		"empty prefix": {reason: "nothing is no name", change: func(c *object) { c.Spec.DNSPrefix = new("") },
			want: []string{"spec.dnsPrefix: FieldValueInvalid"}},

		"user identity": {reason: "an identity of the user is named",
			change: func(c *object) { c.Spec.Identity = &infrav1.Identity{Type: "UserAssigned"} },
			want:   []string{"spec.identity.userAssignedIdentityResourceID: FieldValueRequired"}},
		"system identity": {reason: "the system's identity has no name", change: func(c *object) {
			c.Spec.Identity = &infrav1.Identity{UserAssignedIdentityResourceID: managedIdentityID}
		}, want: []string{"spec.identity.userAssignedIdentityResourceID: FieldValueForbidden"}},
		"identity ID": {reason: "an identity is named by ID", change: func(c *object) {
			c.Spec.Identity = &infrav1.Identity{Type: "UserAssigned", UserAssignedIdentityResourceID: "i"}
		}, want: []string{"spec.identity.userAssignedIdentityResourceID: FieldValueInvalid"}},
		"kubelet identity": {reason: "an identity is named by ID, and AKS needs one of the user for the cluster, too",
			change: func(c *object) { c.Spec.KubeletUserAssignedIdentity = "i" },
			want:   []string{"spec.kubeletUserAssignedIdentity: FieldValueInvalid", "spec.kubeletUserAssignedIdentity: FieldValueForbidden"}},
		"zone of the user": {reason: "the cluster's identity writes into the zone", change: func(c *object) {
			c.Spec.APIServerAccessProfile = &infrav1.APIServerAccessProfile{EnablePrivateCluster: new(true),
				PrivateDNSZone: new("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io")}
		}, want: []string{"spec.apiServerAccessProfile.privateDNSZone: FieldValueForbidden"}},
		"identity, no slash": {reason: "the first slash may be missing",
			change: func(c *object) {
				c.Spec.KubeletUserAssignedIdentity = managedIdentityID[1:]
				c.Spec.Identity = &infrav1.Identity{Type: infrav1.ManagedControlPlaneIdentityTypeUserAssigned, UserAssignedIdentityResourceID: managedIdentityID}
			}},
		"local accounts": {reason: "without local accounts and Entra ID no user could sign in",
			change: func(c *object) { c.Spec.DisableLocalAccounts = new(true) },
			want:   []string{"spec.disableLocalAccounts: FieldValueForbidden"}},
		"local accounts, enabled": {reason: "users sign in with local accounts",
			change: func(c *object) { c.Spec.DisableLocalAccounts = new(false) }},
		"Entra only": {reason: "Entra ID lets people in", change: func(c *object) {
			c.Spec.AADProfile, c.Spec.DisableLocalAccounts = &infrav1.AADProfile{Managed: true, AdminGroupObjectIDs: []string{"g"}}, new(true)
		}},
		"overlay kubenet": {reason: "kubenet has no modes", change: func(c *object) {
			c.Spec.NetworkPlugin, c.Spec.NetworkPluginMode = new("kubenet"), new(infrav1.NetworkPluginModeOverlay)
		}, want: []string{"spec.networkPluginMode: FieldValueInvalid"}},
		"fleet member": {reason: "members have names as in DNS",
			change: func(c *object) { c.Spec.FleetsMember = &infrav1.FleetsMember{Name: "A"} },
			want:   []string{"spec.fleetsMember.name: FieldValueInvalid"}},
		"fleet member without a Cluster": {reason: "the name comes with the label", change: func(c *object) {
			c.Labels, c.Spec.ResourceGroupName, c.Spec.FleetsMember = nil, "rg", &infrav1.FleetsMember{}
		}},

		"vnet": {reason: "a network has a range", change: func(c *object) { c.Spec.VirtualNetwork.CIDRBlock = "10.0.0.0" },
			want: []string{"spec.virtualNetwork.cidrBlock: FieldValueInvalid"}},
		"subnet": {reason: "a subnet has a range", change: func(c *object) { c.Spec.VirtualNetwork.Subnet.CIDRBlock = "x" },
			want: []string{"spec.virtualNetwork.subnet.cidrBlock: FieldValueInvalid"}},
		"outside": {reason: "a subnet is part of its network",
			change: func(c *object) { c.Spec.VirtualNetwork.Subnet.CIDRBlock = "192.168.0.0/16" },
			want:   []string{"spec.virtualNetwork.subnet.cidrBlock: FieldValueInvalid"}},
		"endpoint IP": {reason: "addresses are of the subnet", change: func(c *object) {
			c.Spec.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{Name: "e", PrivateIPAddresses: []string{"10.1.0.4"},
				PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{PrivateLinkServiceID: linkServiceID}}}}
		}, want: []string{"spec.virtualNetwork.subnet.privateEndpoints[0].privateIPAddresses[0]: FieldValueInvalid"}},
		"endpoint of an account with regions": {reason: "Azure needs an address of each region, whose member is not known", change: func(c *object) {
			c.Spec.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{Name: "e", PrivateIPAddresses: []string{"10.240.0.4"},
				PrivateLinkServiceConnections: mongoDB}}
		}, want: []string{"spec.virtualNetwork.subnet.privateEndpoints[0].privateIPAddresses: FieldValueInvalid"}},
		"service endpoints": {reason: "services and regions are named, once each", change: func(c *object) {
			c.Spec.VirtualNetwork.Subnet.ServiceEndpoints = infrav1.ServiceEndpoints{
				{Service: "Microsoft.Storage", Locations: []string{"westeurope", "*"}}, {Service: "Storage"}}
		}, want: []string{"spec.virtualNetwork.subnet.serviceEndpoints[1].service: FieldValueInvalid",
			"spec.virtualNetwork.subnet.serviceEndpoints[1].locations: FieldValueRequired"}},

		"cilium": {reason: "Cilium enforces policies on its own data plane, with addresses of its own", change: func(c *object) {
			c.Spec.NetworkPluginMode, c.Spec.NetworkPolicy, c.Spec.NetworkDataplane = new(infrav1.NetworkPluginModeOverlay), new("cilium"),
				new(infrav1.NetworkDataplaneTypeCilium)
		}},
		"cilium policy": {reason: "Azure's dataplane does not know Cilium's policies",
			change: func(c *object) { c.Spec.NetworkPolicy = new("cilium") }, want: []string{"spec.networkPolicy: FieldValueInvalid"}},
		"cilium dataplane": {reason: "Cilium enforces policies itself",
			change: func(c *object) { c.Spec.NetworkDataplane = new(infrav1.NetworkDataplaneTypeCilium) },
			want:   []string{"spec.networkDataplane: FieldValueInvalid"}},
		"cilium in the subnet of the nodes": {reason: "AKS gives pods addresses of the nodes' subnet with every dataplane",
			change: func(c *object) {
				c.Spec.NetworkPluginMode, c.Spec.NetworkPolicy, c.Spec.NetworkDataplane = nil, new("cilium"), new(infrav1.NetworkDataplaneTypeCilium)
			}},

		"no Cluster yet": {reason: "ranges come with the Cluster", change: func(c *object) { c.Spec.DNSServiceIP = new("192.168.0.10") }},
		"ranges": {reason: "AKS has one range of each kind", change: func(*object) {},
			cluster: networkOf([]string{"192.168.0.0/16", "fd00::/108"}, []string{"10.244.0.0/16", "fd01::/64"}),
			want: []string{"Cluster.spec.clusterNetwork.services.cidrBlocks: FieldValueTooMany",
				"Cluster.spec.clusterNetwork.pods.cidrBlocks: FieldValueTooMany"}},
		"range": {reason: "a range is one", change: func(c *object) { c.Spec.DNSServiceIP = new("192.168.0.10") },
			cluster: networkOf([]string{"192.168.0.0"}, nil),
			want:    []string{"Cluster.spec.clusterNetwork.services.cidrBlocks[0]: FieldValueInvalid"}},
		"DNS": {reason: "the DNS service is a service", change: func(c *object) { c.Spec.DNSServiceIP = new("192.168.0.10") },
			cluster: services},
		"DNS nowhere": {reason: "AKS takes the address with the range only",
			change: func(c *object) { c.Spec.DNSServiceIP = new("192.168.0.10") }, cluster: networkOf(nil, nil),
			want: []string{"spec.dnsServiceIP: FieldValueForbidden"}},
		"DNS elsewhere": {reason: "the DNS service is a service", change: func(c *object) { c.Spec.DNSServiceIP = new("10.0.0.10") },
			cluster: services, want: []string{"spec.dnsServiceIP: FieldValueInvalid"}},
		"DNS is no address": {reason: "the DNS service has an address", change: func(c *object) { c.Spec.DNSServiceIP = new("dns") },
			cluster: services, want: []string{"spec.dnsServiceIP: FieldValueInvalid"}},
		"DNS is not the tenth": {reason: "AKS takes any other address of the range", change: func(c *object) { c.Spec.DNSServiceIP = new("192.168.0.11") },
			cluster: services},
		"DNS is the API server": {reason: "the first address is that of the API server", change: func(c *object) { c.Spec.DNSServiceIP = new("192.168.0.1") },
			cluster: services, want: []string{"spec.dnsServiceIP: FieldValueInvalid"}},

		"load balancer": {reason: "the limits are Azure's", change: func(c *object) {
			c.Spec.LoadBalancerProfile = &infrav1.LoadBalancerProfile{ManagedOutboundIPs: new(0), AllocatedOutboundPorts: new(64001),
				IdleTimeoutInMinutes: new(3)}
		}, want: []string{"spec.loadBalancerProfile.managedOutboundIPs: FieldValueInvalid",
			"spec.loadBalancerProfile.allocatedOutboundPorts: FieldValueInvalid",
			"spec.loadBalancerProfile.idleTimeoutInMinutes: FieldValueInvalid"}},
		"load balancer, most": {reason: "the limits are Azure's", change: func(c *object) {
			c.Spec.LoadBalancerProfile = &infrav1.LoadBalancerProfile{ManagedOutboundIPs: new(100), AllocatedOutboundPorts: new(64000),
				IdleTimeoutInMinutes: new(120)}
		}},
		"two ways out": {reason: "addresses are of one kind", change: func(c *object) {
			c.Spec.LoadBalancerProfile = &infrav1.LoadBalancerProfile{ManagedOutboundIPs: new(1),
				OutboundIPs: []string{"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/i"}}
		}, want: []string{"spec.loadBalancerProfile: FieldValueForbidden"}},
		"addresses": {reason: "addresses are named by ID", change: func(c *object) {
			c.Spec.LoadBalancerProfile = &infrav1.LoadBalancerProfile{OutboundIPs: []string{"1.2.3.4"}}
		}, want: []string{"spec.loadBalancerProfile.outboundIPs[0]: FieldValueInvalid"}},
		"prefixes": {reason: "prefixes are named by ID", change: func(c *object) {
			c.Spec.LoadBalancerProfile = &infrav1.LoadBalancerProfile{OutboundIPPrefixes: []string{"1.2.3.4/30"}}
		}, want: []string{"spec.loadBalancerProfile.outboundIPPrefixes[0]: FieldValueInvalid"}},

		"add-ons": {reason: "Azure has a map of them",
			change: func(c *object) { c.Spec.AddonProfiles = []infrav1.AddonProfile{{Name: "omsagent"}, {Name: "omsagent"}} },
			want:   []string{"spec.addonProfiles[1].name: FieldValueDuplicate"}},
		"patch": {reason: "a patch must not be empty", change: func(c *object) {
			c.Spec.ASOManagedClusterPatches = []string{`{"spec":{"supportPlan":"AKSLongTermSupport"}}`}
		}},
		"lost patch": {reason: "a key that means nothing would vanish",
			change: func(c *object) { c.Spec.ASOManagedClusterPatches = []string{"{}", `{"spec":{"suportPlan":"x"}}`} },
			want:   []string{"spec.asoManagedClusterPatches[1]: FieldValueInvalid"}},
		"preview patch": {reason: "a key of the preview needs the preview", change: func(c *object) {
			c.Spec.ASOManagedClusterPatches = []string{`{"spec":{"enableNamespaceResources":true}}`}
		}, want: []string{"spec.asoManagedClusterPatches[0]: FieldValueInvalid"}},
		"preview": {reason: "a key of the preview needs the preview", change: func(c *object) {
			c.Spec.EnablePreviewFeatures, c.Spec.ASOManagedClusterPatches = new(true), []string{`{"spec":{"enableNamespaceResources":true}}`}
		}},
	}
}

func TestValidateAPIServerAccess(t *testing.T) { checkControlPlaneRows(t, accessRows()) }

func accessRows() map[string]controlPlaneRow {
	out := map[string]controlPlaneRow{}
	type profile = infrav1.APIServerAccessProfile
	const zones = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateDnsZones/"
	private := func(zone string) *profile { return &profile{EnablePrivateCluster: new(true), PrivateDNSZone: &zone} }
	zone := []string{"spec.apiServerAccessProfile.privateDNSZone: FieldValueInvalid"}
	for name, tc := range map[string]struct {
		reason  string
		profile *profile
		want    []string
		// cloud is spec.azureEnvironment.
		cloud string
	}{
		"government zone": {reason: "Azure Government has a domain of its own", cloud: infrav1.USGovernmentCloud,
			profile: private(zones + "hub.privatelink.usgovvirginia.cx.aks.containerservice.azure.us")},
		"China zone": {reason: "Azure China has a domain of its own", cloud: infrav1.ChinaCloud,
			profile: private(zones + "privatelink.chinaeast2.cx.prod.service.azk8s.cn")},
		"government zone, public cloud": {reason: "AKS writes into its own zone only",
			profile: private(zones + "privatelink.usgovvirginia.cx.aks.containerservice.azure.us"), want: zone},
		"public zone, government": {reason: "AKS writes into its own zone only", cloud: infrav1.USGovernmentCloud,
			profile: private(zones + "privatelink.usgovvirginia.azmk8s.io"), want: zone},
		"ranges": {reason: "a range or an address is let in", profile: &profile{AuthorizedIPRanges: []string{"203.0.113.0/24", "203.0.113.1"}}},
		"bad ranges": {reason: "a value that is neither an address nor a range is refused",
			profile: &profile{AuthorizedIPRanges: []string{"203.0.113.0/24", "everybody"}},
			want:    []string{"spec.apiServerAccessProfile.authorizedIPRanges[1]: FieldValueInvalid"}},
		"system":   {reason: "AKS manages the zone", profile: &profile{PrivateDNSZone: new("System")}},
		"none":     {reason: "the comparison ignores case", profile: &profile{PrivateDNSZone: new("none")}},
		"zone":     {reason: "AKS uses the user's zone", profile: private(zones + "privatelink.westeurope.azmk8s.io")},
		"private":  {reason: "AKS takes zones for integration with the network", profile: private(zones + "private.westeurope.azmk8s.io")},
		"sub-zone": {reason: "one label may precede", profile: private(zones + "my-sub.privatelink.westeurope.azmk8s.io")},
		"long label": {reason: "a label has 32 characters",
			profile: private(zones + strings.Repeat("a", 33) + ".privatelink.westeurope.azmk8s.io"), want: zone},
		"underline":  {reason: "a label has no underline", profile: private(zones + "a_b.privatelink.westeurope.azmk8s.io"), want: zone},
		"per cent":   {reason: "a label has no per cent sign", profile: private(zones + "a%b.privatelink.westeurope.azmk8s.io"), want: zone},
		"region":     {reason: "regions have letters and digits", profile: private(zones + "privatelink.west-europe.azmk8s.io"), want: zone},
		"other zone": {reason: "AKS writes into its own zone only", profile: private(zones + "example.com"), want: zone},
		"no ID":      {reason: "a zone is named by ID", profile: private("privatelink.westeurope.azmk8s.io"), want: zone},
		"public": {reason: "a public cluster has no zone",
			profile: &profile{EnablePrivateCluster: new(false), PrivateDNSZone: new(zones + "privatelink.westeurope.azmk8s.io")}, want: zone},
		"not private": {reason: "a public cluster has no zone",
			profile: &profile{PrivateDNSZone: new(zones + "privatelink.westeurope.azmk8s.io")}, want: zone},
	} {
		out[name] = controlPlaneRow{reason: tc.reason, want: tc.want,
			change: func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.APIServerAccessProfile, c.Spec.AzureEnvironment = tc.profile, tc.cloud
				c.Spec.Identity = &infrav1.Identity{Type: infrav1.ManagedControlPlaneIdentityTypeUserAssigned,
					UserAssignedIdentityResourceID: "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"}
			}}
	}
	return out
}

func TestValidateAutoScalerProfile(t *testing.T) { checkControlPlaneRows(t, autoScalerRows()) }

func autoScalerRows() map[string]controlPlaneRow {
	out := map[string]controlPlaneRow{}
	type profile = infrav1.AutoScalerProfile
	for name, tc := range map[string]struct {
		reason string
		change func(p *profile, value *string)
		good   []string
		bad    []string
	}{
		"maxEmptyBulkDelete": {"nodes are counted", func(p *profile, v *string) { p.MaxEmptyBulkDelete = v }, []string{"0", "10"},
			[]string{"-1", "x", ""}},
		"maxGracefulTerminationSec": {"seconds are counted", func(p *profile, v *string) { p.MaxGracefulTerminationSec = v }, []string{"600"},
			[]string{"-1", "600s"}},
		"okTotalUnreadyCount": {"nodes are counted", func(p *profile, v *string) { p.OkTotalUnreadyCount = v }, []string{"3"},
			[]string{"-1", "3.5"}},
		"maxNodeProvisionTime": {"minutes", func(p *profile, v *string) { p.MaxNodeProvisionTime = v }, []string{"15m"},
			[]string{"15s", "15", "1h"}},
		"maxTotalUnreadyPercentage": {"a percentage", func(p *profile, v *string) { p.MaxTotalUnreadyPercentage = v }, []string{"0", "100"},
			[]string{"101", "-1", "4.5"}},
		"newPodScaleUpDelay": {"a duration", func(p *profile, v *string) { p.NewPodScaleUpDelay = v }, []string{"0s", "1m30s"},
			[]string{"5", "soon"}},
		"scanInterval": {"seconds", func(p *profile, v *string) { p.ScanInterval = v }, []string{"10s"}, []string{"1m", "10"}},
		"scaleDownDelayAfterAdd": {"minutes", func(p *profile, v *string) { p.ScaleDownDelayAfterAdd = v }, []string{"10m"},
			[]string{"10s"}},
		"scaleDownDelayAfterDelete": {"seconds", func(p *profile, v *string) { p.ScaleDownDelayAfterDelete = v }, []string{"10s"},
			[]string{"10m"}},
		"scaleDownDelayAfterFailure": {"minutes", func(p *profile, v *string) { p.ScaleDownDelayAfterFailure = v }, []string{"3m"},
			[]string{"3s"}},
		"scaleDownUnneededTime": {"minutes", func(p *profile, v *string) { p.ScaleDownUnneededTime = v }, []string{"10m"},
			[]string{"10"}},
		"scaleDownUnreadyTime": {"minutes", func(p *profile, v *string) { p.ScaleDownUnreadyTime = v }, []string{"20m"},
			[]string{"20s"}},
		"scaleDownUtilizationThreshold": {"a share", func(p *profile, v *string) { p.ScaleDownUtilizationThreshold = v },
			[]string{"0", "0.5", "1"}, []string{"1.1", "-0.1", "half"}},
	} {
		for _, value := range slices.Concat(tc.good, tc.bad) {
			row := controlPlaneRow{reason: tc.reason, change: func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.AutoScalerProfile = &profile{}
				tc.change(c.Spec.AutoScalerProfile, &value)
			}}
			if slices.Contains(tc.bad, value) {
				row.want = []string{"spec.autoscalerProfile." + name + ": FieldValueInvalid"}
			}
			out[fmt.Sprintf("%s %q", name, value)] = row
		}
	}
	return out
}

func TestValidateManagedSecurity(t *testing.T) { checkControlPlaneRows(t, securityRows()) }

func securityRows() map[string]controlPlaneRow {
	out := map[string]controlPlaneRow{}
	type spec = infrav1.AzureManagedControlPlaneSpec
	user := func(s *spec) {
		s.Identity = &infrav1.Identity{Type: "UserAssigned", UserAssignedIdentityResourceID: managedIdentityID}
	}
	kms := func(access, vault string) func(*spec) {
		return func(s *spec) {
			k := &infrav1.AzureKeyVaultKms{Enabled: true, KeyID: "k"}
			if access != "" {
				k.KeyVaultNetworkAccess = new(infrav1.KeyVaultNetworkAccessTypes(access))
			}
			if vault != "" {
				k.KeyVaultResourceID = &vault
			}
			s.SecurityProfile = &infrav1.ManagedClusterSecurityProfile{AzureKeyVaultKms: k}
		}
	}
	workload := func(enabled bool) func(*spec) {
		return func(s *spec) {
			s.SecurityProfile = &infrav1.ManagedClusterSecurityProfile{
				WorkloadIdentity: &infrav1.ManagedClusterSecurityProfileWorkloadIdentity{Enabled: enabled}}
		}
	}
	for name, tc := range map[string]struct {
		reason  string
		changes []func(*spec)
		want    []string
	}{
		"KMS": {"an identity of the user reads the key", []func(*spec){user, kms("", "")}, nil},
		"KMS without identity": {"the key is read before the system's identity exists", []func(*spec){kms("Public", "")},
			[]string{"spec.securityProfile.azureKeyVaultKms: FieldValueForbidden"}},
		"private KMS": {"a private vault is named", []func(*spec){user, kms("Private", "/subscriptions/s/x")}, nil},
		"private nowhere": {"a private vault is named", []func(*spec){user, kms("Private", "")},
			[]string{"spec.securityProfile.azureKeyVaultKms.keyVaultResourceID: FieldValueRequired"}},
		"public named": {"a public vault is found by the key", []func(*spec){user, kms("Public", "/subscriptions/s/x")},
			[]string{"spec.securityProfile.azureKeyVaultKms.keyVaultResourceID: FieldValueForbidden"}},
		"other access": {"there are two ways", []func(*spec){user, kms("Both", "")},
			[]string{"spec.securityProfile.azureKeyVaultKms.keyVaultNetworkAccess: FieldValueNotSupported"}},
		"workload identity": {"tokens have an issuer", []func(*spec){workload(true), func(s *spec) {
			s.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)}
		}}, nil},
		"no issuer": {"tokens have an issuer", []func(*spec){workload(true)},
			[]string{"spec.securityProfile.workloadIdentity: FieldValueForbidden"}},
		"no issuer, off": {"the field is for clusters with an issuer", []func(*spec){workload(false)},
			[]string{"spec.securityProfile.workloadIdentity: FieldValueForbidden"}},
	} {
		out[name] = controlPlaneRow{reason: tc.reason, want: tc.want, change: func(c *infrav1.AzureManagedControlPlane) {
			for _, change := range tc.changes {
				change(&c.Spec)
			}
		}}
	}
	return out
}

func TestValidateExtensions(t *testing.T) { checkControlPlaneRows(t, extensionRows()) }

func extensionRows() map[string]controlPlaneRow {
	out := map[string]controlPlaneRow{}
	type extension = infrav1.AKSExtension
	scope := func(s infrav1.ExtensionScope) []extension { return []extension{{Name: "e", Scope: &s}} }
	for name, tc := range map[string]struct {
		reason     string
		extensions []extension
		want       []string
	}{
		"pinned": {"a version can be pinned where no upgrade channel is set",
			[]extension{{Name: "e", Version: new("1.0.0"), AutoUpgradeMinorVersion: new(false)}}, nil},
		"pinned, upgraded": {"Azure upgrades minor versions by default", []extension{{Name: "e", Version: new("1.0.0")}},
			[]string{"spec.extensions[0].version: FieldValueForbidden"}},
		"pinned, upgraded automatically": {"a pinned version contradicts automatic upgrades",
			[]extension{{Name: "e", Version: new("1.0.0"), AutoUpgradeMinorVersion: new(true)}},
			[]string{"spec.extensions[0].version: FieldValueForbidden"}},
		"train": {"a train without upgrades does no harm",
			[]extension{{Name: "e", ReleaseTrain: new("Stable"), AutoUpgradeMinorVersion: new(false)}}, nil},
		"twice": {"extensions are known by name", []extension{{Name: "e"}, {Name: "e"}},
			[]string{"spec.extensions[1].name: FieldValueDuplicate"}},
		"cluster": {"an extension for the cluster lives somewhere",
			scope(infrav1.ExtensionScope{ScopeType: "Cluster", ReleaseNamespace: "n"}), nil},
		"cluster nowhere": {"an extension for the cluster lives somewhere", scope(infrav1.ExtensionScope{ScopeType: "Cluster"}),
			[]string{"spec.extensions[0].scope.releaseNamespace: FieldValueRequired"}},
		"cluster target": {"an extension for the cluster has no target",
			scope(infrav1.ExtensionScope{ScopeType: "Cluster", ReleaseNamespace: "n", TargetNamespace: "t"}),
			[]string{"spec.extensions[0].scope.targetNamespace: FieldValueForbidden"}},
		"namespace": {"an extension for a namespace names it",
			scope(infrav1.ExtensionScope{ScopeType: "Namespace", TargetNamespace: "t"}), nil},
		"namespace nowhere": {"an extension for a namespace names it, and only it",
			scope(infrav1.ExtensionScope{ScopeType: "Namespace", ReleaseNamespace: "n"}),
			[]string{"spec.extensions[0].scope.targetNamespace: FieldValueRequired",
				"spec.extensions[0].scope.releaseNamespace: FieldValueForbidden"}},
	} {
		out[name] = controlPlaneRow{reason: tc.reason, want: tc.want,
			change: func(c *infrav1.AzureManagedControlPlane) { c.Spec.Extensions = tc.extensions }}
	}
	return out
}
