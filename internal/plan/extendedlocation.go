package plan

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ToExtendedLocation returns an edge zone in the form of SDK models, nil for the region itself.
func ToExtendedLocation(location *infrav1.ExtendedLocationSpec) *armnetwork.ExtendedLocation {
	if location == nil {
		return nil
	}
	return &armnetwork.ExtendedLocation{Name: new(location.Name), Type: new(armnetwork.ExtendedLocationTypes(location.Type))}
}
