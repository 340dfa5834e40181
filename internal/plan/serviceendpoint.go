package plan

import (
	"cmp"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// BuildServiceEndpoints returns the service endpoints of a subnet, sorted by name. The list is never nil.
func BuildServiceEndpoints(specs []infrav1.ServiceEndpointSpec) []*armnetwork.ServiceEndpointPropertiesFormat {
	out := []*armnetwork.ServiceEndpointPropertiesFormat{}
	sorted := slices.SortedFunc(slices.Values(specs), func(a, b infrav1.ServiceEndpointSpec) int { return cmp.Compare(a.Service, b.Service) })
	for _, endpoint := range sorted {
		out = append(out, &armnetwork.ServiceEndpointPropertiesFormat{Service: new(endpoint.Service),
			Locations: ToPointers(endpoint.Locations)})
	}
	return out
}
