package asoresource

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// Input is what the plan of the documents of one object is computed from.
type Input struct {
	// Cluster is the name of the Cluster, Owner the object with what tells its resources from those of another one of that name.
	Cluster string
	Owner   metav1.Object
	// Object is the object, and Holder it as its documents name it.
	Object    metav1.Object
	ObjectKey string

	Set
	Values Values
	// PlainObjects are the documents of the object that are no resources of Azure.
	PlainObjects []PlainObject

	// Version is the version of the object's ManagedCluster or agent pool, "" where the documents say it; Services and Pods are
	// the Cluster's CIDR blocks.
	Version              string
	ServiceCIDR, PodCIDR string
	// MachinePools are those of the pools of the Cluster, by holder. A pool without one is not there yet.
	MachinePools map[string]*clusterv1.MachinePool

	// Origins are those of the objects of the Cluster, by holder.
	Origins map[string]Origin
	// ListedResources are the resources in the groups that Datable names, and the groups themselves, by the key of their ID. It is nil for an
	// object of this provider.
	ListedResources map[string]ListedResource

	// Facts are what Azure has of the resources that Needs names, by the key of their ID; nil is for what does not exist.
	Facts map[string]json.RawMessage
}

// observedResource is a resource as Azure has it.
func (in Input) observedResource(id arm.ID) json.RawMessage { return in.Facts[id.Key()] }

// ownershipTags are the tags by which the Cluster's resources are known.
func (in Input) ownershipTags() map[string]string {
	out := map[string]string{infrav1.ClusterTagKey(in.Cluster): infrav1.TagOwned}
	if owner := ownership.Value(in.Owner, in.Cluster); owner != "" {
		out[infrav1.OwnerTag] = owner
	}
	return out
}

// OwnManifests are the documents of the object.
func (in Input) OwnManifests() []Manifest { return in.DeclaredBy(in.ObjectKey) }

// ListNeededFacts are the resources of which a plan wants to know what Azure has: those of the object's documents, and those of other
// documents that they are below or refer to.
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
	for _, d := range in.Manifests() {
		if id, err := in.ResourceID(d); err == nil && d.DeclaredIn != in.ObjectKey {
			others[id.Key()] = true
		}
	}
	for _, d := range in.OwnManifests() {
		id, err := in.ResourceID(d)
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
		for _, mentioned := range in.referencedIDs(d, id) {
			if others[mentioned.Key()] {
				add(mentioned)
			}
		}
	}
	return out
}

// referencedIDs are the resources that a document refers to. A managed cluster is made with its pools, and so with what those refer to.
func (in Input) referencedIDs(d Manifest, id arm.ID) []arm.ID {
	body, _ := in.TranslateManifest(d, nil)
	out := body.References
	if id.Type() == types.ManagedCluster && len(aks.ObserveCluster(in.observedResource(id)).Properties.AgentPoolProfiles) == 0 {
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

// dependentTypes are the types whose resources work with those of another type beside them, without naming one. A run takes the members that
// the fleet has when the run is made, and there is no Flux without its extension:
// https://learn.microsoft.com/en-us/azure/kubernetes-fleet/concepts-update-orchestration
// https://learn.microsoft.com/en-us/azure/azure-arc/kubernetes/conceptual-gitops-flux2
var dependentTypes = map[string]string{
	"Microsoft.ContainerService/fleets/updateRuns":         types.FleetMember,
	"Microsoft.KubernetesConfiguration/fluxConfigurations": types.ClusterExtension,
}

// impliedDependencies are the resources of documents beside one that comes later than theirs.
func (in Input) impliedDependencies(id arm.ID) []arm.ID {
	needed, ok := dependentTypes[id.Type()]
	if !ok {
		return nil
	}
	var out []arm.ID
	for _, d := range in.listChildren(id.Parent(), needed) {
		if other, err := in.ResourceID(d); err == nil {
			out = append(out, other)
		}
	}
	return out
}

// requiredRoleAssignments are the role assignments of the identities of a managed cluster, on what is there before it: AKS makes no cluster
// whose identity may not do what the cluster asks of it. They name the identity's principal by the ConfigMap that its document has
// it written into.
func (in Input) requiredRoleAssignments(cluster arm.ID, mentioned []arm.ID) []arm.ID {
	principals := map[KeyRef]bool{}
	var out []arm.ID
	for _, id := range mentioned {
		for _, d := range in.ManifestsOf(id) {
			principal := readDestination(toObject(toObject(d.Spec["operatorSpec"])["configMaps"])["principalId"])
			if of, _ := d.ResourceType(); of != types.UserAssignedIdentity || principals[principal] {
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

// listAgentPools are the documents of the agent pools of a managed cluster that objects of pools have first.
func (in Input) listAgentPools(cluster arm.ID) []Manifest {
	var out []Manifest
	for _, d := range in.listChildren(cluster, types.AgentPool) {
		if in.isFirst(d) {
			out = append(out, d)
		}
	}
	return out
}

// ListReferencedKeys are the keys of Secrets and ConfigMaps that the documents of an object take values from. A key "" is for all of one.
func ListReferencedKeys(in Input) (secrets, configMaps []KeyRef) {
	for _, d := range in.OwnManifests() {
		body, _ := in.TranslateManifest(d, nil)
		secrets = append(secrets, body.Secrets...)
		configMaps = append(configMaps, body.ConfigMaps...)
	}
	return secrets, configMaps
}

// APIVersions are the api-versions of the documents of the Cluster, by resource type, and by ID where two of one type differ.
func APIVersions(set Set) map[string]string {
	out := map[string]string{}
	for _, d := range set.Manifests() {
		resourceType, _ := d.ResourceType()
		apiVersion, ok := d.APIVersion()
		if !ok {
			continue
		}
		if known, ok := out[resourceType]; !ok {
			out[resourceType] = apiVersion
		} else if known != apiVersion {
			if id, err := set.ResourceID(d); err == nil {
				out[string(id)] = apiVersion
			}
		}
	}
	return out
}
