package network

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// gatewayParts are the lists of an application gateway's parts. Each has the key under which a part shows the rules or listeners that use it.
var gatewayParts = map[string]struct{ users, key string }{
	"gatewayIPConfigurations": {}, "sslCertificates": {}, "trustedRootCertificates": {}, "trustedClientCertificates": {}, "sslProfiles": {},
	"frontendIPConfigurations": {"httpListeners", "frontendIPConfiguration"}, "frontendPorts": {"httpListeners", "frontendPort"},
	"backendAddressPools":           {"requestRoutingRules", "backendAddressPool"},
	"backendHttpSettingsCollection": {"requestRoutingRules", "backendHttpSettings"},
	"httpListeners":                 {"requestRoutingRules", "httpListener"}, "requestRoutingRules": {}, "backendSettingsCollection": {}, "listeners": {},
	"loadDistributionPolicies": {}, "privateEndpointConnections": {}, "privateLinkConfigurations": {}, "probes": {}, "redirectConfigurations": {},
	"rewriteRuleSets": {}, "routingRules": {}, "urlPathMaps": {},
}

// applicationGatewayType returns the type of application gateways: they hold their subnet and addresses, and show their parts. The definitions
// of this repository do not have it. Source: recordings Test_Networking_ApplicationGateway_20220701_CRUD and
// Test_Network_v1api20220701_CreationAndDeletion of the Azure Service Operator v2.18.0.
func applicationGatewayType() *provider.Type {
	return &provider.Type{
		Name: ApplicationGateways, APIVersions: []string{"2025-05-01", "2024-03-01", "2022-07-01"}, Style: provider.Network, Etag: provider.Weak, RetryAfter: 5,
		Create:        provider.Timing{HTTP: provider.Seconds(2), LRO: provider.Seconds(260), Spread: 0.2},
		Update:        provider.Timing{HTTP: provider.Seconds(2), LRO: provider.Seconds(60)},
		Delete:        provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(300), Spread: 0.2},
		ReadOnlyPaths: []string{"properties.resourceGuid", "properties.operationalState"},
		Prepare:       prepareApplicationGateway,
		Finish: func(_ *provider.Call, _ *store.Operation, r *store.Resource) error {
			body.Set(r.Body, "properties.operationalState", "Running")
			return nil
		},
		Patch: func(*provider.Call, *provider.Draft) error { return nil },
		View:  viewApplicationGateway,
	}
}

func prepareApplicationGateway(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	resourceGUID(c, d)
	d.Keep(p+"operationalState", func() string { return "Stopped" })
	if body.Child(d.New, p+"sku") == nil {
		return invalidValue("ApplicationGatewaySkuNotSpecified", "Application gateway %s has no sku.", d.ID)
	}
	body.Default(d.New, p+"sku.family", "Generation_1")
	if len(body.Objects(d.New, p+"gatewayIPConfigurations")) == 0 {
		return invalidValue("ApplicationGatewayIpConfigurationNotSpecified", "Application gateway %s has no gateway IP configuration.", d.ID)
	}
	for _, list := range []string{"gatewayIPConfigurations", "frontendIPConfigurations"} {
		for _, cfg := range body.Objects(d.New, p+list) {
			if subnet := body.String(cfg, p+"subnet.id"); subnet != "" {
				if _, err := c.RequireReference(subnet, d.ID, Subnets, d.Location); err != nil {
					return err
				}
			}
			if address := body.String(cfg, p+"publicIPAddress.id"); address != "" {
				if _, err := publicIPFree(c, address, d.ID+"/"+list+"/"+body.String(cfg, "name"), d.Location); err != nil {
					return err
				}
			}
		}
	}
	for _, cfg := range body.Objects(d.New, p+"frontendIPConfigurations") {
		body.Default(cfg, p+"privateIPAllocationMethod", "Dynamic")
	}
	for _, settings := range body.Objects(d.New, p+"backendHttpSettingsCollection") {
		body.Default(settings, p+"requestTimeout", 30)
	}
	for _, listener := range body.Objects(d.New, p+"httpListeners") {
		body.Default(listener, p+"requireServerNameIndication", false)
	}
	return nil
}

// viewApplicationGateway shows the IDs and users of the parts, and an empty list for each kind of part that the gateway does not have.
func viewApplicationGateway(_ *provider.Call, it *provider.Item) {
	p := "properties."
	for list, part := range gatewayParts {
		body.Default(it.Body, p+list, []any{})
		for _, e := range body.Objects(it.Body, p+list) {
			id := it.ID + "/" + list + "/" + body.String(e, "name")
			e["id"], e["etag"], e["type"] = id, it.Resource.Etag, ApplicationGateways+"/"+list
			body.Set(e, p+"provisioningState", body.String(it.Body, p+"provisioningState"))
			var users []string
			for _, user := range body.Objects(it.Body, p+part.users) {
				if part.users != "" && strings.EqualFold(body.String(user, p+part.key+".id"), id) {
					users = append(users, it.ID+"/"+part.users+"/"+body.String(user, "name"))
				}
			}
			if users != nil {
				body.Set(e, p+part.users, References(users))
			}
		}
	}
}
