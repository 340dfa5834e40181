package aksengine

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// addIdentity adds the AzureClusterIdentity of the service principal.
func (c *conversion) addIdentity() {
	profile := c.properties.get("servicePrincipalProfile")
	const action = "Create the AzureClusterIdentity, see docs/book/identities.md."
	secret := profile.get("secret")
	reference := profile.get("keyvaultSecretRef")
	switch client := profile.get("clientId"); {
	case client.isEmpty():
	case c.kube.usesManagedIdentity:
		client.replace("Machines have a managed identity, so that the cluster needs no service principal.")
		secret.replace("Machines have a managed identity, so that the cluster needs no service principal.")
		reference.replace("Machines have a managed identity, so that the cluster needs no service principal.")
	case c.TenantID == "":
		client.report("An AzureClusterIdentity needs the tenant, which the model does not have.", "Set --tenant-id. Or: "+action)
	default:
		identity := &infrav1.AzureClusterIdentity{TypeMeta: newInfraType("AzureClusterIdentity"), ObjectMeta: c.newMeta(c.Identity)}
		identity.Spec = infrav1.AzureClusterIdentitySpec{
			Type: infrav1.ServicePrincipal, TenantID: c.TenantID, AllowedNamespaces: &infrav1.AllowedNamespaces{},
			ClientID:     client.carryText("AzureClusterIdentity " + c.Identity + ": spec.clientID"),
			ClientSecret: corev1.SecretReference{Name: c.Identity + "-secret", Namespace: cmp.Or(c.Namespace, "default")},
		}
		c.add(identity)
		c.before("Create the Secret %s with the key clientSecret: the secret of the service principal. The service principal also needs the rights of docs/book/azure-permissions.md.",
			identity.Spec.ClientSecret.Name)
		const where = "A secret is not written into manifests. The AzureClusterIdentity refers to a Secret."
		create := "Create the Secret " + identity.Spec.ClientSecret.Name + " with the key clientSecret."
		secret.report(where, create)
		reference.report("The secret is in a key vault. "+where, create)
		return
	}
	c.before("Create the AzureClusterIdentity %s: docs/book/identities.md.", c.Identity)
	for _, v := range []*value{secret, reference} {
		if v != nil && !c.kube.usesManagedIdentity {
			v.report("A secret is not written into manifests.", action)
		}
	}
}

// addCluster adds the Cluster and the AzureCluster.
func (c *conversion) addCluster() {
	out := &infrav1.AzureCluster{TypeMeta: newInfraType("AzureCluster"), ObjectMeta: c.newMeta(c.Name)}
	out.Spec.ControlPlaneEnabled = true
	out.Spec.Location, out.Spec.SubscriptionID, out.Spec.ResourceGroup = c.Location, c.SubscriptionID, c.ResourceGroup
	out.Spec.IdentityRef = &corev1.ObjectReference{APIVersion: infrav1.GroupVersion.String(), Kind: "AzureClusterIdentity",
		Name: c.Identity}
	n := &c.network
	spec := &out.Spec.NetworkSpec
	spec.Vnet.Name, spec.Subnets = c.Name+"-vnet", n.subnets()
	if n.brought != "" {
		spec.Vnet.Name, spec.Vnet.ResourceGroup, spec.Vnet.CIDRBlocks = n.brought.Name(), n.brought.ResourceGroup(), n.vnetRanges
		c.before("Keep the virtual network %s and its subnets. The identity needs the right to use them.", n.brought.Name())
		if n.plugin == pluginKubenet {
			c.before("Attach a route table to the existing subnets, and set its name in networkSpec.subnets[].routeTable.name: docs/book/selfmanaged/coming-from-aks-engine.md.")
		}
	}
	one := func() *infrav1.LoadBalancerSpec { return &infrav1.LoadBalancerSpec{FrontendIPsCount: new(int32(1))} }
	if n.brought != "" || n.isPrivate {
		spec.NodeOutboundLB = one()
	}
	if n.isPrivate {
		spec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
		spec.ControlPlaneOutboundLB = one()
		out.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{}
		c.fillPrivateAddress(spec.APIServerLB)
	}
	c.fillOutbound(spec)
	c.fillZones(out)
	c.fillCloudProvider(out)

	cluster := &clusterv1.Cluster{TypeMeta: newType(coreGroup, "Cluster"), ObjectMeta: c.newMeta(c.Name)}
	cluster.Labels = n.labels
	if n.pods != "" {
		cluster.Spec.ClusterNetwork.Pods.CIDRBlocks = []string{n.pods}
	}
	if n.services != "" {
		cluster.Spec.ClusterNetwork.Services.CIDRBlocks = []string{n.services}
	}
	cluster.Spec.InfrastructureRef = newReference(infrav1.GroupVersion.Group, "AzureCluster", c.Name)
	cluster.Spec.ControlPlaneRef = newReference(controlPlaneGroup, "KubeadmControlPlane", c.Name+"-control-plane")
	c.add(out, cluster)
}

// fillPrivateAddress sets the address of the internal load balancer where the default is not in the subnet.
func (c *conversion) fillPrivateAddress(lb *infrav1.LoadBalancerSpec) {
	var address string
	switch first := c.properties.get("masterProfile", "firstConsecutiveStaticIP"); {
	case c.network.brought != "":
		if _, err := netip.ParseAddr(first.text()); err != nil {
			first.report("It is not an IP address.",
				"Set networkSpec.apiServerLB.frontendIPs[0].privateIP of the AzureCluster to a free address of the subnet.")
			c.before("Set networkSpec.apiServerLB.frontendIPs[0] of the AzureCluster to a free address of the control-plane subnet.")
			return
		}
		address = first.carryText(c.azureCluster("networkSpec.apiServerLB.frontendIPs[0].privateIP"))
	case c.network.setsRanges:
		address = controlPlaneLB
	default:
		return
	}
	lb.FrontendIPs = []infrav1.FrontendIP{{Name: "api", FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: address}}}
}

