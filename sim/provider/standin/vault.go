package standin

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// vaultRows are of key vaults. Source: their recordings; fact sheet on ARM for how long it takes.
var vaultRows = map[string]row{
	"Microsoft.KeyVault/vaults": {
		// A vault exists before its name resolves, and may be written and deleted meanwhile.
		wire: func(t *provider.Type) {
			t.Style, t.AcceptedStatus, t.StateNew, t.RetryAfter = provider.Silent, 200, "RegisteringDns", 0
			setDurations(15*time.Second, 0, 0)(t)
			t.Serial = func(store.ID) []string { return nil }
			t.Deleted = keepDeletedVault
			t.EmptyEnd = true // Recorded in sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1, vaultclient.
			// The name of a vault that is recovered resolves already.
			t.Immediate, t.Waits = true, func(d *provider.Draft) bool {
				return !strings.EqualFold(body.String(d.Sent, "properties.createMode"), "recover")
			}
			// Not in recordings of 2021-04-01-preview; the latter in those of 2023-07-01 that are of 2026 only.
			t.Since = map[string]string{"properties.publicNetworkAccess": "2021-10-01", "properties.enableRbacAuthorization": "2021-10-01"}
		},
		defaults: map[string]any{
			"tags": body.Object{}, "properties.accessPolicies": []any{}, "properties.enabledForDeployment": false,
			"properties.publicNetworkAccess": "Enabled", "properties.enableRbacAuthorization": false,
		},
		fill: deletesSoftly,
		shown: func(c *provider.Call, it *provider.Item) {
			uri := "https://" + strings.ToLower(it.Name) + ".vault.azure.net/"
			if c.Method == http.MethodPut && body.String(it.Body, "properties.provisioningState") == "RegisteringDns" {
				uri = strings.TrimSuffix(uri, "/") // as recorded of all that are new
			}
			showValues(it, map[string]any{"vaultUri": uri})
		},
	},
	"Microsoft.KeyVault/vaults/keys": {
		wire: makeAlwaysOK,
		defaults: map[string]any{
			"properties.attributes.enabled": true, "properties.attributes.exportable": false,
			"properties.keyOps": []any{"encrypt", "decrypt", "sign", "verify", "wrapKey", "unwrapKey"},
		},
		shown: inVault("key", "keys"),
	},
	"Microsoft.KeyVault/vaults/secrets": {wire: makeAlwaysOK, defaults: map[string]any{"properties.attributes.enabled": true},
		shown: inVault("secret", "secrets")},
}

// importImage begins to copy an image into a registry. Images are not kept. Source: the answers recorded in
// sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1, registryclient, and
// https://learn.microsoft.com/rest/api/container-registry/registries/import-image; the error code is a guess.
func importImage(c *provider.Call, _ *store.Resource) (*provider.Reply, error) {
	if body.String(c.Body, "source.sourceImage") == "" {
		return nil, provider.Errorf(http.StatusBadRequest, "InvalidRequest", "The source image is missing.")
	}
	return nil, nil
}

// deletesSoftly fills in how long a deleted vault can be recovered. Soft deletion cannot be turned off
// (https://learn.microsoft.com/azure/key-vault/general/soft-delete-change). Recordings show the retention if it was
// sent, and in versions after 2021-04-01-preview also if it was not. The createMode of a vault is never shown.
func deletesSoftly(c *provider.Call, d *provider.Draft) error {
	if err := recoverVault(c, d); err != nil {
		return err
	}
	if err := keepPurgeProtection(d); err != nil {
		return err
	}
	if !body.Has(d.New, "properties.enableSoftDelete") && c.APIVersion >= "2021-10-01" {
		body.Default(d.New, "properties.softDeleteRetentionInDays", 90.0)
	}
	if days := body.Get(d.Old, "properties.softDeleteRetentionInDays"); days != nil {
		body.Default(d.New, "properties.softDeleteRetentionInDays", days)
	}
	body.Set(d.New, "properties.enableSoftDelete", true)
	body.Delete(d.New, "properties.createMode")
	return nil
}

const purgeProtection = "properties.enablePurgeProtection"

