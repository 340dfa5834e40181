package webhook

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// maxManagedClusterName is from https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules.
const maxManagedClusterName = 63

var (
	managedNamePattern    = regexp.MustCompile(`^[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?$`)
	dnsPrefixPattern      = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9-]{0,52}[a-zA-Z0-9]$`)
	managedVersionPattern = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)([-0-9a-zA-Z_.+]*)?$`)
	fleetMemberPattern    = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
)

// ValidateAzureManagedControlPlane checks a defaulted AzureManagedControlPlane. cluster is its Cluster, or nil if it is not known
// yet.
func ValidateAzureManagedControlPlane(c *infrav1.AzureManagedControlPlane, cluster *clusterv1.Cluster) (errs field.ErrorList) {
	spec, path := &c.Spec, field.NewPath("spec")
	errs = append(errs, validateManagedName(c.Name)...)
	errs = append(errs, validateNodeResourceGroup(c, path.Child("nodeResourceGroupName"))...)
	if spec.SSHPublicKey != nil {
		errs = append(errs, ValidateSSHPublicKey(*spec.SSHPublicKey, path.Child("sshPublicKey"))...)
	}
	if prefix := spec.DNSPrefix; prefix != nil && !dnsPrefixPattern.MatchString(*prefix) {
		errs = append(errs, field.Invalid(path.Child("dnsPrefix"), *prefix,
			"must be 2 to 54 letters, digits and '-', and begin and end with a letter or digit"))
	}
	if isUserAssigned(spec.Identity) && spec.Identity.UserAssignedIdentityResourceID == "" {
		errs = append(errs, field.Required(path.Child("identity", "userAssignedIdentityResourceID"),
			"type: UserAssigned needs the Azure resource ID of an identity"))
	}
	if member := spec.FleetsMember; member != nil && member.Name != "" && !fleetMemberPattern.MatchString(member.Name) {
		errs = append(errs, field.Invalid(path.Child("fleetsMember", "name"), member.Name,
			"must consist of lower-case letters, digits and '-', and begin and end with a letter or digit"))
	}
	errs = append(errs, validateManagedClass(&spec.AzureManagedControlPlaneClassSpec, path)...)
	return append(errs, validateClusterNetwork(spec.DNSServiceIP, cluster, path)...)
}

// validateManagedClass checks the fields that clusters and templates have in common.
func validateManagedClass(spec *infrav1.AzureManagedControlPlaneClassSpec, path *field.Path) (errs field.ErrorList) {
	if !managedVersionPattern.MatchString(spec.Version) {
		errs = append(errs, field.Invalid(path.Child("version"), spec.Version, "must be a Kubernetes version such as v1.33.2"))
	}
	errs = append(errs, validateManagedIdentityRef(spec, path.Child("identityRef"))...)
	errs = append(errs, validateManagedIdentity(spec.Identity, path.Child("identity", "userAssignedIdentityResourceID"))...)
	if isTrue(spec.DisableLocalAccounts) && spec.AADProfile == nil {
		errs = append(errs, field.Forbidden(path.Child("disableLocalAccounts"),
			"needs aadProfile. Without it and without local accounts no user could sign in"))
	}
	errs = append(errs, validateManagedNetwork(spec, path)...)
	errs = append(errs, validateLoadBalancerProfile(spec.LoadBalancerProfile, path.Child("loadBalancerProfile"))...)
	errs = append(errs, validateAPIServerAccess(spec, path.Child("apiServerAccessProfile"))...)
	errs = append(errs, validateAutoScalerProfile(spec.AutoScalerProfile, path.Child("autoscalerProfile"))...)
	errs = append(errs, validateAddons(spec.AddonProfiles, path.Child("addonProfiles"))...)
	errs = append(errs, validateManagedSecurity(spec, path.Child("securityProfile"))...)
	errs = append(errs, validateExtensions(spec.Extensions, path.Child("extensions"))...)
	if spec.KubeletUserAssignedIdentity != "" {
		errs = append(errs, validateResourceID(spec.KubeletUserAssignedIdentity, path.Child("kubeletUserAssignedIdentity"))...)
	}
	errs = append(errs, checkUserAssignedNeeds(spec, path)...)
	version := aso.APIVersionOf(spec.ASOManagedClusterPatches, isTrue(spec.EnablePreviewFeatures))
	return append(errs, aso.CheckPatches(aso.ManagedCluster, version, spec.ASOManagedClusterPatches,
		path.Child("asoManagedClusterPatches"))...)
}

