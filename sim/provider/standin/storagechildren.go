package standin

import (
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const accountType = "Microsoft.Storage/storageAccounts"

// storageChild is a type below a storage account. Source: recordings of api-versions 2021-04-01 to 2025-06-01, and
// https://learn.microsoft.com/rest/api/storagerp for statuses of deletions and codes of missing ones.
type storageChild struct {
	name string
	// made is the status of the PUT that creates one, gone that of its deletion.
	made, gone int
	// code and message answer for a missing one.
	code, message string
	// bare children are shown without properties by a PUT that has none.
	bare bool
	// shown completes the properties. isWrite is set for the answer to a PUT, which shows less.
	shown func(it *provider.Item, properties body.Object, isWrite bool)
}

var storageChildren = []storageChild{
	{name: "blobServices/containers", made: 201, gone: 200, bare: true, code: "ContainerNotFound", message: "The specified container does not exist.",
		shown: func(it *provider.Item, p body.Object, isWrite bool) {
			setAll(p, body.Object{"deleted": false, "remainingRetentionDays": 0, "hasImmutabilityPolicy": false, "hasLegalHold": false})
			if !isWrite {
				setAll(p, body.Object{"defaultEncryptionScope": "$account-encryption-key", "denyEncryptionScopeOverride": false, "publicAccess": "None",
					"leaseStatus": "Unlocked", "leaseState": "Available", "lastModifiedTime": changedTime(it),
					"legalHold": body.Object{"hasLegalHold": false, "tags": []any{}}})
			}
		}},
	{name: "fileServices/shares", made: 201, gone: 200, code: "ShareNotFound", message: "The specified share does not exist.",
		shown: func(it *provider.Item, p body.Object, isWrite bool) {
			if !isWrite {
				// The quota is that of recordings from 2025 on. Older ones of the same api-versions have 5120.
				setAll(p, body.Object{"leaseStatus": "unlocked", "leaseState": "available", "signedIdentifiers": []any{}, "shareQuota": 102400,
					"accessTier": "TransactionOptimized", "accessTierChangeTime": createdTime(it), "lastModifiedTime": changedTime(it)})
			}
		}},
	{name: "queueServices/queues", made: 200, gone: 204, code: "QueueNotFound", message: "The specified queue does not exist.",
		shown: func(_ *provider.Item, p body.Object, isWrite bool) {
			setAll(p, body.Object{"metadata": body.Object{}})
			if !isWrite {
				setAll(p, body.Object{"approximateMessageCount": 0})
			}
		}},
	{name: "tableServices/tables", made: 200, gone: 204, code: "TableNotFound", message: "The table specified does not exist.",
		shown: func(it *provider.Item, p body.Object, isWrite bool) {
			setAll(p, body.Object{"tableName": it.Name})
			if !isWrite {
				setAll(p, body.Object{"signedIdentifiers": []any{}})
			}
		}},
}

// setAll sets the values that are missing.
func setAll(o, values body.Object) {
	for key, value := range values {
		body.Default(o, key, value)
	}
}

// storageChildTypes returns the types below storage accounts. No definition has them here, so their bodies are taken as they come.
func storageChildTypes() []*provider.Type {
	types := []*provider.Type{managementPolicyType()}
	for _, service := range []string{"blobServices", "fileServices", "queueServices", "tableServices"} {
		types = append(types, storageServiceType(service))
	}
	for _, child := range storageChildren {
		t := newStorageChild(child.name)
		t.AcceptedStatus, t.DeleteStatus = 0, child.gone
		if child.made == http.StatusOK {
			t.AcceptedStatus = http.StatusOK
		}
		hasEtag := child.made == http.StatusCreated
		t.View = func(c *provider.Call, it *provider.Item) {
			isWrite := c.Method == http.MethodPut
			if isWrite && body.Child(c.Body, "properties") == nil && child.bare {
				delete(it.Body, "properties") // A PUT without properties is answered without.
				return
			}
			if body.Child(it.Body, "properties") == nil {
				it.Body["properties"] = body.Object{}
			}
			child.shown(it, body.Child(it.Body, "properties"), isWrite)
			if hasEtag && !isWrite {
				it.Body["etag"] = `"0x8D` + strings.ToUpper(deriveDigits(it.ID, changedTime(it), 12)) + `"`
			}
		}
		t.Missing = func(c *provider.Call) *provider.Error {
			return provider.Errorf(404, child.code, "%s\nRequestId:%s\nTime:%s", child.message, c.RequestID, c.Now().UTC().Format(time.RFC3339Nano))
		}
		types = append(types, t)
	}
	return types
}

func newStorageChild(name string) *provider.Type {
	return &provider.Type{
		Name: accountType + "/" + name, APIVersions: []string{"2025-06-01", "2024-01-01", "2023-01-01", "2022-09-01", "2021-04-01"},
		Style: provider.Results, Untracked: true, NoState: true, AcceptedStatus: http.StatusOK,
		Create: provider.Timing{HTTP: 300 * time.Millisecond}, Delete: provider.Timing{HTTP: 300 * time.Millisecond},
		Serial: func(id store.ID) []string { return []string{id.String()} },
	}
}

// storageServiceType returns the type of a service. Each account has its services, called default, from the beginning.
func storageServiceType(service string) *provider.Type {
	t := newStorageChild(service)
	t.NameRule = onlyDefault
	t.CanDelete = func(*provider.Call, *provider.Item) error {
		return provider.Errorf(405, "MethodNotAllowed", "The services of a storage account cannot be deleted.")
	}
	t.View = func(c *provider.Call, it *provider.Item) {
		if c.Method == http.MethodPut {
			// The answer to a PUT has the sent properties alone, and that to a PUT without properties has the name alone. Recorded in
			// Test_Storage_StorageAccount_20250601_CRUD, and in sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1, blobservicepropertiesclient.
			sent := body.Child(c.Body, "properties")
			if sent == nil {
				clear(it.Body)
				it.Body["name"] = it.Name
				return
			}
			it.Body["properties"] = body.Clone(sent)
			return
		}
		body.Default(it.Body, "properties.cors.corsRules", []any{})
		switch service {
		case "blobServices":
			body.Default(it.Body, "properties.deleteRetentionPolicy", body.Object{"allowPermanentDelete": false, "enabled": false})
			if c.APIVersion >= "2025-06-01" { // recordings of it, and of 2023-01-01 without
				body.Default(it.Body, "properties.staticWebsite", body.Object{"enabled": false})
			}
		case "queueServices":
			if c.APIVersion >= "2022-09-01" { // the recordings of 2022-09-01 and newer have it, the five of 2021-04-01 do not
				body.Default(it.Body, "properties.logging", body.Object{"version": "1.0", "delete": false, "read": false, "write": false,
					"retentionPolicy": body.Object{"enabled": false}})
			}
			return
		case "fileServices":
			body.Default(it.Body, "properties.protocolSettings.smb", body.Object{})
			body.Default(it.Body, "properties.shareDeleteRetentionPolicy", body.Object{"enabled": true, "days": 7})
		default:
			return
		}
		if id, err := store.ParseID(it.ID); err == nil {
			if account := c.Get(id.Parent().String()); account != nil {
				tier, _, _ := strings.Cut(body.String(account.Body, "sku.name"), "_")
				it.Body["sku"] = body.Object{"name": body.String(account.Body, "sku.name"), "tier": tier}
			}
		}
	}
	return t
}

func onlyDefault(name string) *provider.Error {
	if strings.EqualFold(name, "default") {
		return nil
	}
	return provider.Errorf(400, "InvalidResourceName", "Resource name '%s' is invalid: the only name is 'default'.", name)
}

func managementPolicyType() *provider.Type {
	t := newStorageChild("managementPolicies")
	t.NameRule = onlyDefault
	t.View = func(_ *provider.Call, it *provider.Item) {
		it.Body["name"] = "DefaultManagementPolicy"
		body.Set(it.Body, "properties.lastModifiedTime", changedTime(it))
	}
	t.Missing = func(*provider.Call) *provider.Error {
		return provider.Errorf(404, "ManagementPolicyNotFound", "No ManagementPolicy found for the account.")
	}
	return t
}

// makeServices gives a new account its services. Those for blobs alone have no files and queues.
func makeServices(c *provider.Call, _ *store.Operation, r *store.Resource) error {
	for _, service := range []string{"blobServices", "fileServices", "queueServices", "tableServices"} {
		id := r.ID + "/" + service + "/default"
		if c.Get(id) != nil || strings.EqualFold(body.String(r.Body, "kind"), "BlobStorage") && service != "blobServices" && service != "tableServices" {
			continue
		}
		c.SaveResource(&store.Resource{ID: id, Type: accountType + "/" + service, Body: body.Object{"properties": body.Object{}}})
	}
	return nil
}