// keepPurgeProtection refuses to turn the protection off. The documentation has that it cannot be turned off, and public reports have this text
// also for vaults without the protection: https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview#purge-protection
func keepPurgeProtection(d *provider.Draft) error {
	if body.Get(d.Sent, purgeProtection) == false {
		return provider.Errorf(http.StatusBadRequest, "BadRequest",
			"The property \"enablePurgeProtection\" cannot be set to false. Enabling the purge protection for a vault is an irreversible action.")
	}
	if body.Bool(d.Old, purgeProtection) {
		body.Set(d.New, purgeProtection, true)
	}
	return nil
}

// inVault shows the URI of a key or a secret of a vault, and the values that it has from its vault.
func inVault(what, collection string) func(*provider.Call, *provider.Item) {
	return func(c *provider.Call, it *provider.Item) {
		id, err := store.ParseID(it.ID)
		if err != nil {
			return
		}
		vault := c.FindItem(id.Parent().String())
		if vault == nil || it.Resource == nil {
			return
		}
		it.Body["location"] = vault.Location
		body.Delete(it.Body, "properties.value") // https://learn.microsoft.com/rest/api/keyvault/keyvault/secrets: it is never returned
		uri := "https://" + strings.ToLower(vault.Name) + ".vault.azure.net/" + collection + "/" + it.Name
		// https://learn.microsoft.com/rest/api/keyvault/keyvault/keys/get: a retention of less than 90 days is
		// customised.
		recovery := "Recoverable+Purgeable"
		if days := body.Int(vault.Body, "properties.softDeleteRetentionInDays"); days > 0 && days < 90 {
			recovery = "CustomizedRecoverable+Purgeable"
		}
		showValues(it, map[string]any{
			what + "Uri": uri, what + "UriWithVersion": uri + "/" + deriveDigits(it.ID, "version", 32), "attributes.recoveryLevel": recovery,
			"attributes.created": float64(it.Resource.Created.Unix()), "attributes.updated": float64(it.Resource.Changed.Unix()),
		})
	}
}

