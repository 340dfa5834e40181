package plan

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// CheckNATGateway refuses several zones of the NAT gateway of a subnet, which path leads to.
// https://learn.microsoft.com/en-us/azure/nat-gateway/nat-availability-zones
func CheckNATGateway(gateway infrav1.NatGateway, path *field.Path) field.ErrorList {
	if len(gateway.Zones) <= 1 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("zones"), strings.Join(gateway.Zones, ", "),
		"a NAT gateway is in one zone or in none: keep one zone, or use a subnet with a NAT gateway for each zone")}
}