// fillOutbound sets the load balancer for outbound connections of nodes.
func (c *conversion) fillOutbound(spec *infrav1.NetworkSpec) {
	config := c.properties.get("orchestratorProfile", "kubernetesConfig")
	timeout, count := config.get("outboundRuleIdleTimeoutInMinutes"), config.get("loadBalancerOutboundIPs")
	if spec.NodeOutboundLB == nil {
		const reason = "Nodes of a network that the cluster owns use a NAT gateway for outbound connections."
		timeout.replace(reason)
		count.replace(reason)
		return
	}
	if minutes := timeout.carryNumber(c.azureCluster("networkSpec.nodeOutboundLB.idleTimeoutInMinutes"), 4, 30); minutes != nil {
		spec.NodeOutboundLB.IdleTimeoutInMinutes = minutes
	}
	if addresses := count.carryNumber(c.azureCluster("networkSpec.nodeOutboundLB.frontendIPsCount"), 1, 16); addresses != nil {
		spec.NodeOutboundLB.FrontendIPsCount = addresses
	}
}

// fillZones excludes zones from the control plane that the masters do not use.
func (c *conversion) fillZones(out *infrav1.AzureCluster) {
	zones := c.properties.get("masterProfile", "availabilityZones")
	if zones.isEmpty() {
		return
	}
	all := []string{"1", "2", "3"}
	var used []string
	for _, zone := range zones.list() {
		if name := zone.carryChoice(c.azureCluster("failureDomains"), all...); name != "" {
			zone.replace("The control plane uses all zones that spec.failureDomains of the AzureCluster does not exclude.")
			used = append(used, name)
		}
	}
	for _, zone := range all {
		if len(used) > 0 && !slices.Contains(used, zone) {
			if out.Spec.FailureDomains == nil {
				out.Spec.FailureDomains = map[string]infrav1.FailureDomainSpec{}
			}
			out.Spec.FailureDomains[zone] = infrav1.FailureDomainSpec{ControlPlane: false}
		}
	}
}

// fillCloudProvider carries over retries and limits of requests of cloud-provider-azure.
func (c *conversion) fillCloudProvider(out *infrav1.AzureCluster) {
	config := c.properties.get("orchestratorProfile", "kubernetesConfig")
	const backOffs, limits = "cloudProviderConfigOverrides.backOffs.", "cloudProviderConfigOverrides.rateLimits[0].config."
	number := func(place, key string) int {
		if n := config.get(key).carryNumber(c.azureCluster(place+key), 0, 1<<30); n != nil {
			return int(*n)
		}
		return 0
	}
	quantity := func(place, key string) *resource.Quantity {
		v := config.get(key)
		if v.isEmpty() {
			return nil
		}
		text, isNumber := v.scalar.(interface{ String() string })
		if isNumber && len(text.String()) < 20 {
			if parsed, err := resource.ParseQuantity(text.String()); err == nil {
				v.carry(c.azureCluster(place + key))
				return &parsed
			}
		}
		v.report("The value is not a number.", "Correct the model.")
		return nil
	}
	overrides := &infrav1.CloudProviderConfigOverrides{}
	if on := config.get("cloudProviderBackoff").carryBool(c.azureCluster(backOffs + "cloudProviderBackoff")); on != nil && *on {
		overrides.BackOffs = infrav1.BackOffConfig{
			CloudProviderBackoff: true, CloudProviderBackoffRetries: number(backOffs, "cloudProviderBackoffRetries"),
			CloudProviderBackoffDuration: number(backOffs, "cloudProviderBackoffDuration"),
			CloudProviderBackoffExponent: quantity(backOffs, "cloudProviderBackoffExponent"),
			CloudProviderBackoffJitter:   quantity(backOffs, "cloudProviderBackoffJitter"),
		}
	}
	if on := config.get("cloudProviderRateLimit").carryBool(c.azureCluster(limits + "cloudProviderRateLimit")); on != nil && *on {
		limit := infrav1.RateLimitConfig{
			CloudProviderRateLimit: true, CloudProviderRateLimitQPS: quantity(limits, "cloudProviderRateLimitQPS"),
			CloudProviderRateLimitBucket:      number(limits, "cloudProviderRateLimitBucket"),
			CloudProviderRateLimitQPSWrite:    quantity(limits, "cloudProviderRateLimitQPSWrite"),
			CloudProviderRateLimitBucketWrite: number(limits, "cloudProviderRateLimitBucketWrite"),
		}
		overrides.RateLimits = []infrav1.RateLimitSpec{{Name: "defaultRateLimit", Config: limit}}
	}
	if overrides.BackOffs.CloudProviderBackoff || len(overrides.RateLimits) > 0 {
		out.Spec.CloudProviderConfigOverrides = overrides
	}
}

// readTags returns custom tags.
func readTags(v *value, target string) infrav1.Tags {
	if v.isEmpty() {
		return nil
	}
	out := infrav1.Tags{}
	for _, key := range v.keys {
		tag := v.fields[key]
		if tag.isEmpty() {
			continue
		}
		if text := tag.carryText(target + "." + tag.key); text != "" {
			out[tag.key] = text
		}
	}
	return out
}
