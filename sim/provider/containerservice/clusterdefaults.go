package containerservice

import (
	"fmt"
	"net/netip"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// clusterDefaults fills in AKS's defaults, as recorded, and the values that only AKS knows.
func clusterDefaults(c *provider.Call, d *provider.Draft) error {
	n, p := d.New, "properties."
	id, _ := store.ParseID(d.ID)
	n["kind"] = "Base"
	body.Default(n, "sku.name", "Base")
	body.Default(n, "sku.tier", map[bool]string{true: "Standard", false: "Free"}[strings.EqualFold(body.String(n, "sku.name"), "Automatic")])
	if strings.EqualFold(body.String(n, "sku.tier"), "Paid") {
		body.Set(n, "sku.tier", "Standard")
	}
	if body.String(n, p+"fqdnSubdomain") == "" {
		body.Default(n, p+"dnsPrefix", strings.Trim(fmt.Sprintf("%.10s-%.16s-%.6s", d.Name, id.ResourceGroup, id.Subscription), "-"))
	}
	body.Default(n, p+"servicePrincipalProfile.clientId", "msi")
	body.Delete(n, p+"servicePrincipalProfile.secret")
	body.Default(n, p+"nodeResourceGroup", fmt.Sprintf("%.80s", "MC_"+id.ResourceGroup+"_"+d.Name+"_"+d.Location))
	body.Default(n, p+"enableRBAC", true)
	body.Default(n, p+"supportPlan", "KubernetesOfficial")
	body.Set(n, p+"maxAgentPools", 100)
	body.Default(n, p+"powerState.code", "Running")
	body.Default(n, p+"autoUpgradeProfile.nodeOSUpgradeChannel", "NodeImage")
	body.Default(n, p+"securityProfile", body.Object{})
	for _, driver := range []string{"diskCSIDriver", "fileCSIDriver", "snapshotController"} {
		body.Default(n, p+"storageProfile."+driver+".enabled", true)
	}
	body.Default(n, p+"oidcIssuerProfile.enabled", false)
	body.Default(n, p+"workloadAutoScalerProfile", body.Object{})
	body.Default(n, p+"metricsProfile.costAnalysis.enabled", false)
	body.Default(n, p+"nodeProvisioningProfile.mode", "Manual")
	body.Default(n, p+"nodeProvisioningProfile.defaultNodePools", "Auto")
	body.Default(n, p+"bootstrapProfile.artifactSource", "Direct")
	if body.Child(n, p+"aadProfile") != nil {
		body.Default(n, p+"aadProfile.tenantID", c.Tenant)
		body.Default(n, p+"aadProfile.managed", true)
		body.Default(n, p+"aadProfile.enableAzureRBAC", false)
	}
	if body.Child(n, p+"windowsProfile") != nil {
		body.Default(n, p+"windowsProfile.adminUsername", "azureuser")
		body.Default(n, p+"windowsProfile.enableCSIProxy", true)
		body.Delete(n, p+"windowsProfile.adminPassword")
	}
	if body.Child(n, p+"linuxProfile") != nil {
		body.Default(n, p+"linuxProfile.adminUsername", "azureuser")
	}
	for _, addon := range body.Child(n, p+"addonProfiles") {
		if a, ok := addon.(body.Object); ok && a["config"] == nil {
			a["config"] = nil // shown as null
		}
	}
	if err := outboundKind(d); err != nil {
		return err
	}
	networkDefaults(n)
	windowsDefaults(d)
	if err := keepIdentity(c, d); err != nil {
		return err
	}
	accessDefaults(c, d)
	return createAuthority(c, d)
}

// outboundKind lets the kind of outbound addresses that a PUT names take the place of the one there was.
func outboundKind(d *provider.Draft) error {
	lb := "properties.networkProfile.loadBalancerProfile."
	kinds, sent := []string{"managedOutboundIPs", "outboundIPs", "outboundIPPrefixes"}, ""
	for _, k := range kinds {
		if body.Child(d.Sent, lb+k) == nil {
			continue
		}
		if sent != "" {
			return invalidParameter("networkProfile.loadBalancerProfile", "Only one of %s can be set, not %s and %s", strings.Join(kinds, ", "),
				sent, k)
		}
		sent = k
	}
	for _, k := range kinds {
		if sent != "" && k != sent {
			body.Delete(d.New, lb+k)
		}
	}
	return nil
}

// windowsDefaults keeps the profile that Windows nodes have or would have. Recordings of 2023-02-02-preview, 2023-10-01, 2023-11-02-preview and
// 2024-04-02-preview show one of each new cluster whose pods have addresses of the network itself, also if none was requested, and of no other
// cluster. Newer api-versions are recorded with overlay networks only.
func windowsDefaults(d *provider.Draft) {
	const profile = "properties.windowsProfile"
	if body.Child(d.New, profile) != nil {
		return
	}
	if had := body.Child(d.Old, profile); had != nil {
		body.Set(d.New, profile, body.Clone(had))
		return
	}
	if np := "properties.networkProfile."; d.Old == nil && body.String(d.New, np+"networkPlugin") == "azure" &&
		body.String(d.New, np+"networkPluginMode") == "" {
		body.Set(d.New, profile, body.Object{"adminUsername": "azureuser", "enableCSIProxy": true})
	}
}

func networkDefaults(n body.Object) {
	np := "properties.networkProfile."
	if body.String(n, np+"networkPlugin") == "" {
		body.Set(n, np+"networkPlugin", "azure")
		body.Default(n, np+"networkPluginMode", "overlay")
	}
	body.Default(n, np+"networkPolicy", "none")
	body.Default(n, np+"networkDataplane", "azure")
	body.Default(n, np+"loadBalancerSku", "standard")
	body.Set(n, np+"loadBalancerSku", strings.ToLower(body.String(n, np+"loadBalancerSku")))
	body.Default(n, np+"outboundType", "loadBalancer")
	plugin, mode := body.String(n, np+"networkPlugin"), body.String(n, np+"networkPluginMode")
	if plugin == "kubenet" || strings.EqualFold(mode, "overlay") {
		body.Default(n, np+"podCidr", "10.244.0.0/16")
	}
	body.Default(n, np+"serviceCidr", "10.0.0.0/16")
	if net, err := netip.ParsePrefix(body.String(n, np+"serviceCidr")); err == nil {
		a := net.Masked().Addr()
		for range 10 {
			a = a.Next()
		}
		body.Default(n, np+"dnsServiceIP", a.String())
	}
	for one, all := range map[string]string{"podCidr": "podCidrs", "serviceCidr": "serviceCidrs"} {
		if s := body.String(n, np+one); s != "" {
			if list := body.Strings(n, np+all); len(list) < 2 {
				body.Set(n, np+all, []string{s})
			}
		}
	}
	body.Default(n, np+"ipFamilies", []string{"IPv4"})
	switch body.String(n, np+"outboundType") {
	case "loadBalancer":
		lb := np + "loadBalancerProfile."
		if body.Child(n, lb+"outboundIPs") == nil && body.Child(n, lb+"outboundIPPrefixes") == nil {
			body.Default(n, lb+"managedOutboundIPs.count", 1)
		} else {
			body.Delete(n, lb+"managedOutboundIPs")
		}
		body.Default(n, lb+"backendPoolType", "nodeIPConfiguration")
	case "managedNATGateway":
		nat := np + "natGatewayProfile."
		body.Default(n, nat+"managedOutboundIPProfile.count", 1)
		body.Default(n, nat+"idleTimeoutInMinutes", 4)
	}
}

// keepIdentity keeps a cluster's identity; without one AKS would need a service principal.
func keepIdentity(_ *provider.Call, d *provider.Draft) error {
	kind := body.String(d.New, "identity.type")
	if kind == "" && body.String(d.New, "properties.servicePrincipalProfile.clientId") == "msi" {
		return invalidParameter("identity",
			"Provisioning of a cluster needs an identity of type SystemAssigned or UserAssigned, or a service principal")
	}
	users := body.Child(d.New, "identity.userAssignedIdentities")
	if strings.EqualFold(kind, "UserAssigned") && len(users) != 1 {
		return invalidParameter("identity.userAssignedIdentities",
			"Exactly one user assigned identity is needed when identity.type is UserAssigned, there are %d", len(users))
	}
	return nil
}

// accessDefaults gives the API server its names.
func accessDefaults(c *provider.Call, d *provider.Draft) {
	n, p := d.New, "properties."
	label := body.String(n, p+"dnsPrefix")
	if label == "" {
		label = body.String(n, p+"fqdnSubdomain")
	}
	if body.String(d.Secret, "unique") == "" {
		const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
		var b strings.Builder
		for range 8 {
			b.WriteByte(letters[c.Rand.IntN(len(letters))])
		}
		d.Secret["unique"], d.Secret["guid"] = b.String(), c.NewGUID()
		d.Secret["digits"] = fmt.Sprintf("%08d", c.Rand.IntN(100000000))
	}
	unique, guid := body.String(d.Secret, "unique"), body.String(d.Secret, "guid")
	access := p + "apiServerAccessProfile."
	private := body.Bool(n, access+"enablePrivateCluster")
	if private {
		// Source: https://learn.microsoft.com/azure/aks/private-clusters
		body.Default(n, access+"enablePrivateClusterPublicFQDN", true)
		body.Default(n, access+"privateDNSZone", "system")
	}
	if !private || body.Bool(n, access+"enablePrivateClusterPublicFQDN") {
		body.Set(n, p+"fqdn", label+"-"+unique+".hcp."+d.Location+".azmk8s.io")
	} else {
		body.Delete(n, p+"fqdn")
	}
	body.Set(n, p+"azurePortalFQDN", label+"-"+unique+".portal.hcp."+d.Location+".azmk8s.io")
	body.Delete(n, p+"privateFQDN")
	if zone := body.String(n, access+"privateDNSZone"); private && !strings.EqualFold(zone, "none") {
		name := label + "-" + unique
		if sub := body.String(n, p+"fqdnSubdomain"); sub != "" {
			name = sub
		}
		body.Set(n, p+"privateFQDN", name+"."+zoneName(zone, guid, d.Location))
		body.Set(n, p+"azurePortalFQDN", guid+"-priv.portal.hcp."+d.Location+".azmk8s.io")
	}
	keepFrom(d, p+"resourceUID", func() any { return strings.ReplaceAll(c.NewGUID(), "-", "")[:24] })
	if body.Bool(n, p+"oidcIssuerProfile.enabled") {
		body.Set(n, p+"oidcIssuerProfile.issuerURL", "https://"+d.Location+".oic.prod-aks.azure.com/"+c.Tenant+"/"+guid+"/")
	}
}

// zoneName returns the name of the private zone that holds the API server's record.
func zoneName(zone, guid, location string) string {
	if strings.HasPrefix(zone, "/") {
		return strings.ToLower(zone[strings.LastIndexByte(zone, '/')+1:])
	}
	return guid + ".privatelink." + location + ".azmk8s.io"
}

// autoscalerDefaults are shown by a cluster once a pool has the autoscaler. Source:
// https://learn.microsoft.com/azure/aks/cluster-autoscaler-profile
var autoscalerDefaults = body.Object{
	"balance-similar-node-groups": "false", "daemonset-eviction-for-empty-nodes": false, "daemonset-eviction-for-occupied-nodes": true,
	"expander": "random", "ignore-daemonsets-utilization": false,
	"max-empty-bulk-delete": "10", "max-graceful-termination-sec": "600", "max-node-provision-time": "15m",
	"max-total-unready-percentage": "45", "new-pod-scale-up-delay": "0s", "ok-total-unready-count": "3",
	"scale-down-delay-after-add": "10m", "scale-down-delay-after-delete": "10s", "scale-down-delay-after-failure": "3m",
	"scale-down-unneeded-time": "10m", "scale-down-unready-time": "20m",
	"scale-down-utilization-threshold": "0.5", "scan-interval": "10s", "skip-nodes-with-local-storage": "false",
	"skip-nodes-with-system-pods": "true",
}
