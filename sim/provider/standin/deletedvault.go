package standin

import (
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// deletedVault is the note in the store about a vault that can be recovered. Names are unique in a subscription here, and in the world on Azure.
type deletedVault struct {
	ID       string      `json:"id"`
	Name     string      `json:"name"`
	Location string      `json:"location"`
	Tags     any         `json:"tags,omitempty"`
	Deleted  time.Time   `json:"deleted"`
	Purge    time.Time   `json:"purge"`
	Body     body.Object `json:"body"`
}

const deletedVaultNotes = "deletedVault/"

func deletedVaultNote(subscription, name string) string {
	return deletedVaultNotes + strings.ToLower(subscription+"/"+name)
}

// keepDeletedVault notes a deleted vault. Each vault is deleted softly:
// https://learn.microsoft.com/azure/key-vault/general/soft-delete-overview
func keepDeletedVault(c *provider.Call, r *store.Resource) {
	id, err := store.ParseID(r.ID)
	if err != nil {
		return
	}
	days := body.Int(r.Body, "properties.softDeleteRetentionInDays")
	if days == 0 {
		days = 90
	}
	c.SetMeta(deletedVaultNote(id.Subscription, id.Name()), deletedVault{ID: r.ID, Name: id.Name(), Location: r.Location, Tags: r.Body["tags"],
		Deleted: c.Now(), Purge: c.Now().Add(time.Duration(days) * 24 * time.Hour), Body: body.Clone(r.Body)})
}

// findDeletedVault returns a deleted vault that has not been purged.
func findDeletedVault(c *provider.Call, subscription, name string) (deletedVault, bool) {
	var v deletedVault
	found := c.ReadNote(deletedVaultNote(subscription, name), &v) && v.ID != "" && v.Purge.After(c.Now())
	return v, found
}

// recoverVault refuses a new vault with the name of a deleted one, unless it is to be recovered.
func recoverVault(c *provider.Call, d *provider.Draft) error {
	if d.Old != nil {
		return nil
	}
	id, err := store.ParseID(d.ID)
	if err != nil {
		return err
	}
	was, found := findDeletedVault(c, id.Subscription, d.Name)
	if !found {
		return nil
	}
	if !strings.EqualFold(body.String(d.Sent, "properties.createMode"), "recover") {
		return provider.Errorf(http.StatusConflict, "ConflictError", "A vault with the same name already exists in deleted state. You need to either recover or purge existing key vault. Follow this link https://go.microsoft.com/fwlink/?linkid=2149745 for more information on soft delete.")
	}
	kept := body.Clone(body.Child(was.Body, "properties"))
	body.Overlay(kept, body.Child(d.Sent, "properties"))
	body.Delete(kept, "provisioningState")
	d.New["properties"] = kept
	c.SetMeta(deletedVaultNote(id.Subscription, d.Name), deletedVault{})
	return nil
}

// deletedVaults serves the deleted vaults of a subscription. Source: recordings of 2024-11-01 and
// https://learn.microsoft.com/rest/api/keyvault/keyvault/vaults/purge-deleted
func deletedVaults() *provider.Provider {
	// The type has no resources: its operations purge vaults.
	purged := &provider.Type{Name: "Microsoft.KeyVault/locations/deletedVaults", Style: provider.Results, Untracked: true, NoState: true,
		ReadOnly: true}
	return &provider.Provider{
		Namespace: "Microsoft.KeyVault",
		Subscription: map[string]func(*provider.Call) (*provider.Reply, error){
			"deletedvaults": func(c *provider.Call) (*provider.Reply, error) {
				list := []any{}
				for _, key := range c.MetaKeys(deletedVaultNotes + strings.ToLower(c.ID.Subscription) + "/") {
					var v deletedVault
					if c.ReadNote(key, &v) && v.ID != "" && v.Purge.After(c.Now()) {
						list = append(list, showDeletedVault(c, v))
					}
				}
				return provider.OK(list), nil
			},
		},
		Regional: map[string]func(*provider.Call, string, []string) (*provider.Reply, error){
			"deletedvaults": func(c *provider.Call, location string, rest []string) (*provider.Reply, error) {
				if len(rest) == 2 && rest[1] == "purge" {
					return nil, provider.GatewayErrorf(405, "MethodNotAllowed", "The requested resource does not support http method 'GET'.")
				}
				if len(rest) != 1 {
					return nil, noDeletedVault()
				}
				v, err := requireDeletedVault(c, location, rest[0])
				if err != nil {
					return nil, err
				}
				return provider.OK(showDeletedVault(c, v)), nil
			},
		},
		RegionalPosts: map[string]func(*provider.Call, string, []string) (*provider.Reply, error){
			"deletedvaults": func(c *provider.Call, location string, rest []string) (*provider.Reply, error) {
				if len(rest) != 2 || rest[1] != "purge" {
					return nil, noDeletedVault()
				}
				v, err := requireDeletedVault(c, location, rest[0])
				if err != nil {
					return nil, err
				}
				if body.Bool(v.Body, purgeProtection) {
					return nil, provider.Errorf(http.StatusMethodNotAllowed, "MethodNotAllowed", "Operation 'DeletedVaultPurge' is not allowed.")
				}
				c.Type = purged
				return purgeVault(c, location, v), nil
			},
		},
		Types: []*provider.Type{purged},
	}
}

func noDeletedVault() error {
	return provider.GatewayErrorf(404, "InvalidResourceType", "The path names no deleted vault.")
}

func requireDeletedVault(c *provider.Call, location, name string) (deletedVault, error) {
	v, found := findDeletedVault(c, c.ID.Subscription, name)
	if !found || !strings.EqualFold(v.Location, location) {
		return v, provider.Errorf(404, "DeletedVaultNotFound", "The specified deleted vault '%s' does not exist. Ensure that the vault was indeed deleted and that it is in recoverable state. If soft delete was not enabled then the vault is permanently deleted. Follow this link for more information: https://go.microsoft.com/fwlink/?linkid=2149745", name)
	}
	return v, nil
}

func purgeVault(c *provider.Call, location string, v deletedVault) *provider.Reply {
	c.SetMeta(deletedVaultNote(c.ID.Subscription, v.Name), deletedVault{})
	op := c.StartOperation("purge", v.ID, provider.Timing{LRO: 5 * time.Second})
	const form = "2006-01-02 15:04:05Z"
	op.Location, op.Result = location, body.Object{"createdDateTime": c.Now().UTC().Format(form),
		"lastActionDateTime": c.Now().UTC().Format(form), "status": store.Succeeded}
	c.PutOperation(op)
	return &provider.Reply{Status: http.StatusAccepted, Operation: op, RetryAfter: 5 * time.Second}
}

func showDeletedVault(c *provider.Call, v deletedVault) body.Object {
	tags := v.Tags
	if tags == nil {
		tags = body.Object{}
	}
	return body.Object{"id": "/subscriptions/" + c.ID.Subscription + "/providers/Microsoft.KeyVault/locations/" + v.Location + "/deletedVaults/" + v.Name,
		"name": v.Name, "type": "Microsoft.KeyVault/deletedVaults",
		"properties": body.Object{"vaultId": v.ID, "location": v.Location, "tags": tags, "deletionDate": v.Deleted.UTC().Format(time.RFC3339),
			"scheduledPurgeDate": v.Purge.UTC().Format(time.RFC3339)}}
}
