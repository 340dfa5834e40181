package provider

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// keepReferences leaves only the ID of resources that a body of the network provider refers to. The SDK's models have
// them whole, as a Subnet in an IP configuration of a load balancer, so that clients send back everything that they
// read; only a write to the resource's own URL changes it. own is the resource being written: its children are part
// of the body. How Azure answers a reference with more than an ID is not recorded. That it ignores the rest follows
// from the answers, in which a reference has an ID only unless the request has $expand.
// https://learn.microsoft.com/en-us/rest/api/virtualnetwork/network-interfaces/get
func keepReferences(value any, own string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			keepReferences(item, own)
		}
	case body.Object:
		if id, _ := value["id"].(string); refersElsewhere(id, own) {
			for key := range value {
				if key != "id" {
					delete(value, key)
				}
			}
			return
		}
		for _, member := range value {
			keepReferences(member, own)
		}
	}
}

// refersElsewhere reports whether id is the ID of a resource outside of own.
func refersElsewhere(id, own string) bool {
	parsed, err := store.ParseID(id)
	return err == nil && !parsed.IsCollection() && parsed.Namespace != "" && !strings.EqualFold(parsed.Top().String(), own)
}