// checkUserAssignedNeeds refuses settings that AKS accepts only of a cluster with a user-assigned identity, because the identity needs rights on
// resources of the user before the cluster exists. A template may leave out the ID of the identity.
// https://learn.microsoft.com/en-us/azure/aks/use-managed-identity,
// https://learn.microsoft.com/en-us/azure/aks/private-clusters#configure-a-private-dns-zone
func checkUserAssignedNeeds(spec *infrav1.AzureManagedControlPlaneClassSpec, path *field.Path) (errs field.ErrorList) {
	if isUserAssigned(spec.Identity) {
		return nil
	}
	for _, setting := range []struct {
		path *field.Path
		set  bool
	}{
		{path.Child("securityProfile", "azureKeyVaultKms"), spec.SecurityProfile != nil && spec.SecurityProfile.AzureKeyVaultKms != nil},
		{path.Child("kubeletUserAssignedIdentity"), spec.KubeletUserAssignedIdentity != ""},
		{path.Child("apiServerAccessProfile", "privateDNSZone"),
			spec.APIServerAccessProfile != nil && isZoneOfUser(plan.Dereference(spec.APIServerAccessProfile.PrivateDNSZone))},
	} {
		if setting.set {
			errs = append(errs, field.Forbidden(setting.path, "needs identity.type: UserAssigned"))
		}
	}
	return errs
}

// validateManagedName checks the name of the object, which is also the name of the AKS cluster.
func validateManagedName(name string) (errs field.ErrorList) {
	path := field.NewPath("metadata", "name")
	for _, reserved := range []string{"microsoft", "windows"} {
		if strings.Contains(strings.ToLower(name), reserved) {
			errs = append(errs, field.Invalid(path, name, fmt.Sprintf("must not contain %q, which Azure reserves", reserved)))
		}
	}
	switch {
	case len(name) > maxManagedClusterName:
		errs = append(errs, field.TooLong(path, name, maxManagedClusterName))
	case name != "" && !managedNamePattern.MatchString(name):
		errs = append(errs, field.Invalid(path, name,
			"is also the name of the AKS cluster. It must consist of letters, digits, '-' and '_', and begin and end with a letter or digit"))
	}
	return errs
}

func validateNodeResourceGroup(c *infrav1.AzureManagedControlPlane, path *field.Path) field.ErrorList {
	name := c.Spec.NodeResourceGroupName
	if name != defaults.NodeResourceGroupName(c) && utf8.RuneCountInString(name) > plan.MaxNodeResourceGroupName {
		return field.ErrorList{field.TooLong(path, name, plan.MaxNodeResourceGroupName)}
	}
	return nil
}

func validateManagedIdentityRef(spec *infrav1.AzureManagedControlPlaneClassSpec, path *field.Path) field.ErrorList {
	if spec.IdentityRef == nil {
		return field.ErrorList{field.Required(path.Child("name"), "set identityRef to an AzureClusterIdentity")}
	}
	return validateIdentityRef(spec.IdentityRef, path)
}

// validateIdentityRef validates a reference to an AzureClusterIdentity.
func validateIdentityRef(ref *corev1.ObjectReference, path *field.Path) field.ErrorList {
	switch {
	case ref.Name == "":
		return field.ErrorList{field.Required(path.Child("name"), "set identityRef to an AzureClusterIdentity")}
	case ref.Kind != "" && ref.Kind != "AzureClusterIdentity":
		return field.ErrorList{field.NotSupported(path.Child("kind"), ref.Kind, []string{"AzureClusterIdentity"})}
	}
	return nil
}

// validateManagedIdentity checks the ID of the cluster's identity. A template may leave it to a patch of the ClusterClass, because each cluster
// has an identity of its own.
func validateManagedIdentity(identity *infrav1.Identity, path *field.Path) field.ErrorList {
	switch {
	case identity == nil || identity.UserAssignedIdentityResourceID == "":
		return nil
	case !isUserAssigned(identity):
		return field.ErrorList{field.Forbidden(path, "needs type: UserAssigned")}
	}
	return validateResourceID(identity.UserAssignedIdentityResourceID, path)
}

func isUserAssigned(identity *infrav1.Identity) bool {
	return identity != nil && identity.Type == infrav1.ManagedControlPlaneIdentityTypeUserAssigned
}

// validateResourceID checks the shape of an Azure resource ID. The first slash may be missing.
func validateResourceID(id string, path *field.Path) field.ErrorList {
	given := id
	if strings.HasPrefix(strings.ToLower(id), "subscriptions/") {
		id = "/" + id
	}
	if _, err := arm.ParseID(id); err != nil {
		return field.ErrorList{field.Invalid(path, given, "must be an Azure resource ID: /subscriptions/…/resourceGroups/…/providers/…")}
	}
	return nil
}

func isKubenet(plugin *string) bool { return plugin != nil && *plugin == infrav1.KubenetNetworkPlugin }
