package webhook

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// vmWarnings returns warnings about deprecated and incomplete fields of a VM. Defaulting has already moved some deprecated fields, which
// therefore cause no warning.
func vmWarnings(spec *infrav1.VirtualMachineProfile, path string) (warnings admission.Warnings) {
	if spec.Image != nil && spec.Image.SharedGallery != nil {
		path += ".image.sharedGallery"
		warnings = append(warnings, path+" is deprecated: use computeGallery with subscriptionID and resourceGroup")
		warnings = append(warnings, incompletePlanWarning(spec.Image.SharedGallery, path)...)
	}
	return warnings
}

// incompletePlanWarning returns a warning if the purchase plan of an image is given in part. It is no rule, because neither this provider nor
// the established one sends such a plan, and VMs of images that need no plan work without it.
func incompletePlanWarning(image *infrav1.AzureSharedGalleryImage, path string) admission.Warnings {
	var missing []string
	for _, part := range []struct {
		name  string
		value *string
	}{{"publisher", image.Publisher}, {"offer", image.Offer}, {"sku", image.SKU}} {
		if part.value == nil {
			missing = append(missing, part.name)
		}
	}
	if len(missing) == 0 || len(missing) == 3 {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("%s: the purchase plan has no %s, so it is not sent, and Azure refuses a VM if its image needs a plan. "+
		"Set publisher, offer and sku, or remove them", path, strings.Join(missing, " and no "))}
}

// identityWarnings returns warnings about settings of an identity that are valid but deprecated, incomplete or risky.
func identityWarnings(_, i *infrav1.AzureClusterIdentity) (warnings admission.Warnings) {
	spec := i.Spec
	if spec.Type == infrav1.ManualServicePrincipal {
		warnings = append(warnings, "spec.type ManualServicePrincipal is deprecated: use ServicePrincipal in a new AzureClusterIdentity")
	}
	if spec.ResourceID != "" {
		warnings = append(warnings, "spec.resourceID is deprecated and has no effect")
	}
	switch spec.Type {
	case infrav1.ServicePrincipal, infrav1.ManualServicePrincipal:
		if spec.ClientSecret.Name == "" {
			warnings = append(warnings,
				"spec.clientSecret.name is empty: the identity cannot sign in without the Secret that has the client secret under the key clientSecret")
		}
	case infrav1.ServicePrincipalCertificate:
		if spec.ClientSecret.Name == "" && spec.CertPath == "" {
			warnings = append(warnings, "spec.clientSecret.name and spec.certPath are empty: the identity cannot sign in without a certificate")
		}
	case infrav1.UserAssignedIdentityCredential:
		if spec.UserAssignedIdentityCredentialsPath == "" {
			warnings = append(warnings,
				"spec.userAssignedIdentityCredentialsPath is empty: the identity cannot sign in without the file that has the credential")
		}
	}
	if spec.AllowedNamespaces == nil {
		warnings = append(warnings, "spec.allowedNamespaces is not set, so no namespace may use the identity: set it to {} for all")
	}
	if who := sharedWith(i); who != "" {
		warnings = append(warnings,
			"spec.allowedNamespaces: "+who+" can use the identity. They get "+shared[spec.Type]+". See docs/book/tenancy.md for the limits")
	}
	return warnings
}

// secretShared is the access that tenants get to a service principal with a secret: cloud-provider-azure on their machines signs in
// with it.
const secretShared = "its client secret in the azure.json of machines, which gives all permissions of the service principal in Azure from anywhere"

// actAs is the access that tenants get through an identity whose credential stays hidden from them.
const actAs = "clusters created with all its permissions in Azure, and administrators' kubeconfigs of its AKS clusters without the tag of another cluster"

// shared is the access that tenants get who share an identity, by type.
var shared = map[infrav1.IdentityType]string{
	infrav1.ServicePrincipal: secretShared, infrav1.ManualServicePrincipal: secretShared,
	infrav1.ServicePrincipalCertificate: actAs, infrav1.WorkloadIdentity: actAs, infrav1.UserAssignedMSI: actAs,
	infrav1.UserAssignedIdentityCredential: actAs,
}

