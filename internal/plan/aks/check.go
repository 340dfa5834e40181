package aks

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
)

// CheckSpec returns the errors in the spec of the control plane, given the facts from Azure. Every message names the field, its
// value, the problem and the remedy. Do not plan while there are errors.
func CheckSpec(in Input) field.ErrorList {
	path := field.NewPath("spec")
	errs := checkVersion(path.Child("version"), in.ControlPlane.Spec.Version)
	errs = append(errs, checkSSHKey(in, path.Child("sshPublicKey"))...)
	errs = append(errs, checkIdentity(in, path.Child("identity"))...)
	errs = append(errs, checkClusterNetwork(in, path)...)
	errs = append(errs, checkNetwork(in, path.Child("virtualNetwork"))...)
	errs = append(errs, checkOutboundIPs(in, path.Child("loadBalancerProfile"))...)
	errs = append(errs, checkUniqueNames(in, path)...)
	errs = append(errs, plan.CheckTagCount(buildClusterTags(in, managedcluster.Observe(in.Facts.Cluster)), "the AKS cluster",
		path.Child("additionalTags"))...)
	return append(errs, aso.CheckPatches(aso.ManagedCluster, APIVersion(in), in.ControlPlane.Spec.ASOManagedClusterPatches,
		aso.PatchField(aso.ManagedCluster))...)
}

func checkVersion(path *field.Path, version string) field.ErrorList {
	if _, err := semver.ParseTolerant(version); err != nil {
		return field.ErrorList{field.Invalid(path, version, "is not a version such as v1.33.2")}
	}
	return nil
}

func checkSSHKey(in Input, path *field.Path) field.ErrorList {
	key := plan.Dereference(in.ControlPlane.Spec.SSHPublicKey)
	if _, err := base64.StdEncoding.DecodeString(key); err != nil {
		return field.ErrorList{field.Invalid(path, plan.HiddenValue, `is not base64: set it to the output of: base64 < ~/.ssh/id_rsa.pub | tr -d '\n'`)}
	}
	return nil
}

func checkIdentity(in Input, path *field.Path) field.ErrorList {
	identity := in.ControlPlane.Spec.Identity
	if identity == nil || string(identity.Type) != "UserAssigned" || identity.UserAssignedIdentityResourceID != "" {
		return nil
	}
	return field.ErrorList{field.Required(path.Child("userAssignedIdentityResourceID"),
		"an identity of type UserAssigned needs the resource ID of one")}
}

// checkClusterNetwork checks the CIDR blocks of services and pods of the Cluster, and spec.dnsServiceIP against them.
func checkClusterNetwork(in Input, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	services, pods := clusterCIDRBlocks(in)
	network := field.NewPath("Cluster", "spec", "clusterNetwork")
	for name, blocks := range map[string][]string{"pods": pods, "services": services} {
		here := network.Child(name, "cidrBlocks")
		if len(blocks) > 1 {
			errs = append(errs, field.TooMany(here, len(blocks), 1))
		}
		for i, block := range blocks {
			if _, err := netip.ParsePrefix(block); err != nil {
				errs = append(errs, field.Invalid(here.Index(i), block, "is not a CIDR block such as 10.96.0.0/16"))
			}
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	address := plan.Dereference(in.ControlPlane.Spec.DNSServiceIP)
	if address == "" || len(errs) > 0 {
		return errs
	}
	if len(services) == 0 {
		return field.ErrorList{field.Invalid(path.Child("dnsServiceIP"), address,
			fmt.Sprintf("needs the range it is in: set %s, or remove it", network.Child("services", "cidrBlocks")))}
	}
	ip, err := netip.ParseAddr(address)
	if prefix, _ := netip.ParsePrefix(services[0]); err != nil || !prefix.Contains(ip) {
		return field.ErrorList{field.Invalid(path.Child("dnsServiceIP"), address,
			fmt.Sprintf("is not an address of the services %s", services[0]))}
	}
	return nil
}

// checkOutboundIPs rejects more than one kind of outbound addresses. AKS accepts one kind, and its error does not name the conflict.
func checkOutboundIPs(in Input, path *field.Path) field.ErrorList {
	profile := in.ControlPlane.Spec.LoadBalancerProfile
	if profile == nil {
		return nil
	}
	var kinds []string
	if profile.ManagedOutboundIPs != nil {
		kinds = append(kinds, "managedOutboundIPs")
	}
	if len(profile.OutboundIPPrefixes) > 0 {
		kinds = append(kinds, "outboundIPPrefixes")
	}
	if len(profile.OutboundIPs) > 0 {
		kinds = append(kinds, "outboundIPs")
	}
	if len(kinds) < 2 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "has "+strings.Join(kinds, " and ")+": keep one of them")}
}

// checkUniqueNames rejects two entries of a list with one name, because one of them would be ignored.
func checkUniqueNames(in Input, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	unique := func(path *field.Path, count int, name func(i int) string) {
		seen := map[string]bool{}
		for i := range count {
			key := strings.ToLower(name(i))
			if seen[key] {
				errs = append(errs, field.Duplicate(path.Index(i).Child("name"), name(i)))
			}
			seen[key] = true
		}
	}
	spec := in.ControlPlane.Spec
	unique(path.Child("addonProfiles"), len(spec.AddonProfiles), func(i int) string { return spec.AddonProfiles[i].Name })
	unique(path.Child("extensions"), len(spec.Extensions), func(i int) string { return spec.Extensions[i].Name })
	endpoints := spec.VirtualNetwork.Subnet.PrivateEndpoints
	where := path.Child("virtualNetwork", "subnet", "privateEndpoints")
	unique(where, len(endpoints), func(i int) string { return endpoints[i].Name })
	for i, endpoint := range endpoints {
		errs = append(errs, plan.CheckPrivateEndpoint(endpoint, where.Index(i))...)
	}
	return errs
}
