package webhook

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// deprecated warns about deprecated fields of a VM. Those that defaulting moves are not seen here any more.
func deprecated(spec *infrav1.VirtualMachineProfile, path string) (warnings admission.Warnings) {
	if spec.Image != nil && spec.Image.SharedGallery != nil {
		warnings = append(warnings, path+".image.sharedGallery is deprecated: use computeGallery with subscriptionID and resourceGroup")
	}
	return warnings
}

// identityWarnings tell what of an identity is odd, but works or may work later.
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
			warnings = append(warnings, "spec.clientSecret.name is empty: the identity cannot sign in without the Secret that has the client secret under the key clientSecret")
		}
	case infrav1.ServicePrincipalCertificate:
		if spec.ClientSecret.Name == "" && spec.CertPath == "" {
			warnings = append(warnings, "spec.clientSecret.name and spec.certPath are empty: the identity cannot sign in without a certificate")
		}
	case infrav1.UserAssignedIdentityCredential:
		if spec.UserAssignedIdentityCredentialsPath == "" {
			warnings = append(warnings, "spec.userAssignedIdentityCredentialsPath is empty: the identity cannot sign in without the file that has the credential")
		}
	}
	if spec.AllowedNamespaces == nil {
		warnings = append(warnings, "spec.allowedNamespaces is not set, so no namespace may use the identity: set it to {} for all")
	}
	if who := sharedWith(i); who != "" {
		warnings = append(warnings, "spec.allowedNamespaces: "+who+" can use the identity, and gets "+shared[spec.Type]+"; docs/book/tenancy.md says what holds")
	}
	return warnings
}

// secretShared is what tenants get of a service principal with a secret: cloud-provider-azure on their machines signs in as it.
const secretShared = "its client secret in the azure.json of machines, and with it all that the service principal may do in Azure, from anywhere"

// actAs is what tenants get of an identity whose credential they do not get to see.
const actAs = "clusters made with all that it may do in Azure, and administrators' kubeconfigs of its AKS clusters that carry no tag of another cluster"

// shared is what tenants get who share an identity of a type.
var shared = map[infrav1.IdentityType]string{
	infrav1.ServicePrincipal: secretShared, infrav1.ManualServicePrincipal: secretShared,
	infrav1.ServicePrincipalCertificate: actAs, infrav1.WorkloadIdentity: actAs, infrav1.UserAssignedMSI: actAs,
	infrav1.UserAssignedIdentityCredential: actAs,
}

// sharedWith says who may use an identity beside objects of its own namespace, "" for nobody.
func sharedWith(i *infrav1.AzureClusterIdentity) string {
	allowed := i.Spec.AllowedNamespaces
	if allowed == nil {
		return ""
	}
	if allowed.NamespaceList == nil && allowed.Selector == nil {
		return "everybody who can make clusters in any namespace"
	}
	if s := allowed.Selector; s != nil && len(s.MatchLabels)+len(s.MatchExpressions) > 0 {
		return "everybody who can make clusters in a namespace that the selector matches"
	}
	others := slices.DeleteFunc(slices.Clone(allowed.NamespaceList), func(namespace string) bool { return namespace == i.Namespace })
	if len(others) == 0 {
		return ""
	}
	return "everybody who can make clusters in " + strings.Join(others, ", ")
}

// broughtNetworkWarning tells what becomes of a virtual network in a resource group of its own. Whoever brings one and writes
// its name wrongly gets a new one, which is only seen when something in it cannot reach what it should. group and network are
// fields of the spec.
func broughtNetworkWarning(clusterGroup, group, name, path string) admission.Warnings {
	if name == "" || group == "" || strings.EqualFold(group, clusterGroup) {
		return nil
	}
	return admission.Warnings{fmt.Sprintf("%s: the virtual network %s in the resource group %s is used as it is if it exists; if not, it is made there. "+
		"Check both names if it is one of your own", path, name, group)}
}

// networkWarnings are about the virtual network of an AzureCluster that is made or gets another network; old is nil for one
// that is made.
func networkWarnings(old, c *infrav1.AzureCluster) admission.Warnings {
	vnet := c.Spec.NetworkSpec.Vnet
	if old != nil && old.Spec.NetworkSpec.Vnet.Name == vnet.Name && old.Spec.NetworkSpec.Vnet.ResourceGroup == vnet.ResourceGroup {
		return nil
	}
	return broughtNetworkWarning(c.Spec.ResourceGroup, vnet.ResourceGroup, vnet.Name, "spec.networkSpec.vnet")
}

// managedNetworkWarnings are networkWarnings of an AKS cluster.
func managedNetworkWarnings(c *infrav1.AzureManagedControlPlane) admission.Warnings {
	network := c.Spec.VirtualNetwork
	return broughtNetworkWarning(c.Spec.ResourceGroupName, network.ResourceGroup, network.Name, "spec.virtualNetwork")
}
