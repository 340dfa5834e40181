package adoption

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// WriteAzureManaged writes the objects of AzureManaged kinds. Values without a field become patches. Values that patches reject are
// omitted.
func WriteAzureManaged(f ObservedCluster, o Options) (ClusterObjects, []OmittedValue, error) {
	if err := f.checkAdoptable(o); err != nil {
		return ClusterObjects{}, nil, err
	}
	if name := f.Cluster.ID.Name(); len(validation.IsDNS1123Subdomain(name)) > 0 {
		return ClusterObjects{}, nil,
			fmt.Errorf("%q is not a valid name of an AzureManagedControlPlane, which must have the name of the AKS cluster. Use --as azureasomanaged",
				name)
	}
	var shown clusterResource
	if err := json.Unmarshal(f.Cluster.Body, &shown); err != nil {
		return ClusterObjects{}, nil, fmt.Errorf("%s: %w", f.Cluster.ID, err)
	}
	n := objectNames{namespace: o.Namespace, cluster: o.clusterName(f)}
	m := ClusterObjects{Cluster: n.newCluster("AzureManagedCluster", "AzureManagedControlPlane", f.Cluster.ID.Name())}
	m.Infrastructure = &infrav1.AzureManagedCluster{TypeMeta: newTypeMeta("AzureManagedCluster"), ObjectMeta: n.newMeta(n.cluster)}
	m.ControlPlane = &infrav1.AzureManagedControlPlane{TypeMeta: newTypeMeta("AzureManagedControlPlane"),
		ObjectMeta: n.newMeta(f.Cluster.ID.Name())}
	network := shown.Properties.NetworkProfile
	if network.ServiceCIDR != "" {
		m.Cluster.Spec.ClusterNetwork.Services.CIDRBlocks = []string{network.ServiceCIDR}
	}
	if network.PodCIDR != "" {
		m.Cluster.Spec.ClusterNetwork.Pods.CIDRBlocks = []string{network.PodCIDR}
	}
	spec := &m.ControlPlane.Spec
	spec.IdentityRef = &corev1.ObjectReference{APIVersion: infrav1.GroupVersion.String(), Kind: "AzureClusterIdentity", Name: o.Identity}
	fillControlPlane(f, shown, spec)
	if err := fillVirtualNetwork(f, spec); err != nil {
		return ClusterObjects{}, nil, err
	}
	for _, resource := range f.Pools {
		pool, err := n.buildPool(spec, resource)
		if err != nil {
			return ClusterObjects{}, nil, err
		}
		m.Pools = append(m.Pools, pool)
	}
	lefts := fillExtensions(f, spec)
	more, err := addPatches(f, m)
	return m, append(lefts, more...), err
}

// fillControlPlane sets the fields about the cluster itself.
func fillControlPlane(f ObservedCluster, shown clusterResource, spec *infrav1.AzureManagedControlPlaneSpec) {
	p := shown.Properties
	spec.SubscriptionID, spec.ResourceGroupName, spec.Location = f.Cluster.ID.Subscription(), f.Cluster.ID.ResourceGroup(), shown.Location
	spec.Version = "v" + strings.TrimPrefix(p.CurrentKubernetesVersion, "v")
	spec.NodeResourceGroupName = p.NodeResourceGroup
	if p.DNSPrefix != "" {
		spec.DNSPrefix = &p.DNSPrefix
	}
	if keys := p.LinuxProfile.SSH.PublicKeys; len(keys) > 0 {
		spec.SSHPublicKey = new(base64.StdEncoding.EncodeToString([]byte(keys[0].KeyData)))
	}
	if tags := userTags(f.Cluster.Body); len(tags) > 0 {
		spec.AdditionalTags = tags
	}
	if tier := matchEnum(shown.SKU.Tier, infrav1.FreeManagedControlPlaneTier, infrav1.StandardManagedControlPlaneTier); tier != nil {
		spec.SKU = &infrav1.AKSSku{Tier: *tier}
	}
	if strings.EqualFold(shown.Identity.Type, string(infrav1.ManagedControlPlaneIdentityTypeUserAssigned)) {
		for id := range shown.Identity.UserAssignedIdentities {
			spec.Identity = &infrav1.Identity{Type: infrav1.ManagedControlPlaneIdentityTypeUserAssigned, UserAssignedIdentityResourceID: id}
		}
	}
	spec.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(p.OIDCIssuerProfile.Enabled)}
	if channel := matchEnum(p.AutoUpgradeProfile.UpgradeChannel, infrav1.UpgradeChannelNodeImage, infrav1.UpgradeChannelNone,
		infrav1.UpgradeChannelPatch, infrav1.UpgradeChannelRapid, infrav1.UpgradeChannelStable); channel != nil {
		spec.AutoUpgradeProfile = &infrav1.ManagedClusterAutoUpgradeProfile{UpgradeChannel: channel}
	}
	if aad := p.AADProfile; aad != nil && aad.Managed && len(aad.AdminGroupObjectIDs) > 0 {
		spec.AADProfile = &infrav1.AADProfile{Managed: true, AdminGroupObjectIDs: aad.AdminGroupObjectIDs}
		spec.DisableLocalAccounts = trueOrNil(p.DisableLocalAccounts)
	}
	for _, name := range slices.Sorted(maps.Keys(p.AddonProfiles)) {
		if addon := p.AddonProfiles[name]; addon.Enabled {
			spec.AddonProfiles = append(spec.AddonProfiles, infrav1.AddonProfile{Name: name, Enabled: true, Config: addon.Config})
		}
	}
	access := p.APIServerAccessProfile
	if len(access.AuthorizedIPRanges) > 0 || access.EnablePrivateCluster {
		spec.APIServerAccessProfile = &infrav1.APIServerAccessProfile{AuthorizedIPRanges: access.AuthorizedIPRanges,
			EnablePrivateCluster: trueOrNil(access.EnablePrivateCluster)}
		if access.EnablePrivateCluster {
			spec.APIServerAccessProfile.EnablePrivateClusterPublicFQDN = new(access.EnablePrivateClusterPublicFQDN)
			spec.APIServerAccessProfile.PrivateDNSZone = toPrivateDNSZone(access.PrivateDNSZone)
		}
	}
	spec.SecurityProfile = buildSecurityProfile(p.SecurityProfile)
	fillNetwork(p.NetworkProfile, spec)
}

