package asoresource

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// Input is the input of the plan of the resource manifests of one object.
type Input struct {
	// Cluster is the name of the Cluster. Owner is the object whose owner ID distinguishes its resources from those of another
	// Cluster of that name.
	Cluster string
	Owner   metav1.Object
	// ObjectKey is the key of the object as in Manifest.DeclaredIn.
	Object    metav1.Object
	ObjectKey string

	Set
	Values aso.Values
	// UncheckedKinds are the kinds that may lack a definition, as values of aso.UncheckedKindsFlag.
	UncheckedKinds []string
	// PlainObjects are the manifests of the object that are not resources of Azure.
	PlainObjects []PlainObject

	// Version is the version of the object's ManagedCluster or agent pool, "" if only the manifests have one. ServiceCIDRs and PodCIDRs
	// are the CIDR blocks of the Cluster.
	Version                string
	ServiceCIDRs, PodCIDRs []string
	// PowerState is the one that annotations ask of the object's agent pool, "" for none.
	PowerState string
	// MachinePools are the MachinePools of the Cluster's pools by object key. A pool without one has no MachinePool yet.
	MachinePools map[string]*clusterv1.MachinePool
	// PoolUsers decide which of the Cluster's pools has an agent pool that several name.
	PoolUsers PoolUsers

	// Origins are the origins of the objects of the Cluster by object key. Leaving are the objects that are being deleted.
	Origins map[string]MigrationOrigin
	Leaving map[string]bool
	// ListedResources are the resources in the groups of GroupsToList, and the groups themselves, by the key of their ID. It is nil
	// for an object that this provider created.
	ListedResources map[string]ListedResource

	// Facts are the resources of ListNeededFacts as Azure shows them, by the key of their ID. Nil stands for a resource that does
	// not exist.
	Facts map[string]json.RawMessage
}

// observedResource returns a resource as Azure shows it.
func (in Input) observedResource(id arm.ID) json.RawMessage { return in.Facts[id.Key()] }

// ownershipTags returns the tags that mark the resources of the Cluster.
func (in Input) ownershipTags() map[string]string {
	out := map[string]string{infrav1.ClusterTagKey(in.Cluster): infrav1.TagOwned}
	if owner := ownership.OwnerTagValue(in.Owner, in.Cluster); owner != "" {
		out[infrav1.OwnerTag] = owner
	}
	return out
}

// IsDeclaredElsewhere reports whether another object of the Cluster, which is not being deleted, has a manifest of a resource. A manifest that
// only refers to the resource does not count.
func (in Input) IsDeclaredElsewhere(id arm.ID) bool {
	return slices.ContainsFunc(in.ManifestsOf(id), func(m Manifest) bool {
		return m.DeclaredIn != in.ObjectKey && !in.Leaving[m.DeclaredIn] && m.Annotations[PolicyAnnotation] != PolicySkip
	})
}

// OwnManifests returns the manifests of the object.
func (in Input) OwnManifests() []Manifest { return in.DeclaredBy(in.ObjectKey) }

// ListNeededFacts returns the resources whose state in Azure a plan needs: those of the object's manifests, and those of other
// manifests that are their parents or that they refer to.
func ListNeededFacts(in Input) []arm.ID {
	seen := map[string]bool{}
	var out []arm.ID
	add := func(id arm.ID) {
		if id != "" && id.Type() != "" && !seen[id.Key()] {
			seen[id.Key()] = true
			out = append(out, id)
		}
	}
	others := map[string]bool{}
	for _, m := range in.Manifests() {
		if id, err := in.ResourceID(m); err == nil && m.DeclaredIn != in.ObjectKey {
			others[id.Key()] = true
		}
	}
	for _, m := range in.OwnManifests() {
		id, err := in.ResourceID(m)
		if err != nil {
			continue
		}
		add(id)
		if others[id.Parent().Key()] || in.UsesLentIdentity() {
			add(id.Parent())
		}
		if in.UsesLentIdentity() {
			for _, ancestor := range append(selfAndAncestors(id), selfAndAncestors(id.Parent())...) {
				add(ancestor)
			}
		}
		for _, mentioned := range in.referencedIDs(m, id) {
			if others[mentioned.Key()] {
				add(mentioned)
			}
		}
	}
	return out
}

