package compute

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// referred is a resource that what is being written refers to at a path below its properties. It must exist, be of the type, and
// be in the region and edge zone of the one that refers to it.
//
// What Azure says of one that is not there is recorded for an image that refers to a missing snapshot (ASO recordings); that it
// says the same of one in another region is what its words mean. LinkedInvalidPropertyId is one of Resource Manager's common errors,
// see https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors.
func referred(c *provider.Call, id, typ, path, location string) (*provider.Item, error) {
	parsed, err := store.ParseID(id)
	if err != nil || parsed.IsCollection() || parsed.Namespace == "" {
		return nil, provider.Errorf(400, "LinkedInvalidPropertyId", "Property id '%s' at path 'properties.%s.id' is invalid. Expect fully qualified resource Id that start with '/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'.", id, path)
	}
	if !strings.EqualFold(parsed.Type(), typ) {
		return nil, provider.InvalidParameter(path+".id", "The value of parameter %s.id is invalid: it is not the ID of a resource of type %s.", path, typ)
	}
	it := c.Find(id)
	if it == nil || c.Elsewhere(it, location) {
		return nil, notHere(id)
	}
	return it, nil
}

func notHere(id string) error {
	return provider.Errorf(404, "NotFound", "The entity was not found in this Azure location.").WithTarget(id)
}

// replaced tells whether the value at a path is new. What a resource has refers to what was there when it was written; Azure
// does not look at it again.
func replaced(d *provider.Draft, path string) bool {
	return d.Old == nil || !strings.EqualFold(body.String(d.Old, path), body.String(d.New, path))
}