// sharedWith names the users outside the identity's own namespace that a list or a selector lets use it. It returns "" if there are none,
// and for an identity that all namespaces may use: the templates have {}, and a normal creation causes no warning.
func sharedWith(i *infrav1.AzureClusterIdentity) string {
	allowed := i.Spec.AllowedNamespaces
	if allowed == nil {
		return ""
	}
	if s := allowed.Selector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
		return "all users who can create clusters in a namespace that the selector matches"
	}
	others := slices.DeleteFunc(slices.Clone(allowed.NamespaceList), func(namespace string) bool { return namespace == i.Namespace })
	if len(others) == 0 {
		return ""
	}
	return "all users who can create clusters in " + strings.Join(others, ", ")
}

// broughtNetworkWarning returns a warning about a virtual network in a resource group of its own. A typo in the name of an existing
// network creates a new one, which users only notice when connections fail. group and name are fields of the spec.
func broughtNetworkWarning(clusterGroup, group, name, path string) admission.Warnings {
	if name == "" || group == "" || strings.EqualFold(group, clusterGroup) {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("%s: if the virtual network %s exists in the resource group %s, it is used unchanged; otherwise it is created there. "+
		"Check both names if you want to use an existing network", path, name, group)}
}

// networkWarnings returns warnings about the virtual network of an AzureCluster that is created, or that gets another network. old
// is nil on creation.
func networkWarnings(old, c *infrav1.AzureCluster) admission.Warnings {
	vnet := c.Spec.NetworkSpec.Vnet
	if old != nil && old.Spec.NetworkSpec.Vnet.Name == vnet.Name && old.Spec.NetworkSpec.Vnet.ResourceGroup == vnet.ResourceGroup {
		return nil
	}
	return broughtNetworkWarning(c.Spec.ResourceGroup, vnet.ResourceGroup, vnet.Name, "spec.networkSpec.vnet")
}

// bastionPrefixLength is the length of the prefix of the smallest subnet that Microsoft supports for bastion hosts deployed since November 2021:
// https://learn.microsoft.com/en-us/azure/bastion/bastion-faq#subnet. A longer prefix causes a warning only, because Azure has created hosts in
// a /27 after that date: the acceptance tests in hashicorp/terraform-provider-azurerm#14968 and #22147.
const bastionPrefixLength = 26

// smallBastionWarning returns a warning if all IPv4 ranges of a new bastion host's subnet are smaller than Microsoft supports. path is the
// field of the subnet.
func smallBastionWarning(ranges []string, path string) admission.Warnings {
	small := false
	for _, block := range ranges {
		prefix, err := netip.ParsePrefix(block)
		if err != nil || !prefix.Addr().Is4() {
			continue
		}
		if prefix.Bits() <= bastionPrefixLength {
			return nil
		}
		small = true
	}
	if !small {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("%s.cidrBlocks: %s is smaller than /%d, the smallest subnet that Microsoft supports for new bastion hosts. "+
		"Set a larger range now, because it cannot change while the host exists", path, plan.ListRanges(ranges), bastionPrefixLength)}
}

// bastionWarnings returns warnings about a bastion host that an AzureCluster gets. old is nil on creation.
func bastionWarnings(old, c *infrav1.AzureCluster) admission.Warnings {
	bastion := c.Spec.BastionSpec.AzureBastion
	if bastion == nil || old != nil && old.Spec.BastionSpec.AzureBastion != nil {
		return nil
	}
	return smallBastionWarning(bastion.Subnet.CIDRBlocks, "spec.bastionSpec.azureBastion.subnet")
}

// templateBastionWarnings returns the same warnings for a template.
func templateBastionWarnings(t *infrav1.AzureClusterTemplate) admission.Warnings {
	bastion := t.Spec.Template.Spec.BastionSpec.AzureBastion
	if bastion == nil {
		return nil
	}
	return smallBastionWarning(bastion.Subnet.CIDRBlocks, "spec.template.spec.bastionSpec.azureBastion.subnet")
}

// managedNetworkWarnings returns the same warnings for an AKS cluster.
func managedNetworkWarnings(c *infrav1.AzureManagedControlPlane) admission.Warnings {
	network := c.Spec.VirtualNetwork
	return broughtNetworkWarning(c.Spec.ResourceGroupName, network.ResourceGroup, network.Name, "spec.virtualNetwork")
}
