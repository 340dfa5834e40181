package standin

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// vaultRows are of key vaults. Source: their recordings; fact sheet on ARM for how long it takes.
var vaultRows = map[string]row{
	"Microsoft.KeyVault/vaults": {
		// A vault is there before its name resolves, and may be written and deleted meanwhile.
		wire: func(t *provider.Type) {
			t.Style, t.AcceptedStatus, t.StateNew, t.RetryAfter = provider.Silent, 200, "RegisteringDns", 0
			takes(15*time.Second, 0, 0)(t)
			t.Serial = func(store.ID) []string { return nil }
		},
		defaults: map[string]any{
			"tags": body.Object{}, "properties.accessPolicies": []any{}, "properties.enabledForDeployment": false, "properties.enableSoftDelete": true,
			"properties.softDeleteRetentionInDays": 90.0, "properties.enableRbacAuthorization": false, "properties.publicNetworkAccess": "Enabled",
		},
		shown: func(_ *provider.Call, it *provider.Item) {
			show(it, map[string]any{"vaultUri": "https://" + strings.ToLower(it.Name) + ".vault.azure.net/"})
		},
	},
	"Microsoft.KeyVault/vaults/keys": {
		wire: accepted,
		defaults: map[string]any{
			"properties.attributes.enabled": true, "properties.attributes.exportable": false,
			"properties.keyOps": []any{"encrypt", "decrypt", "sign", "verify", "wrapKey", "unwrapKey"},
		},
		shown: inVault("key", "keys"),
	},
	"Microsoft.KeyVault/vaults/secrets": {wire: accepted, defaults: map[string]any{"properties.attributes.enabled": true}, shown: inVault("secret", "secrets")},
}

// inVault shows where a key or a secret of a vault is found, and what it has from its vault.
func inVault(what, collection string) func(*provider.Call, *provider.Item) {
	return func(c *provider.Call, it *provider.Item) {
		id, err := store.ParseID(it.ID)
		if err != nil {
			return
		}
		vault := c.Find(id.Parent().String())
		if vault == nil || it.Resource == nil {
			return
		}
		it.Body["location"] = vault.Location
		body.Delete(it.Body, "properties.value") // https://learn.microsoft.com/rest/api/keyvault/keyvault/secrets: it is never returned
		uri := "https://" + strings.ToLower(vault.Name) + ".vault.azure.net/" + collection + "/" + it.Name
		show(it, map[string]any{
			what + "Uri": uri, what + "UriWithVersion": uri + "/" + made(it.ID, "version", 32), "attributes.recoveryLevel": "Recoverable+Purgeable",
			"attributes.created": float64(it.Resource.Created.Unix()), "attributes.updated": float64(it.Resource.Changed.Unix()),
		})
	}
}

// registryRows are of container registries. Source: their recordings, of which one was deleted by an operation.
var registryRows = map[string]row{
	"Microsoft.ContainerRegistry/registries": {
		wire: func(t *provider.Type) {
			accepted(t)
			t.Style, t.DeleteShows = provider.Results, true
			t.Delete.LRO = 10 * time.Second
		},
		defaults: map[string]any{
			"tags": body.Object{}, "properties.adminUserEnabled": false, "properties.dataEndpointEnabled": false, "properties.encryption.status": "disabled",
			"properties.publicNetworkAccess": "Enabled", "properties.networkRuleBypassOptions": "AzureServices", "properties.zoneRedundancy": "Disabled",
			"properties.anonymousPullEnabled": false,
			"properties.policies": body.Object{
				"quarantinePolicy": body.Object{"status": "disabled"}, "trustPolicy": body.Object{"type": "Notary", "status": "disabled"},
				"retentionPolicy": body.Object{"days": 7.0, "status": "disabled"}, "exportPolicy": body.Object{"status": "enabled"},
				"azureADAuthenticationAsArmPolicy": body.Object{"status": "enabled"}, "softDeletePolicy": body.Object{"retentionDays": 7.0, "status": "disabled"},
			},
		},
		fill: func(_ *provider.Call, d *provider.Draft) error {
			sku := body.String(d.New, "sku.name")
			body.Set(d.New, "sku.tier", sku)
			if strings.EqualFold(sku, "Premium") {
				body.Default(d.New, "properties.networkRuleSet", body.Object{"defaultAction": "Allow", "ipRules": []any{}})
			}
			return nil
		},
		shown: func(_ *provider.Call, it *provider.Item) {
			show(it, map[string]any{
				"loginServer": strings.ToLower(it.Name) + ".azurecr.io", "creationDate": born(it), "dataEndpointHostNames": []any{}, "privateEndpointConnections": []any{},
				"policies.retentionPolicy.lastUpdatedTime": changed(it), "policies.softDeletePolicy.lastUpdatedTime": changed(it),
			})
		},
	},
}

