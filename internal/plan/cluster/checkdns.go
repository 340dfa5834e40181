package cluster

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// domainLabel matches the domain name labels that Azure accepts for a public IP address:
// https://learn.microsoft.com/en-us/azure/virtual-network/ip-services/public-ip-addresses#domain-name-label
var domainLabel = regexp.MustCompile(`^[a-z][a-z0-9-]{1,61}[a-z0-9]$`)

// checkDNSNames refuses DNS names of public addresses that Azure refuses, and names of the API server that Azure would not resolve to the
// address. The name is in the endpoint of the Cluster, which cannot change later.
func checkDNSNames(in plan.ClusterInput) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	if lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB; lb != nil && lb.Type != infrav1.Internal && !plan.HasOwnEndpoint(in.AzureCluster) {
		i := slices.IndexFunc(lb.FrontendIPs, func(f infrav1.FrontendIP) bool { return f.PublicIP != nil })
		if i >= 0 { // The endpoint is the name of the first address.
			path := spec.Child("networkSpec", "apiServerLB", "frontendIPs").Index(i).Child("publicIP", "dnsName")
			errs = append(errs, checkEndpointName(in, plan.APIServerDNSName(in), path)...)
		}
	}
	visitSubnets(in, func(path *field.Path, subnet infrav1.SubnetSpec) {
		errs = append(errs, checkLabel(in, subnet.NatGateway.NatGatewayIP.DNSName, path.Child("natGateway", "ip", "dnsName"))...)
	})
	if bastion := in.AzureCluster.Spec.BastionSpec.AzureBastion; bastion != nil {
		errs = append(errs, checkLabel(in, bastion.PublicIP.DNSName, spec.Child("bastionSpec", "azureBastion", "publicIP", "dnsName"))...)
	}
	return errs
}

// checkEndpointName checks the name of the API server. A name in a domain of the user's is not checked, because the user creates its record.
func checkEndpointName(in plan.ClusterInput, name string, path *field.Path) field.ErrorList {
	_, domain, _ := strings.Cut(strings.ToLower(name), ".")
	switch want := plan.AddressDomain(in); {
	case domain == want:
		return checkLabel(in, name, path)
	case domain == "" || plan.IsAddressDomain(domain):
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("public addresses of this cluster have names in the domain %s: set it to <label>.%s", want, want))}
	}
	return nil
}

// checkLabel checks the first label of a name, "" for none: Azure registers it for the address.
func checkLabel(in plan.ClusterInput, name string, path *field.Path) field.ErrorList {
	label, _, _ := strings.Cut(strings.ToLower(name), ".")
	if name == "" || domainLabel.MatchString(label) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("Azure refuses the label %q: a label has 3 to 63 lower-case letters, digits and hyphens, "+
		"starts with a letter, and does not end with a hyphen. Set the field to <label>.%s", label, plan.AddressDomain(in)))}
}
