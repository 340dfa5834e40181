package asoresource

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// imposeValue gives a field of a document the value that Cluster API's object has; another value of the user is refused.
func imposeValue(d Manifest, path []string, value, from string) *field.Error {
	if value == "" {
		return nil
	}
	at, spec := d.Path.Child("spec"), d.Spec
	for _, key := range path[:len(path)-1] {
		at = at.Child(key)
		inner, ok := spec[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			spec[key] = inner
		}
		spec = inner
	}
	last := path[len(path)-1]
	if have, ok := spec[last]; ok && have != nil && have != value {
		return field.Invalid(at.Child(last), have, fmt.Sprintf("is %q by %s: leave it out here, or write that", value, from))
	}
	spec[last] = value
	return nil
}

// completeManagedCluster completes the ManagedCluster of a control plane. It changes the document's spec, which is a copy.
func (in Input) completeManagedCluster(d Manifest) field.ErrorList {
	var errs field.ErrorList
	add := func(err *field.Error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if _, ok := d.Spec["agentPoolProfiles"]; ok {
		add(field.Forbidden(d.Path.Child("spec", "agentPoolProfiles"), "every agent pool is an AzureASOManagedMachinePool"))
	}
	add(imposeValue(d, []string{"kubernetesVersion"}, strings.TrimPrefix(in.Version, "v"), "spec.version of the AzureASOManagedControlPlane"))
	add(imposeValue(d, []string{"networkProfile", "serviceCidr"}, in.ServiceCIDR, "spec.clusterNetwork.services of the Cluster"))
	add(imposeValue(d, []string{"networkProfile", "podCidr"}, in.PodCIDR, "spec.clusterNetwork.pods of the Cluster"))
	return errs
}

// buildPoolProfiles are the pools that a managed cluster without any is made with. AKS makes none without a pool.
func (in Input) buildPoolProfiles(cluster arm.ID, definition schema.Definition) (profiles []any, blocked, refused string) {
	var names []string
	byName := map[string]any{}
	for _, d := range in.listAgentPools(cluster) {
		id, err := in.ResourceID(d)
		if err != nil {
			continue
		}
		if in.MachinePools[d.DeclaredIn] == nil {
			return nil, fmt.Sprintf("waits for the MachinePool of %s: the cluster is made with all its pools", d.DeclaredIn), ""
		}
		body, blocked, errs := in.buildBody(d, id)
		if len(errs) > 0 {
			return nil, "", d.DeclaredIn + ": " + errs.ToAggregate().Error()
		}
		if blocked != "" {
			return nil, "waits for " + d.DeclaredIn + ": " + blocked, ""
		}
		profile, _ := body.Properties["properties"].(map[string]any)
		profile["name"] = d.AzureName()
		names = append(names, d.AzureName())
		byName[d.AzureName()] = dropUnknownProperties(definition, profile)
	}
	if len(names) == 0 {
		return nil, "waits for an AzureASOManagedMachinePool: AKS makes no cluster without a pool", ""
	}
	slices.Sort(names)
	for _, name := range names {
		profiles = append(profiles, byName[name])
	}
	return profiles, "", ""
}

// dropUnknownProperties is a pool without what only the api-version of its own document has: that is sent when the pool is.
func dropUnknownProperties(cluster schema.Definition, profile map[string]any) map[string]any {
	_, properties, _ := cluster.Body().Property("properties", nil)
	_, list, _ := properties.Property("agentPoolProfiles", nil)
	for key := range profile {
		if _, _, ok := list.Items().Property(key, nil); !ok {
			delete(profile, key)
		}
	}
	return profile
}

// wantedVersion is the version to ask for where an upgrade channel may have raised it: never one below what runs. asked is what Azure shows
// as asked for, which may be a minor version alone.
func wantedVersion(wanted, asked, current string) string {
	if wanted == "" {
		return ""
	}
	return aks.KeepVersionAlias(aks.HighestVersion(wanted, current), asked, current)
}
