package aks

import (
	"errors"
	"fmt"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
)

// BuildPlan returns the desired state of an AKS cluster without its pools, and the values that patches export to Secrets and
// ConfigMaps of the management cluster. An error means an inconsistent graph, which is a bug and not invalid input.
func BuildPlan(in Input) (*arm.Graph, aso.Exports, error) {
	g := &arm.Graph{}
	addResourceGroups(in, g)
	addVirtualNetwork(in, g)
	addSubnet(in, g)
	exports := addManagedCluster(in, g)
	addPrivateEndpoints(in, g)
	addFleetMember(in, g)
	addExtensions(in, g)
	LastApplied(in).AddRemovals(g)
	return g, exports, g.Validate()
}

// addManagedCluster adds the managed cluster. Its creation includes all pools. Later updates leave the pools out.
func addManagedCluster(in Input, g *arm.Graph) aso.Exports {
	have := managedcluster.Observe(in.Facts.Cluster)
	node := arm.Node{
		ID:             ClusterID(in),
		Policy:         arm.Repair,
		Foreign:        arm.AdoptForeign,
		PlannedWithTag: needsOwnerTag(in, have),
		Group:          infrav1.ManagedClusterRunningCondition,
	}
	if !hasNetworkOfAKS(in) {
		node.After = []arm.ID{SubnetID(in)}
	}
	body, exports, err := buildClusterBody(in, have)
	if err != nil {
		node.Blocked, node.Refused = classifyPatchError(err)
		g.Add(node)
		return aso.Exports{}
	}
	managedcluster.SetBody(&node, LastApplied(in), APIVersion(in), have, body)
	if have.NeedsPools() {
		addPoolProfiles(in, have, &node)
	} else if jsonpath.Get(have.Body(), outboundTypePath) != jsonpath.Get(node.Body, outboundTypePath) {
		// Running nodes would lose their outbound connection.
		node.Blocked = missingAttachmentReason(in)
	}
	g.Add(node)
	return exports
}

// buildClusterBody returns the body of the managed cluster without pools: the values of the spec, overridden by its patches, then by
// the tags. An error is one of ApplyPatches.
func buildClusterBody(in Input, have managedcluster.Observed) (map[string]any, aso.Exports, error) {
	body, err := toJSONObject(buildClusterModel(in, have))
	if err != nil {
		return nil, aso.Exports{}, err
	}
	patched, err := aso.ApplyPatches(aso.ManagedCluster, APIVersion(in), body, in.ControlPlane.Spec.ASOManagedClusterPatches, in.Secrets)
	if err != nil {
		return nil, aso.Exports{}, err
	}
	body = patched.Body
	if jsonpath.Get(body, "properties.fqdnSubdomain") != nil && in.ControlPlane.Spec.DNSPrefix != nil &&
		*in.ControlPlane.Spec.DNSPrefix == in.ControlPlane.Name {
		jsonpath.Prune(body, "properties.dnsPrefix") // AKS accepts one of the two. This prefix is only the default.
	}
	setClusterTags(in, have, body)
	return body, patched.Exports, nil
}

// outboundTypePath is the path of the outbound type of the nodes.
const outboundTypePath = "properties.networkProfile.outboundType"

// addPoolProfiles adds the pools to the body of a cluster that has none yet.
func addPoolProfiles(in Input, have managedcluster.Observed, node *arm.Node) {
	var pools []managedcluster.NewPool
	for _, pool := range listActivePools(in.Pools) {
		pools = append(pools, buildNewPool(in, pool))
	}
	properties, _ := jsonpath.Get(node.Body, "properties").(map[string]any)
	profiles, blocked, refused := managedcluster.BuildProfiles(poolKind, pools, properties)
	if missing := missingAttachmentReason(in); missing != "" && !have.Exists {
		blocked = missing
	}
	node.Blocked, node.Refused = blocked, refused
	managedcluster.AddProfiles(node, profiles)
}

// poolKind is the kind of pools in messages.
const poolKind = "AzureManagedMachinePool"

// buildNewPool returns a pool for the creation of the cluster.
func buildNewPool(in Input, pool Pool) managedcluster.NewPool {
	out := managedcluster.NewPool{
		Holder: poolKind + " " + pool.AzurePool.Name, Name: PoolName(pool), Mode: pool.AzurePool.Spec.Mode,
		HasMachinePool: pool.MachinePool != nil,
	}
	if !out.HasMachinePool {
		return out
	}
	var refused []string
	if refusal := versionTooNewReason(in, pool); refusal != "" {
		refused = append(refused, refusal)
	}
	if errs := CheckPool(in, pool); len(errs) > 0 {
		refused = append(refused, fmt.Sprintf("%s: %s", out.Holder, errs.ToAggregate()))
	} else if body, err := buildPoolBody(in, pool, agentpool.Observed{}); err != nil {
		out.Blocked = err.Error()
	} else {
		out.Properties, _ = body["properties"].(map[string]any)
	}
	out.Refused = strings.Join(refused, "; ")
	return out
}

// classifyPatchError returns the reason to wait (missing Secrets) or to refuse (an invalid patch) for an error of ApplyPatches.
func classifyPatchError(err error) (blocked, refused string) {
	var missing *aso.MissingSecretsError
	if errors.As(err, &missing) {
		return "waits: " + err.Error(), ""
	}
	return "", err.Error()
}
