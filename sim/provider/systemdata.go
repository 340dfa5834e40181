package provider

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// SignSystemData notes in a draft who made and who last wrote the resource, for providers that show it.
func (c *Call) SignSystemData(d *Draft) {
	by := func(path string) string {
		if was := body.String(d.Old, path); was != "" {
			return was
		}
		return c.Principal.ClientID
	}
	d.New["systemData"] = body.Object{"createdBy": by("systemData.createdBy"), "createdByType": "Application",
		"lastModifiedBy": c.Principal.ClientID, "lastModifiedByType": "Application"}
}

// ShowUnsigned shows when a resource was created and last written, without the author, as Kubernetes configurations
// are recorded.
func ShowUnsigned(it *Item) {
	it.Body["systemData"] = body.Object{"createdBy": nil, "createdByType": nil, "lastModifiedBy": nil, "lastModifiedByType": nil}
	ShowSystemData(it)
}

// ShowSystemData adds the times to the values that SignSystemData stored.
func ShowSystemData(it *Item) {
	if body.Child(it.Body, "systemData") == nil || it.Resource == nil {
		return
	}
	const form = "2006-01-02T15:04:05.0000000Z"
	body.Set(it.Body, "systemData.createdAt", it.Resource.Created.UTC().Format(form))
	body.Set(it.Body, "systemData.lastModifiedAt", it.Resource.Changed.UTC().Format(form))
}