// referencedIDs returns the resources that a manifest refers to. A managed cluster is created with its pools, so their references
// are included.
func (in Input) referencedIDs(m Manifest, id arm.ID) []arm.ID {
	body, _ := in.TranslateManifest(m, nil)
	out := body.References
	if id.Type() == types.ManagedCluster && managedcluster.Observe(in.observedResource(id)).NeedsPools() {
		for _, pool := range in.listAgentPools(id) {
			body, _ := in.TranslateManifest(pool, nil)
			out = append(out, body.References...)
		}
	}
	if id.Type() == types.ManagedCluster {
		out = append(out, in.requiredRoleAssignments(id, body.References)...)
	}
	return append(out, in.impliedDependencies(id)...)
}

// dependentTypes are types whose resources depend on resources of another type with the same parent, without a reference. An update
// run includes the members that the fleet has at its creation, and Flux requires its extension:
// https://learn.microsoft.com/en-us/azure/kubernetes-fleet/concepts-update-orchestration
// https://learn.microsoft.com/en-us/azure/azure-arc/kubernetes/conceptual-gitops-flux2
var dependentTypes = map[string]string{
	"Microsoft.ContainerService/fleets/updateRuns":         types.FleetMember,
	"Microsoft.KubernetesConfiguration/fluxConfigurations": types.ClusterExtension,
}

// impliedDependencies returns the resources that a resource depends on by dependentTypes.
func (in Input) impliedDependencies(id arm.ID) []arm.ID {
	needed, ok := dependentTypes[id.Type()]
	if !ok {
		return nil
	}
	var out []arm.ID
	for _, m := range in.listChildren(id.Parent(), needed) {
		if other, err := in.ResourceID(m); err == nil {
			out = append(out, other)
		}
	}
	return out
}

// requiredRoleAssignments returns the role assignments of the identities of a managed cluster on other resources. AKS does not
// create a cluster whose identity lacks the rights that the cluster needs. The assignments refer to the principal of the identity by
// the ConfigMap that the identity's manifest exports it to.
func (in Input) requiredRoleAssignments(cluster arm.ID, mentioned []arm.ID) []arm.ID {
	principals := map[aso.KeyRef]bool{}
	var out []arm.ID
	for _, id := range mentioned {
		for _, m := range in.ManifestsOf(id) {
			principal := aso.ReadKeyRef(toObject(toObject(m.Spec["operatorSpec"])["configMaps"])["principalId"])
			if of, _ := m.ResourceType(); of != types.UserAssignedIdentity || principals[principal] {
				continue
			}
			principals[principal] = true
			for _, assignment := range in.roleAssignments[principal] {
				if id, err := in.ResourceID(assignment); err == nil && !id.IsWithin(cluster) {
					out = append(out, id)
				}
			}
		}
	}
	return out
}

// listAgentPools returns the manifests of the agent pools of a managed cluster that are the first of their objects.
func (in Input) listAgentPools(cluster arm.ID) []Manifest {
	var out []Manifest
	for _, m := range in.listChildren(cluster, types.AgentPool) {
		if in.isFirst(m) {
			out = append(out, m)
		}
	}
	return out
}

// ListReferencedKeys returns the keys of Secrets and ConfigMaps that the manifests of an object take values from. An empty key
// stands for the whole object.
func ListReferencedKeys(in Input) (secrets, configMaps []aso.KeyRef) {
	for _, m := range in.OwnManifests() {
		body, _ := in.TranslateManifest(m, nil)
		secrets = append(secrets, body.Secrets...)
		configMaps = append(configMaps, body.ConfigMaps...)
	}
	return secrets, configMaps
}

// APIVersions returns the api-versions of the manifests of the Cluster by resource type, and by ID where manifests of one type
// differ.
func APIVersions(set Set) map[string]string {
	out := map[string]string{}
	for _, m := range set.Manifests() {
		resourceType, _ := m.ResourceType()
		apiVersion, ok := m.APIVersion()
		if !ok {
			continue
		}
		if known, ok := out[resourceType]; !ok {
			out[resourceType] = apiVersion
		} else if known != apiVersion {
			if id, err := set.ResourceID(m); err == nil {
				out[string(id)] = apiVersion
			}
		}
	}
	return out
}
