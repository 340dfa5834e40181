package asoresource

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// imposeValue sets a field of a manifest to the value of a Cluster API object. It rejects a different value of the user.
func imposeValue(m Manifest, path []string, value, from string) *field.Error {
	if value == "" {
		return nil
	}
	at, spec := m.Path.Child("spec"), m.Spec
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
		return field.Invalid(at.Child(last), have,
			fmt.Sprintf("differs from %q, the value of %s. Leave it out here, or set the same value.", value, from))
	}
	spec[last] = value
	return nil
}

// completeManagedCluster completes the ManagedCluster of a control plane. It changes the manifest's spec, which is a copy.
func (in Input) completeManagedCluster(m Manifest, id arm.ID) field.ErrorList {
	var errs field.ErrorList
	add := func(err *field.Error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if _, ok := m.Spec["agentPoolProfiles"]; ok {
		add(field.Forbidden(m.Path.Child("spec", "agentPoolProfiles"),
			"must not be set. Create an AzureASOManagedMachinePool for each agent pool."))
	}
	add(imposeValue(m, []string{"kubernetesVersion"}, strings.TrimPrefix(in.Version, "v"), "spec.version of the AzureASOManagedControlPlane"))
	exists := len(in.observedResource(id)) > 0
	add(imposeBlocks(m, "serviceCidr", in.ServiceCIDRs, exists, "spec.clusterNetwork.services of the Cluster"))
	add(imposeBlocks(m, "podCidr", in.PodCIDRs, exists, "spec.clusterNetwork.pods of the Cluster"))
	return errs
}

// imposeBlocks sets a CIDR block of a manifest to the first one of the Cluster. More of them need a manifest that has the same list, because
// a cluster with two families of addresses needs ipFamilies, too. An existing cluster keeps its blocks: the established provider ignored the
// others.
// https://learn.microsoft.com/en-us/azure/aks/configure-dual-stack
func imposeBlocks(m Manifest, property string, blocks []string, exists bool, from string) *field.Error {
	if len(blocks) == 0 {
		return nil
	}
	if err := imposeValue(m, []string{"networkProfile", property}, blocks[0], from); err != nil || len(blocks) == 1 || exists {
		return err
	}
	list := property + "s"
	profile, _ := m.Spec["networkProfile"].(map[string]any)
	declared, _ := profile[list].([]any)
	if slices.EqualFunc(declared, blocks, func(value any, block string) bool { return value == block }) {
		return nil
	}
	return field.Invalid(m.Path.Child("spec", "networkProfile", list), declared, fmt.Sprintf("differs from %s, the value of %s. "+
		"For a cluster with IPv4 and IPv6, set the same list here, and ipFamilies to [IPv4, IPv6]. Otherwise leave one block in the Cluster.",
		strings.Join(blocks, ", "), from))
}

// setWantedVersion replaces the version in a manifest by the version to request. A manifest without one leaves it to AKS.
func setWantedVersion(m Manifest, key string, have version.Observed) {
	if wanted, ok := m.Spec[key].(string); ok && wanted != "" {
		m.Spec[key] = version.Wanted(have, wanted)
	}
}

// buildPoolProfiles returns the pools for the creation of a managed cluster.
func (in Input) buildPoolProfiles(cluster arm.ID, definition schema.Definition, body map[string]any) (profiles []any, blocked, refused string) {
	properties := toObject(body["properties"])
	if own, _ := properties["agentPoolProfiles"].([]any); len(own) > 0 {
		return own, "", "" // Only the first managed cluster of an object gets the pools of the Cluster.
	}
	var pools []managedcluster.NewPool
	for _, m := range in.listAgentPools(cluster) {
		id, err := in.ResourceID(m)
		if err != nil || in.findPoolOwner(m, id) != "" {
			continue
		}
		pool := managedcluster.NewPool{Holder: m.DeclaredIn, Name: m.AzureName(), HasMachinePool: in.MachinePools[m.DeclaredIn] != nil}
		pool.Mode, _ = m.Spec["mode"].(string)
		body, waits, errs := in.buildBody(m, id)
		pool.Blocked, pool.Refused = waits, in.versionTooNewReason(m, cluster)
		if len(errs) > 0 {
			pool.Refused = m.DeclaredIn + ": " + errs.ToAggregate().Error()
		}
		if properties, ok := body.Properties["properties"].(map[string]any); ok {
			pool.Properties = dropUnknownProperties(definition, properties)
		}
		pools = append(pools, pool)
	}
	return managedcluster.BuildProfiles(poolKind, pools, properties)
}

// poolKind is the kind of the objects with agent pools in messages.
const poolKind = "AzureASOManagedMachinePool"

// dropUnknownProperties removes the properties of a pool that only the api-version of its own manifest has. They are sent with the
// pool itself.
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
