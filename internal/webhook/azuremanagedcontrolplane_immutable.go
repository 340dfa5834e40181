package webhook

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

const immutableManaged = "cannot change after the AKS cluster was created; create a new one"

// ValidateAzureManagedControlPlaneUpdate checks a change of an AzureManagedControlPlane; both objects are defaulted. Errors about
// immutable fields come first, and errors that the stored object has, too, are left out. The Cluster is not needed, because no
// field that depends on its ranges can change.
func ValidateAzureManagedControlPlaneUpdate(old, c *infrav1.AzureManagedControlPlane) field.ErrorList {
	if errs := immutableControlPlane(old, c); len(errs) > 0 {
		return errs
	}
	return introducedErrors(ValidateAzureManagedControlPlane(old, nil), ValidateAzureManagedControlPlane(c, nil))
}

// immutableControlPlane refuses changes of values that AKS only accepts when it creates a cluster. A user can still change a value that the
// controller has not sent to Azure, for example if a condition reports that the value is invalid. CEL rules of the CRD cannot decide this,
// because they cannot read the annotations with the values that were sent.
func immutableControlPlane(old, c *infrav1.AzureManagedControlPlane) (errs field.ErrorList) {
	path, before, after := field.NewPath("spec"), &old.Spec, &c.Spec
	errs = append(errs, refuseDowngrade(path.Child("version"), before.Version, after.Version, old.Status.Version)...)
	if upgraded := old.Status.AutoUpgradeVersion; upgraded != "" && before.Version != after.Version &&
		isLowerVersion(after.Version, upgraded) {
		errs = append(errs, field.Invalid(path.Child("version"), after.Version,
			"must be at least "+upgraded+", to which AKS has upgraded the cluster by autoUpgradeProfile"))
	}
	if aks.NothingCreated(old) {
		return errs
	}
	errs = append(errs, refuseMove(before.SubscriptionID, after.SubscriptionID, path.Child("subscriptionID"), "subscriptions")...)
	errs = append(errs, refuseRegion(before.Location, after.Location, path.Child("location"))...)
	// Defaults that come from the Cluster's name are filled in once it is known, so an empty value may be set.
	errs = append(errs, filledOnce(before.ResourceGroupName, after.ResourceGroupName, path.Child("resourceGroupName"))...)
	errs = append(errs, filledOnce(before.NodeResourceGroupName, after.NodeResourceGroupName, path.Child("nodeResourceGroupName"))...)
	errs = append(errs, hideValues(refuseChange(before.SSHPublicKey, after.SSHPublicKey, path.Child("sshPublicKey"), immutableManaged))...)
	errs = append(errs, refuseChange(before.DNSPrefix, after.DNSPrefix, path.Child("dnsPrefix"), immutableManaged)...)
	if before.FleetsMember != nil && after.FleetsMember != nil {
		if name := before.FleetsMember.Name; name != "" && name != after.FleetsMember.Name {
			errs = append(errs, field.Invalid(path.Child("fleetsMember", "name"), after.FleetsMember.Name,
				"cannot change while the cluster is a member: remove fleetsMember, apply that, and add it with the new name"))
		}
	}
	return append(errs, immutableManagedClass(&before.AzureManagedControlPlaneClassSpec, &after.AzureManagedControlPlaneClassSpec, path)...)
}

// networkPlugin returns the network plugin of a cluster, or AKS's default.
func networkPlugin(class *infrav1.AzureManagedControlPlaneClassSpec) string {
	return cmp.Or(plan.Dereference(class.NetworkPlugin), infrav1.AzureNetworkPlugin)
}

// networkDataplane returns the data plane of a cluster, or AKS's default.
func networkDataplane(class *infrav1.AzureManagedControlPlaneClassSpec) string {
	return string(cmp.Or(plan.Dereference(class.NetworkDataplane), infrav1.NetworkDataplaneTypeAzure))
}

// immutableOverlay allows overlay to be turned on in a cluster without a network policy, and refuses to turn it off.
func immutableOverlay(before, after *infrav1.AzureManagedControlPlaneClassSpec, path *field.Path) field.ErrorList {
	switch {
	case defaults.IsOverlay(before.NetworkPluginMode) && !defaults.IsOverlay(after.NetworkPluginMode):
		return field.ErrorList{field.Forbidden(path, "overlay cannot be turned off")}
	case !defaults.IsOverlay(before.NetworkPluginMode) && defaults.IsOverlay(after.NetworkPluginMode) && isSet(before.NetworkPolicy):
		return field.ErrorList{field.Forbidden(path, "overlay cannot be turned on in a cluster with a networkPolicy")}
	}
	return nil
}

