package plan

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// PeeringClasses returns the fields of peerings that templates have, too.
func PeeringClasses(peerings infrav1.VnetPeerings) []infrav1.VnetPeeringClassSpec {
	out := make([]infrav1.VnetPeeringClassSpec, len(peerings))
	for i := range peerings {
		out[i] = peerings[i].VnetPeeringClassSpec
	}
	return out
}

// CheckPeeringNames refuses peerings with two networks of one name, because the name of a peering contains the name of the other network and
// not its resource group. Azure ignores case. It also refuses peerings whose names are too long. vnet is the name of the cluster's network, ""
// if it is not known.
func CheckPeeringNames(vnet string, peerings []infrav1.VnetPeeringClassSpec, path *field.Path) (errs field.ErrorList) {
	seen := map[string]infrav1.VnetPeeringClassSpec{}
	for i, peering := range peerings {
		if length := len(vnet) + len(peeringInfix) + len(peering.RemoteVnetName); vnet != "" && length > MaxNameLength {
			errs = append(errs, field.Invalid(path.Index(i).Child("remoteVnetName"), peering.RemoteVnetName, fmt.Sprintf(
				"the name of a peering is <network>%s<other network>. This one has %d characters, and Azure accepts at most %d: set spec.networkSpec.vnet.name "+
					"to a shorter name, or peer with a network that has a shorter name", peeringInfix, length, MaxNameLength)))
		}
		name := strings.ToLower(peering.RemoteVnetName)
		first, again := seen[name]
		switch {
		case !again:
			seen[name] = peering
		case strings.EqualFold(first.ResourceGroup, peering.ResourceGroup):
			errs = append(errs, field.Duplicate(path.Index(i).Child("remoteVnetName"), peering.RemoteVnetName))
		default:
			errs = append(errs, field.Invalid(path.Index(i).Child("remoteVnetName"), peering.RemoteVnetName, fmt.Sprintf(
				"the network of this name in resource group %s has a peering, and the names of peerings contain the name of the network only: remove one of the two",
				cmp.Or(first.ResourceGroup, "of the cluster"))))
		}
	}
	return errs
}
