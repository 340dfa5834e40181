package webhook

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

var (
	resourceGroupPattern   = regexp.MustCompile(`^[-\w._()]+$`)
	namePattern            = regexp.MustCompile(`^[-\w._]+$`)
	servicePattern         = regexp.MustCompile(`^Microsoft\.[a-zA-Z]{1,42}[a-zA-Z0-9]{0,42}$`)
	serviceLocationPattern = regexp.MustCompile(`^([a-z]{1,42}\d{0,5}|[*])$`)
	serviceIDPattern       = regexp.MustCompile(`(?i)subscriptions/(.+)/resourceGroups/(.+)/providers/(.+?)/(.+?)/(.+)`)
	dnsNamePattern         = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}(\.[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62})*[._]?$`)
)

const (
	nameRule          = "must consist of letters, digits, '-', '_' and '.'"
	resourceGroupRule = "must consist of letters, digits, '-', '_', '.' and parentheses"
	cidrRule          = "must be an address range such as 10.0.0.0/16"
)

func validateName(name string, path *field.Path) field.ErrorList {
	if !namePattern.MatchString(name) {
		return field.ErrorList{field.Invalid(path, name, nameRule)}
	}
	return nil
}

func validateResourceGroup(name string, path *field.Path) field.ErrorList {
	if name != "" && !resourceGroupPattern.MatchString(name) {
		return field.ErrorList{field.Invalid(path, name, resourceGroupRule)}
	}
	return nil
}

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

func contains(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, prefix := range prefixes {
		if prefix.Masked().Contains(addr) {
			return true
		}
	}
	return false
}

// subnetClass is what the subnets of clusters and of templates have in common.
type subnetClass struct {
	infrav1.SubnetClassSpec
	rules infrav1.SecurityRules
}

// validateSubnets checks subnets one by one, and their names and ranges together.
func validateSubnets(subnets []subnetClass, vnetBlocks []string, path *field.Path) (errs field.ErrorList) {
	vnet, _ := parseCIDRs(vnetBlocks, path)
	names := sets.New[string]()
	for i, subnet := range subnets {
		path := path.Index(i)
		errs = append(errs, validateName(subnet.Name, path.Child("name"))...)
		if names.Has(subnet.Name) {
			errs = append(errs, field.Duplicate(path.Child("name"), subnet.Name))
		}
		names.Insert(subnet.Name)
		prefixes, invalid := parseCIDRs(subnet.CIDRBlocks, path.Child("cidrBlocks"))
		errs = append(errs, invalid...)
		for j, prefix := range prefixes {
			if len(invalid) == 0 && !contains(vnet, prefix.Addr()) {
				errs = append(errs, field.Invalid(path.Child("cidrBlocks").Index(j), subnet.CIDRBlocks[j],
					fmt.Sprintf("must be within the address ranges of the virtual network: %s", strings.Join(vnetBlocks, ", "))))
			}
		}
		errs = append(errs, validateSecurityRules(subnet.rules, path.Child("securityGroup", "securityRules"))...)
	}
	return errs
}

func validateSecurityRules(rules infrav1.SecurityRules, path *field.Path) (errs field.ErrorList) {
	for i, rule := range rules {
		if rule.Priority < 100 || rule.Priority > 4096 {
			errs = append(errs, field.Invalid(path.Index(i).Child("priority"), rule.Priority, "must be between 100 and 4096"))
		}
		if rule.Source != nil && len(rule.Sources) > 0 {
			errs = append(errs, field.Forbidden(path.Index(i).Child("sources"), "source and sources exclude each other: put every source into sources"))
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
			errs = append(errs, field.Required(path.Child("service"), "name the service, for example Microsoft.Storage"))
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

func validatePrivateEndpoints(endpoints infrav1.PrivateEndpoints, blocks []string, path *field.Path) (errs field.ErrorList) {
	subnet, _ := parseCIDRs(blocks, path)
	for i, endpoint := range endpoints {
		path := path.Index(i)
		errs = append(errs, validateName(endpoint.Name, path.Child("name"))...)
		if len(endpoint.PrivateLinkServiceConnections) == 0 {
			errs = append(errs, field.Required(path.Child("privateLinkServiceConnections"), "name the service that the endpoint leads to"))
		}
		for j, connection := range endpoint.PrivateLinkServiceConnections {
			path := path.Child("privateLinkServiceConnections").Index(j)
			if connection.Name != "" {
				errs = append(errs, validateName(connection.Name, path.Child("name"))...)
			}
			if connection.PrivateLinkServiceID == "" {
				errs = append(errs, field.Required(path.Child("privateLinkServiceID"), "give the Azure resource ID of the service"))
			} else if !serviceIDPattern.MatchString(connection.PrivateLinkServiceID) {
				errs = append(errs, field.Invalid(path.Child("privateLinkServiceID"), connection.PrivateLinkServiceID, "must be an Azure resource ID: /subscriptions/…/resourceGroups/…/providers/…"))
			}
		}
		for j, address := range endpoint.PrivateIPAddresses {
			path := path.Child("privateIPAddresses").Index(j)
			errs = append(errs, validateAddress(address, subnet, blocks, "the subnet", path)...)
		}
	}
	return errs
}

// validateAddress checks that an address is one, and within the ranges of what.
func validateAddress(address string, within []netip.Prefix, blocks []string, what string, path *field.Path) field.ErrorList {
	addr, err := netip.ParseAddr(address)
	if err != nil {
		return field.ErrorList{field.Invalid(path, address, "must be an IP address")}
	}
	if !contains(within, addr) {
		return field.ErrorList{field.Invalid(path, address, fmt.Sprintf("must be within the address ranges of %s: %s", what, strings.Join(blocks, ", ")))}
	}
	return nil
}

func validatePrivateDNSZone(network infrav1.NetworkClassSpec, internal bool, path *field.Path) (errs field.ErrorList) {
	name := network.PrivateDNSZoneName
	if name != "" && !internal {
		errs = append(errs, field.Invalid(path.Child("privateDNSZoneName"), name, "is for clusters whose apiServerLB has the type Internal only"))
	}
	if name != "" && !isDNSName(name) {
		errs = append(errs, field.Invalid(path.Child("privateDNSZoneName"), name, "must be a DNS name"))
	}
	errs = append(errs, validateResourceGroup(network.PrivateDNSZoneResourceGroup, path.Child("privateDNSZoneResourceGroup"))...)
	if network.PrivateDNSZoneResourceGroup != "" && name == "" {
		errs = append(errs, field.Invalid(path.Child("privateDNSZoneResourceGroup"), network.PrivateDNSZoneResourceGroup, "needs privateDNSZoneName"))
	}
	return errs
}

func isDNSName(name string) bool {
	_, err := netip.ParseAddr(name)
	return err != nil && len(strings.ReplaceAll(name, ".", "")) <= 255 && dnsNamePattern.MatchString(name)
}
