package compute

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// findReferred returns the resource that the resource being written refers to at a path below its properties. It must
// exist, be of the type, and be in the region and edge zone of the referring resource.
//
// Azure's message for a missing resource is recorded for an image that refers to a missing snapshot (ASO recordings).
// Assumption, from its text: a resource in another region gets the same message. LinkedInvalidPropertyId is one of
// Resource Manager's common errors, see
// https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors.
func findReferred(c *provider.Call, id, typ, path, location string) (*provider.Item, error) {
	parsed, err := store.ParseID(id)
	if err != nil || parsed.IsCollection() || parsed.Namespace == "" {
		return nil, provider.Errorf(400, "LinkedInvalidPropertyId",
			"Property id '%s' at path 'properties.%s.id' is invalid. Expect fully qualified resource Id that start with '/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'.", id, path)
	}
	if !strings.EqualFold(parsed.Type(), typ) {
		return nil, provider.InvalidParameter(path+".id", "The value of parameter %s.id is invalid: it is not the ID of a resource of type %s.",
			path, typ)
	}
	it := c.FindItem(id)
	if it == nil || c.IsElsewhere(it, location) {
		return nil, notHere(id)
	}
	return it, nil
}

func notHere(id string) error {
	return provider.Errorf(404, "NotFound", "The entity was not found in this Azure location.").WithTarget(id)
}

// isReplaced reports whether the value at a path is new. References of a stored resource were checked when they were
// written; Azure does not check them again.
func isReplaced(d *provider.Draft, path string) bool {
	return d.Old == nil || !strings.EqualFold(body.String(d.Old, path), body.String(d.New, path))
}