// immutablePodNetwork refuses network plugins and data planes that AKS cannot change to. It migrates kubenet to Azure CNI Overlay, and Azure's
// data plane to Cilium, and neither of them back.
// https://learn.microsoft.com/en-us/azure/aks/upgrade-aks-ipam-and-dataplane
func immutablePodNetwork(before, after *infrav1.AzureManagedControlPlaneClassSpec, path *field.Path) (errs field.ErrorList) {
	from, to := networkPlugin(before), networkPlugin(after)
	migrates := from == infrav1.KubenetNetworkPlugin && to == infrav1.AzureNetworkPlugin
	switch {
	case from == to, migrates && defaults.IsOverlay(after.NetworkPluginMode):
	case migrates:
		errs = append(errs, field.Forbidden(path.Child("networkPlugin"),
			"AKS migrates kubenet only to Azure CNI Overlay: set networkPluginMode to overlay, too"))
	default:
		errs = append(errs, field.Forbidden(path.Child("networkPlugin"),
			"AKS changes the network plugin of an existing cluster only from kubenet to azure with networkPluginMode overlay; create a new cluster"))
	}
	if cilium := string(infrav1.NetworkDataplaneTypeCilium); networkDataplane(before) == cilium && networkDataplane(after) != cilium {
		errs = append(errs, field.Forbidden(path.Child("networkDataplane"), "AKS cannot replace the data plane cilium of an existing cluster; create a new cluster"))
	}
	return append(errs, immutableOverlay(before, after, path.Child("networkPluginMode"))...)
}

// immutableManagedClass refuses the changes that neither clusters nor templates can make. Their kinds add rules of their own.
func immutableManagedClass(before, after *infrav1.AzureManagedControlPlaneClassSpec, path *field.Path) (errs field.ErrorList) {
	errs = append(errs, refuseMove(cmp.Or(before.AzureEnvironment, infrav1.PublicCloud), cmp.Or(after.AzureEnvironment, infrav1.PublicCloud),
		path.Child("azureEnvironment"), "clouds")...)
	if isIssuer(before.OIDCIssuerProfile) && !isIssuer(after.OIDCIssuerProfile) {
		errs = append(errs, field.Forbidden(path.Child("oidcIssuerProfile", "enabled"), "the OIDC issuer cannot be turned off again"))
	}
	for _, part := range []struct{ name, old, value string }{
		{"loadBalancerSKU", cmp.Or(plan.Dereference(before.LoadBalancerSKU), "Standard"), cmp.Or(plan.Dereference(after.LoadBalancerSKU), "Standard")},
		{"dnsServiceIP", plan.Dereference(before.DNSServiceIP), plan.Dereference(after.DNSServiceIP)},
	} {
		if part.old != part.value {
			errs = append(errs, field.Forbidden(path.Child(part.name), immutableManaged))
		}
	}
	network := path.Child("virtualNetwork")
	errs = append(errs, filledOnce(before.VirtualNetwork.Name, after.VirtualNetwork.Name, network.Child("name"))...)
	errs = append(errs, filledOnce(before.VirtualNetwork.ResourceGroup, after.VirtualNetwork.ResourceGroup, network.Child("resourceGroup"))...)
	errs = append(errs, filledOnce(before.VirtualNetwork.CIDRBlock, after.VirtualNetwork.CIDRBlock, network.Child("cidrBlock"))...)
	errs = append(errs, filledOnce(before.VirtualNetwork.Subnet.Name, after.VirtualNetwork.Subnet.Name, network.Child("subnet", "name"))...)
	errs = append(errs, filledOnce(before.VirtualNetwork.Subnet.CIDRBlock, after.VirtualNetwork.Subnet.CIDRBlock,
		network.Child("subnet", "cidrBlock"))...)
	errs = append(errs, immutablePodNetwork(before, after, path)...)
	if proxy := after.HTTPProxyConfig; before.HTTPProxyConfig != nil &&
		(proxy == nil || equality.Semantic.DeepEqual(*proxy, infrav1.HTTPProxyConfig{})) {
		errs = append(errs, field.Required(path.Child("httpProxyConfig"), "AKS can change a proxy and cannot remove it"))
	}
	// AKS can change both values, but keeps them if a request leaves them out:
	// https://learn.microsoft.com/en-us/azure/aks/use-network-policies,
	// https://learn.microsoft.com/en-us/azure/aks/egress-outboundtype
	if isSet(before.NetworkPolicy) && !isSet(after.NetworkPolicy) {
		errs = append(errs, field.Required(path.Child("networkPolicy"),
			`cannot be removed, because AKS removes a policy engine only for the value "none". Keep the field and add the patch {"spec":{"networkProfile":{"networkPolicy":"none"}}}`))
	}
	if before.OutboundType != nil && after.OutboundType == nil {
		errs = append(errs, field.Required(path.Child("outboundType"),
			"cannot be removed, because AKS keeps the old value. Set loadBalancer for AKS's default"))
	}
	errs = append(errs, immutablePrivateCluster(before.APIServerAccessProfile, after.APIServerAccessProfile,
		path.Child("apiServerAccessProfile"))...)
	errs = append(errs, immutableAAD(before.AADProfile, after.AADProfile, path.Child("aadProfile"))...)
	return append(errs, immutableExtensions(before.Extensions, after.Extensions, path.Child("extensions"))...)
}