// storageRows are of storage accounts. Source: their recordings.
var storageRows = map[string]row{
	"Microsoft.Storage/storageAccounts": {
		wire: func(t *provider.Type) {
			t.Style, t.AcceptedStatus, t.RetryAfter = provider.Results, 202, 17
			takes(17*time.Second, 0, 0)(t)
			t.NameRule = accountName
			t.Actions = map[string]*provider.Action{"listkeys": {Start: accountKeys}}
		},
		defaults: map[string]any{
			"tags": body.Object{}, "properties.allowBlobPublicAccess": false, "properties.allowCrossTenantReplication": false, "properties.allowCrossTenantDelegationSas": false,
			"properties.minimumTlsVersion": "TLS1_0", "properties.supportsHttpsTrafficOnly": true, "properties.accessTier": "Hot",
			"properties.networkAcls": body.Object{"bypass": "AzureServices", "virtualNetworkRules": []any{}, "ipRules": []any{}, "ipv6Rules": []any{}, "defaultAction": "Allow"},
			"properties.encryption": body.Object{"keySource": "Microsoft.Storage", "services": body.Object{
				"file": body.Object{"keyType": "Account", "enabled": true}, "blob": body.Object{"keyType": "Account", "enabled": true}}},
		},
		shown: func(_ *provider.Call, it *provider.Item) {
			tier, _, _ := strings.Cut(body.String(it.Body, "sku.name"), "_")
			body.Set(it.Body, "sku.tier", tier)
			ends := body.Object{"web": "https://" + it.Name + ".z1.web.core.windows.net/"}
			for _, service := range []string{"blob", "dfs", "file", "queue", "table"} {
				ends[service] = "https://" + it.Name + "." + service + ".core.windows.net/"
				if kept := body.Child(it.Body, "properties.encryption.services."+service); kept != nil {
					kept["lastEnabledTime"] = born(it)
				}
			}
			show(it, map[string]any{
				"creationTime": born(it), "keyCreationTime": body.Object{"key1": born(it), "key2": born(it)}, "primaryLocation": it.Location,
				"statusOfPrimary": "available", "privateEndpointConnections": []any{}, "primaryEndpoints": ends,
			})
		},
	},
}

func accountName(name string) *provider.Error {
	if len(name) >= 3 && len(name) <= 24 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
		return nil
	}
	return provider.Errorf(400, "AccountNameInvalid", "%s is not a valid storage account name. Storage account name must be between 3 and 24 characters in length and use numbers and lower-case letters only.", name)
}

func accountKeys(_ *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if body.String(r.Body, "properties.provisioningState") != store.Succeeded {
		return nil, provider.Errorf(409, "StorageAccountIsNotProvisioned", "The storage account provisioning state must be 'Succeeded' before executing the operation.")
	}
	keys := []any{}
	for _, name := range []string{"key1", "key2"} {
		keys = append(keys, body.Object{"keyName": name, "permissions": "FULL", "value": made(r.ID, name, 64), "creationTime": r.Created.UTC().Format(time.RFC3339)})
	}
	return provider.OK(body.Object{"keys": keys}), nil
}
