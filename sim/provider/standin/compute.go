package standin

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// computeRows are of Compute. Source: recordings of snapshots and disk accesses, SDK module armcompute v6.
var computeRows = map[string]row{
	"Microsoft.Compute/diskAccesses": {
		unsigned: true,
		wire: func(t *provider.Type) {
			diskType(t)
			t.RetryAfter = 0
		},
		shown: func(c *provider.Call, it *provider.Item) {
			showValues(it, map[string]any{"timeCreated": createdTime(it)})
			if connections := privateConnections(c, it); len(connections) > 0 {
				showValues(it, map[string]any{"privateEndpointConnections": connections})
			}
		},
	},
	"Microsoft.Compute/snapshots": {
		unsigned: true,
		wire: func(t *provider.Type) {
			diskType(t)
			t.Since = map[string]string{"properties.publicNetworkAccess": "2021-04-01"} // as of disks
		},
		defaults: map[string]any{
			"sku.name": "Standard_LRS", "properties.incremental": false, "properties.networkAccessPolicy": "AllowAll",
			"properties.publicNetworkAccess": "Enabled", "properties.encryption.type": "EncryptionAtRestWithPlatformKey",
		},
		fill: sizeOfSource,
		shown: func(_ *provider.Call, it *provider.Item) {
			tier, _, _ := strings.Cut(body.String(it.Body, "sku.name"), "_")
			body.Set(it.Body, "sku.tier", tier)
			showValues(it, map[string]any{
				"timeCreated": createdTime(it), "uniqueId": madeGUID(it.ID, "unique"), "diskState": "Unattached",
				"diskSizeBytes": float64(body.Int(it.Body, "properties.diskSizeGB")) * (1 << 30),
			})
		},
	},
	"Microsoft.Compute/hostGroups":    {wire: makeSynchronous},
	"Microsoft.Compute/sshPublicKeys": {wire: keyPairs},
}

// privateConnections returns the connections of private endpoints to a resource, as recorded of disk accesses.
func privateConnections(c *provider.Call, it *provider.Item) []any {
	id, err := store.ParseID(it.ID)
	if err != nil {
		return nil
	}
	var out []any
	for _, endpoint := range c.List("Microsoft.Network/privateEndpoints", "/subscriptions/"+id.Subscription) {
		for _, to := range body.Objects(endpoint.Body, "properties.privateLinkServiceConnections") {
			if !store.SameID(body.String(to, "properties.privateLinkServiceId"), it.ID) ||
				body.String(endpoint.Body, "properties.provisioningState") != store.Succeeded {
				continue
			}
			name := it.Name + "." + madeGUID(endpoint.ID, "connection")
			out = append(out, body.Object{"name": name, "id": it.ID + "/privateEndpointConnections/" + name,
				"type": c.TypeOf(id.Type()).Name + "/PrivateEndpointConnections", "properties": body.Object{
					"provisioningState": store.Succeeded, "privateEndpoint": body.Object{"id": endpoint.ID},
					"privateLinkServiceConnectionState": body.Clone(body.Child(to, "properties.privateLinkServiceConnectionState"))}})
		}
	}
	return out
}

// sizeOfSource gives a copy the size of its source, unless the body has a size. Source: SDK module armcompute v6,
// SnapshotProperties.DiskSizeGB.
func sizeOfSource(c *provider.Call, d *provider.Draft) error {
	if body.Int(d.New, "properties.diskSizeGB") > 0 {
		return nil
	}
	if source := c.FindItem(body.String(d.New, "properties.creationData.sourceResourceId")); source != nil {
		if size := body.Int(source.Body, "properties.diskSizeGB"); size > 0 {
			body.Set(d.New, "properties.diskSizeGB", float64(size))
		}
	}
	return nil
}

func diskType(t *provider.Type) {
	t.Style, t.AcceptedStatus, t.StateNew, t.RetryAfter, t.DeleteRetryAfter, t.Works = provider.Disk, 202, "Updating", 2, -1, true
	t.Echoes = []string{"id", "name", "type"}
	setDurations(2*time.Second, time.Second, 2*time.Second)(t)
}

// networkRows are of the network provider, whose etags are weak. Source: recordings of private link services, SDK module armnetwork v7.
var networkRows = map[string]row{
	"Microsoft.Network/ddosProtectionPlans": {wire: updatingType, shown: func(_ *provider.Call, it *provider.Item) {
		showValues(it, map[string]any{"resourceGuid": madeGUID(it.ID, "guid")})
	}},
	"Microsoft.Network/privateLinkServices": {
		wire:     updatingType,
		defaults: map[string]any{"properties.fqdns": []any{}, "properties.enableProxyProtocol": false},
		shown: func(_ *provider.Call, it *provider.Item) {
			nic := it.ID[:strings.LastIndex(it.ID,
				"/providers/")] + "/providers/Microsoft.Network/networkInterfaces/" + it.Name + ".nic." + madeGUID(it.ID, "interface")
			showValues(it, map[string]any{
				"alias":        strings.ToLower(it.Name) + "." + madeGUID(it.ID, "alias") + "." + body.String(it.Body, "location") + ".azure.privatelinkservice",
				"resourceGuid": madeGUID(it.ID, "guid"), "privateEndpointConnections": []any{}, "networkInterfaces": []any{body.Object{"id": nic}},
			})
			for i, each := range body.Objects(it.Body, "properties.ipConfigurations") {
				each["id"], each["type"], each["etag"] = it.ID+"/ipConfigurations/"+body.String(each, "name"),
					"Microsoft.Network/privateLinkServices/ipConfigurations", it.Body["etag"]
				body.Set(each, "properties.provisioningState", "Succeeded")
				body.Default(each, "properties.primary", i == 0)
			}
		},
	},
}

func updatingType(t *provider.Type) {
	t.StateNew, t.Etag, t.UpdateRetryAfter = "Updating", provider.Weak, -1
}