// buildSecurityProfile returns the enabled parts of the profile. AKS shows some disabled ones without values that the fields
// require.
func buildSecurityProfile(shown *infrav1.ManagedClusterSecurityProfile) *infrav1.ManagedClusterSecurityProfile {
	if shown == nil {
		return nil
	}
	out := *shown
	if kms := out.AzureKeyVaultKms; kms != nil && !kms.Enabled {
		out.AzureKeyVaultKms = nil
	}
	if defender := out.Defender; defender != nil && (!defender.SecurityMonitoring.Enabled || defender.LogAnalyticsWorkspaceResourceID == "") {
		out.Defender = nil
	}
	if cleaner := out.ImageCleaner; cleaner != nil && !cleaner.Enabled {
		out.ImageCleaner = nil
	}
	if workload := out.WorkloadIdentity; workload != nil && !workload.Enabled {
		out.WorkloadIdentity = nil
	}
	if out == (infrav1.ManagedClusterSecurityProfile{}) {
		return nil
	}
	return &out
}

func toPrivateDNSZone(name string) *string {
	if word := matchEnum(name, "System", "None"); word != nil || name == "" {
		return word
	}
	return &name
}

func fillNetwork(network networkProfile, spec *infrav1.AzureManagedControlPlaneSpec) {
	spec.NetworkPlugin = matchEnum(network.NetworkPlugin, infrav1.AzureNetworkPlugin, infrav1.KubenetNetworkPlugin, infrav1.NoNetworkPlugin)
	spec.NetworkPluginMode = matchEnum(network.NetworkPluginMode, infrav1.NetworkPluginModeOverlay)
	spec.NetworkPolicy = matchEnum(network.NetworkPolicy, "azure", "calico", infrav1.CiliumNetworkPolicy)
	spec.NetworkDataplane = matchEnum(network.NetworkDataplane, infrav1.NetworkDataplaneTypeAzure, infrav1.NetworkDataplaneTypeCilium)
	spec.OutboundType = matchEnum(network.OutboundType, infrav1.ManagedControlPlaneOutboundTypeLoadBalancer,
		infrav1.ManagedControlPlaneOutboundTypeManagedNATGateway,
		infrav1.ManagedControlPlaneOutboundTypeUserAssignedNATGateway, infrav1.ManagedControlPlaneOutboundTypeUserDefinedRouting)
	spec.LoadBalancerSKU = matchEnum(network.LoadBalancerSKU, infrav1.ManagedLoadBalancerSKUStandard, infrav1.ManagedLoadBalancerSKUBasic)
	if network.DNSServiceIP != "" && network.ServiceCIDR != "" {
		spec.DNSServiceIP = &network.DNSServiceIP
	}
	balancer := network.LoadBalancerProfile
	if balancer == nil {
		return
	}
	profile := &infrav1.LoadBalancerProfile{AllocatedOutboundPorts: balancer.AllocatedOutboundPorts,
		IdleTimeoutInMinutes: balancer.IdleTimeoutInMinutes}
	for _, ip := range balancer.OutboundIPs.PublicIPs {
		profile.OutboundIPs = append(profile.OutboundIPs, ip.ID)
	}
	for _, prefix := range balancer.OutboundIPPrefixes.PublicIPPrefixes {
		profile.OutboundIPPrefixes = append(profile.OutboundIPPrefixes, prefix.ID)
	}
	if managed := balancer.ManagedOutboundIPs; managed != nil && managed.Count > 0 {
		profile.ManagedOutboundIPs = &managed.Count
	}
	spec.LoadBalancerProfile = profile
}

