package webhook

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

var (
	servicePattern         = regexp.MustCompile(`^Microsoft\.[a-zA-Z]{1,42}[a-zA-Z0-9]{0,42}(\.Global)?$`)
	serviceLocationPattern = regexp.MustCompile(`^([a-z]{1,42}\d{0,5}|[*])$`)
)

const (
	cidrRule = "must be an address range such as 10.0.0.0/16"
)

// parseCIDRs returns the address ranges that parse, and an error for each that does not.
func parseCIDRs(blocks []string, path *field.Path) (prefixes []netip.Prefix, errs field.ErrorList) {
	for i, block := range blocks {
		prefix, err := netip.ParsePrefix(block)
		if err != nil {
			errs = append(errs, field.Invalid(path.Index(i), block, cidrRule))
			continue
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, errs
}

// subnetClass has the fields that the subnets of clusters and of templates have in common.
type subnetClass struct {
	infrav1.SubnetClassSpec
	rules infrav1.SecurityRules
}

// validateNetworkClass checks the peerings and subnets of a virtual network, of a cluster or of a template. Networks of templates have no name.
func validateNetworkClass(name string, vnet *infrav1.VnetClassSpec, peerings []infrav1.VnetPeeringClassSpec, subnets []subnetClass,
	path *field.Path) field.ErrorList {
	return append(plan.CheckPeeringNames(name, peerings, path.Child("vnet", "peerings")), validateSubnets(subnets, vnet.CIDRBlocks, path.Child("subnets"))...)
}

// validateSubnets checks that subnets are within their network, their security rules and their endpoints. It ignores ranges that do not parse,
// because the CRD refuses them.
func validateSubnets(subnets []subnetClass, vnetBlocks []string, path *field.Path) (errs field.ErrorList) {
	parsed, _ := parseCIDRs(vnetBlocks, path)
	vnet := plan.NewRangeSet(parsed)
	for i, subnet := range subnets {
		path := path.Index(i)
		for j, block := range subnet.CIDRBlocks {
			if prefix, err := netip.ParsePrefix(block); err == nil && !vnet.ContainsAddress(prefix.Addr()) {
				errs = append(errs, field.Invalid(path.Child("cidrBlocks").Index(j), block,
					fmt.Sprintf("must be within the address ranges of the virtual network: %s", plan.ListRanges(vnetBlocks))))
			}
		}
		errs = append(errs, validateSubnetParts(subnet, path)...)
	}
	return errs
}

// validateSubnetParts checks the security rules and the endpoints of a subnet.
func validateSubnetParts(subnet subnetClass, path *field.Path) field.ErrorList {
	errs := validateSecurityRules(subnet.rules, path.Child("securityGroup", "securityRules"))
	errs = append(errs, validateServiceEndpoints(subnet.ServiceEndpoints, path.Child("serviceEndpoints"))...)
	return append(errs, validatePrivateEndpoints(subnet.PrivateEndpoints, subnet.CIDRBlocks, path.Child("privateEndpoints"))...)
}

// validateBastionSubnet checks the subnet of a bastion host. A subnet that is smaller than Microsoft supports for new hosts causes a warning.
func validateBastionSubnet(subnet subnetClass, path *field.Path) field.ErrorList {
	errs := validateSubnetParts(subnet, path)
	if subnet.Name != "" && !strings.EqualFold(subnet.Name, plan.BastionSubnet) {
		// https://learn.microsoft.com/en-us/azure/bastion/configuration-settings#subnet
		errs = append(errs, field.Invalid(path.Child("name"), subnet.Name, "Azure requires the name "+plan.BastionSubnet+": remove the field, or set it to that name"))
	}
	return errs
}

func validateSecurityRules(rules infrav1.SecurityRules, path *field.Path) (errs field.ErrorList) {
	for i, rule := range rules {
		if rule.Source != nil && len(rule.Sources) > 0 {
			errs = append(errs, field.Forbidden(path.Index(i).Child("sources"),
				"source and sources exclude each other: put every source into sources"))
		}
	}
	return errs
}

func validateServiceEndpoints(endpoints infrav1.ServiceEndpoints, path *field.Path) (errs field.ErrorList) {
	services := sets.New[string]()
	for i, endpoint := range endpoints {
		path := path.Index(i)
		switch {
		case endpoint.Service == "":
			errs = append(errs, field.Required(path.Child("service"), "set the service, for example Microsoft.Storage"))
		case services.Has(endpoint.Service):
			errs = append(errs, field.Duplicate(path.Child("service"), endpoint.Service))
		case !servicePattern.MatchString(endpoint.Service):
			errs = append(errs, field.Invalid(path.Child("service"), endpoint.Service, "must be a service such as Microsoft.Storage"))
		}
		services.Insert(endpoint.Service)
		if len(endpoint.Locations) == 0 {
			errs = append(errs, field.Required(path.Child("locations"), `name regions, or "*" for all`))
		}
		locations := sets.New[string]()
		for j, location := range endpoint.Locations {
			switch {
			case locations.Has(location):
				errs = append(errs, field.Duplicate(path.Child("locations").Index(j), location))
			case !serviceLocationPattern.MatchString(location):
				errs = append(errs, field.Invalid(path.Child("locations").Index(j), location, `must be a region such as westeurope, or "*"`))
			}
			locations.Insert(location)
		}
	}
	return errs
}

// validatePrivateEndpoints checks that the addresses of endpoints are within the ranges of their subnet, and that Azure can assign them.
func validatePrivateEndpoints(endpoints infrav1.PrivateEndpoints, blocks []string, path *field.Path) (errs field.ErrorList) {
	parsed, _ := parseCIDRs(blocks, path)
	subnet := plan.NewRangeSet(parsed)
	for i, endpoint := range endpoints {
		errs = append(errs, plan.CheckPrivateEndpoint(endpoint, path.Index(i))...)
		for j, address := range endpoint.PrivateIPAddresses {
			path := path.Index(i).Child("privateIPAddresses").Index(j)
			errs = append(errs, validateAddress(address, subnet, blocks, "the subnet", path)...)
		}
	}
	return errs
}

// validateAddress checks that an address parses and is within the given ranges. The message names their owner, what.
func validateAddress(address string, within plan.RangeSet, blocks []string, what string, path *field.Path) field.ErrorList {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return field.ErrorList{field.Invalid(path, address, "must be an IP address")}
	}
	if !within.ContainsAddress(addr) {
		return field.ErrorList{field.Invalid(path, address,
			fmt.Sprintf("must be within the address ranges of %s: %s", what, plan.ListRanges(blocks)))}
	}
	return nil
}