// registryRows are of container registries. Source: their recordings, of which one was deleted by an operation.
var registryRows = map[string]row{
	"Microsoft.ContainerRegistry/registries": {
		wire: func(t *provider.Type) {
			makeAlwaysOK(t)
			t.Style, t.DeleteShows = provider.Results, true
			t.Since = map[string]string{ // recordings of 2021-09-01 and 2023-07-01
				"properties.anonymousPullEnabled": "2023-01-01", "properties.policies.azureADAuthenticationAsArmPolicy": "2023-01-01",
				"properties.policies.softDeletePolicy": "2023-01-01",
			}
			t.Delete.LRO = 10 * time.Second
			t.Actions = map[string]*provider.Action{"importimage": {
				Timing: provider.Timing{HTTP: 500 * time.Millisecond, LRO: 10 * time.Second}, RetryAfter: 10, Start: importImage,
				Finish: func(_ *provider.Call, op *store.Operation, _ *store.Resource) error {
					op.Result = body.Object{"status": store.Succeeded}
					return nil
				}}}
		},
		defaults: map[string]any{
			"tags": body.Object{}, "properties.adminUserEnabled": false, "properties.dataEndpointEnabled": false,
			"properties.encryption.status":   "disabled",
			"properties.publicNetworkAccess": "Enabled", "properties.networkRuleBypassOptions": "AzureServices",
			"properties.zoneRedundancy":       "Disabled",
			"properties.anonymousPullEnabled": false,
			"properties.policies": body.Object{
				"quarantinePolicy": body.Object{"status": "disabled"}, "trustPolicy": body.Object{"type": "Notary", "status": "disabled"},
				"retentionPolicy": body.Object{"days": 7.0, "status": "disabled"}, "exportPolicy": body.Object{"status": "enabled"},
				"azureADAuthenticationAsArmPolicy": body.Object{"status": "enabled"},
				"softDeletePolicy":                 body.Object{"retentionDays": 7.0, "status": "disabled"},
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
			showValues(it, map[string]any{
				"loginServer": strings.ToLower(it.Name) + ".azurecr.io", "creationDate": createdTime(it), "dataEndpointHostNames": []any{},
				"privateEndpointConnections":               []any{},
				"policies.retentionPolicy.lastUpdatedTime": changedTime(it), "policies.softDeletePolicy.lastUpdatedTime": changedTime(it),
			})
		},
	},
}

// storageRows are of storage accounts. Source: their recordings.
var storageRows = map[string]row{
	"Microsoft.Storage/storageAccounts": {
		wire: func(t *provider.Type) {
			t.Style, t.AcceptedStatus, t.RetryAfter = provider.Results, 202, 17
			setDurations(17*time.Second, 0, 0)(t)
			t.NameRule = accountName
			// Recordings of 2021-04-01, 2022-09-01, 2023-01-01 and 2025-06-01.
			t.Since = map[string]string{"properties.networkAcls.ipv6Rules": "2023-01-01", "properties.allowCrossTenantDelegationSas": "2025-06-01"}
			t.Actions = map[string]*provider.Action{"listkeys": {Start: accountKeys}}
			t.Finish = makeServices
		},
		defaults: map[string]any{
			"tags": body.Object{}, "properties.allowBlobPublicAccess": false, "properties.allowCrossTenantReplication": false,
			"properties.allowCrossTenantDelegationSas": false,
			"properties.minimumTlsVersion":             "TLS1_2", "properties.supportsHttpsTrafficOnly": true, "properties.accessTier": "Hot",
			"properties.networkAcls": body.Object{"bypass": "AzureServices", "virtualNetworkRules": []any{}, "ipRules": []any{},
				"ipv6Rules": []any{}, "defaultAction": "Allow"},
			"properties.encryption": body.Object{"keySource": "Microsoft.Storage", "services": body.Object{
				"file": body.Object{"keyType": "Account", "enabled": true}, "blob": body.Object{"keyType": "Account", "enabled": true}}},
		},
		shown: func(_ *provider.Call, it *provider.Item) {
			tier, _, _ := strings.Cut(body.String(it.Body, "sku.name"), "_")
			body.Set(it.Body, "sku.tier", tier)
			ends := body.Object{}
			blobs := strings.EqualFold(body.String(it.Body, "kind"), "BlobStorage")
			if !blobs {
				// https://learn.microsoft.com/azure/storage/blobs/storage-blob-static-website: the number depends on the region.
				ends["web"] = "https://" + it.Name + "." + cmp.Or(webZones[it.Location], "z1") + ".web.core.windows.net/"
			}
			for _, service := range []string{"blob", "dfs", "file", "queue", "table"} {
				if !blobs || service != "file" && service != "queue" {
					ends[service] = "https://" + it.Name + "." + service + ".core.windows.net/"
				}
				if kept := body.Child(it.Body, "properties.encryption.services."+service); kept != nil {
					kept["lastEnabledTime"] = createdTime(it)
				}
			}
			showValues(it, map[string]any{
				"creationTime": createdTime(it), "keyCreationTime": body.Object{"key1": createdTime(it), "key2": createdTime(it)},
				"primaryLocation": it.Location,
				"statusOfPrimary": "available", "privateEndpointConnections": []any{}, "primaryEndpoints": ends,
			})
		},
	},
}

// webZones are the regions whose static websites were recorded elsewhere than in zone 1.
var webZones = map[string]string{"eastus2": "z20", "newzealandnorth": "z44", "westcentralus": "z4", "westus2": "z5"}

func accountName(name string) *provider.Error {
	if len(name) >= 3 && len(name) <= 24 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
		return nil
	}
	return provider.Errorf(400, "AccountNameInvalid",
		"%s is not a valid storage account name. Storage account name must be between 3 and 24 characters in length and use numbers and lower-case letters only.", name)
}

func accountKeys(_ *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if body.String(r.Body, "properties.provisioningState") != store.Succeeded {
		return nil, provider.Errorf(409, "StorageAccountIsNotProvisioned",
			"The storage account provisioning state must be 'Succeeded' before executing the operation.")
	}
	keys := []any{}
	for _, name := range []string{"key1", "key2"} {
		keys = append(keys, body.Object{"keyName": name, "permissions": "FULL", "value": deriveDigits(r.ID, name, 64),
			"creationTime": r.Created.UTC().Format(time.RFC3339)})
	}
	return provider.OK(body.Object{"keys": keys}), nil
}