// fillVirtualNetwork sets the network of the nodes: the subnet of the first pool. The fields stay empty for the network of AKS.
func fillVirtualNetwork(f ObservedCluster, spec *infrav1.AzureManagedControlPlaneSpec) error {
	first, err := readPool(f.Pools[0])
	if err != nil || first.VnetSubnetID == "" {
		return err
	}
	subnet, err := arm.ParseID(first.VnetSubnetID)
	if err != nil {
		return fmt.Errorf("%s: vnetSubnetID: %w", f.Pools[0].ID, err)
	}
	if !strings.EqualFold(subnet.Subscription(), f.Cluster.ID.Subscription()) {
		return fmt.Errorf("the network of the nodes is in subscription %s. AzureManaged kinds only support networks in the cluster's subscription. Use --as azureasomanaged", subnet.Subscription())
	}
	spec.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{ResourceGroup: subnet.ResourceGroup(), Name: subnet.Parent().Name()}
	if prefixes := f.Network.AddressPrefixes; len(prefixes) > 0 {
		spec.VirtualNetwork.CIDRBlock = prefixes[0]
	}
	spec.VirtualNetwork.Subnet.Name = subnet.Name()
	if prefixes := f.Network.Subnets[strings.ToLower(subnet.Name())]; len(prefixes) > 0 {
		spec.VirtualNetwork.Subnet.CIDRBlock = prefixes[0]
	}
	return nil
}

// fillExtensions sets the fields about extensions, and returns the related resources that have no field.
func fillExtensions(f ObservedCluster, spec *infrav1.AzureManagedControlPlaneSpec) []OmittedValue {
	var out []OmittedValue
	for _, resource := range f.Related {
		if !strings.EqualFold(resource.ID.Type(), types.ClusterExtension) {
			out = append(out, newOmittedValue(resource.ID, "", nil,
				"AzureManaged kinds have no field for it. It stays as it is. For a resource manifest of it, use --as azureasomanaged."))
			continue
		}
		extension, ok := buildExtension(resource)
		if !ok {
			out = append(out, newOmittedValue(resource.ID, "", nil, "is part of another extension, so it stays as it is"))
			continue
		}
		spec.Extensions = append(spec.Extensions, extension)
	}
	return out
}

// buildExtension returns the entry of spec.extensions for an extension.
func buildExtension(r Resource) (infrav1.AKSExtension, bool) {
	var shown struct {
		Identity   struct{ Type string }  `json:"identity"`
		Plan       *infrav1.ExtensionPlan `json:"plan"`
		Properties struct {
			ExtensionType           string            `json:"extensionType"`
			AutoUpgradeMinorVersion *bool             `json:"autoUpgradeMinorVersion"`
			ReleaseTrain            string            `json:"releaseTrain"`
			Version                 string            `json:"version"`
			ConfigurationSettings   map[string]string `json:"configurationSettings"`
			AKSAssignedIdentity     struct{ Type string }
			Scope                   struct {
				Cluster   *struct{ ReleaseNamespace string }
				Namespace *struct{ TargetNamespace string }
			}
		} `json:"properties"`
	}
	if json.Unmarshal(r.Body, &shown) != nil || shown.Properties.ExtensionType == "" {
		return infrav1.AKSExtension{}, false
	}
	p := shown.Properties
	out := infrav1.AKSExtension{
		Name: r.ID.Name(), ExtensionType: &p.ExtensionType, AutoUpgradeMinorVersion: p.AutoUpgradeMinorVersion,
		ConfigurationSettings: p.ConfigurationSettings, Plan: shown.Plan,
		Identity:                infrav1.ExtensionIdentity(shown.Identity.Type),
		AKSAssignedIdentityType: infrav1.AKSAssignedIdentity(p.AKSAssignedIdentity.Type),
	}
	if p.AutoUpgradeMinorVersion != nil && !*p.AutoUpgradeMinorVersion && p.Version != "" {
		out.Version = &p.Version
	} else if p.ReleaseTrain != "" {
		out.ReleaseTrain = &p.ReleaseTrain
	}
	switch {
	case p.Scope.Cluster != nil:
		out.Scope = &infrav1.ExtensionScope{ScopeType: infrav1.ExtensionScopeCluster, ReleaseNamespace: p.Scope.Cluster.ReleaseNamespace}
	case p.Scope.Namespace != nil:
		out.Scope = &infrav1.ExtensionScope{ScopeType: infrav1.ExtensionScopeNamespace, TargetNamespace: p.Scope.Namespace.TargetNamespace}
	}
	return out, true
}