// immutablePrivateCluster refuses to make a public cluster private or a private one public. A missing profile counts as an empty
// one.
func immutablePrivateCluster(before, after *infrav1.APIServerAccessProfile, path *field.Path) (errs field.ErrorList) {
	old, profile := cmp.Or(before, &infrav1.APIServerAccessProfile{}), cmp.Or(after, &infrav1.APIServerAccessProfile{})
	if isTrue(old.EnablePrivateCluster) != isTrue(profile.EnablePrivateCluster) {
		errs = append(errs, field.Forbidden(path.Child("enablePrivateCluster"), immutableManaged))
	}
	return append(errs, refuseChange(old.PrivateDNSZone, profile.PrivateDNSZone, path.Child("privateDNSZone"), immutableManaged)...)
}

func immutableAAD(before, after *infrav1.AADProfile, path *field.Path) (errs field.ErrorList) {
	switch {
	case before == nil:
		return nil
	case after == nil:
		return field.ErrorList{field.Required(path, "AKS cannot turn Microsoft Entra integration off again")}
	}
	if before.Managed && !after.Managed {
		errs = append(errs, field.Forbidden(path.Child("managed"), "AKS cannot turn Microsoft Entra integration off again"))
	}
	if len(before.AdminGroupObjectIDs) > 0 && len(after.AdminGroupObjectIDs) == 0 {
		errs = append(errs, field.Required(path.Child("adminGroupObjectIDs"),
			"the last group cannot be removed, because the cluster would have no administrators"))
	}
	return errs
}

// immutableExtensions compares extensions that have the same name before and after; extensions can be added and removed.
func immutableExtensions(before, after []infrav1.AKSExtension, path *field.Path) (errs field.ErrorList) {
	const immutable = "cannot change: remove the extension and add it again, or give it another name"
	for i, extension := range after {
		j := slices.IndexFunc(before, func(e infrav1.AKSExtension) bool { return e.Name == extension.Name })
		if j < 0 {
			continue
		}
		old, path := before[j], path.Index(i)
		errs = append(errs, refuseChange(old.ExtensionType, extension.ExtensionType, path.Child("extensionType"), immutable)...)
		errs = append(errs, refuseChange(old.ReleaseTrain, extension.ReleaseTrain, path.Child("releaseTrain"), immutable)...)
		if old.Version != nil && extension.Version != nil {
			errs = append(errs, refuseChange(old.Version, extension.Version, path.Child("version"), immutable)...)
		}
		for _, part := range []struct {
			name       string
			old, value any
		}{
			{"plan", old.Plan, extension.Plan},
			{"scope", old.Scope, extension.Scope},
			{"identity", old.Identity, extension.Identity},
		} {
			if !equality.Semantic.DeepEqual(part.old, part.value) {
				errs = append(errs, field.Forbidden(path.Child(part.name), immutable))
			}
		}
	}
	return errs
}

// refuseChange refuses to set, change or remove a value.
func refuseChange[T comparable](old, value *T, path *field.Path, reason string) field.ErrorList {
	switch {
	case old == nil && value == nil || old != nil && value != nil && *old == *value:
		return nil
	case value == nil:
		return field.ErrorList{field.Required(path, reason)}
	}
	return field.ErrorList{field.Invalid(path, *value, reason)}
}

// hideValues replaces the values in errors.
func hideValues(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		err.BadValue = plan.HiddenValue
	}
	return errs
}

// filledOnce refuses to change a value that is not empty.
func filledOnce(old, value string, path *field.Path) field.ErrorList {
	if old == "" || old == value {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, immutableManaged)}
}

// refuseDowngrade refuses a new version of a control plane below the one that AKS runs. The former version is not compared, so that a
// version which AKS refused can be corrected.
func refuseDowngrade(path *field.Path, before, after, running string) field.ErrorList {
	if running == "" || before == after || !isLowerVersion(after, running) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, after, "must be at least "+running+", which the control plane runs: AKS cannot downgrade")}
}

// isLowerVersion returns true if version a is below b. It returns false if either does not parse.
func isLowerVersion(a, b string) bool {
	x, errX := semver.ParseTolerant(a)
	y, errY := semver.ParseTolerant(b)
	return errX == nil && errY == nil && x.LT(y)
}
