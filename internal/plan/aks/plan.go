package aks

import (
	"errors"
	"fmt"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
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
	have := ObserveCluster(in.Facts.Cluster)
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
	body = setClusterBody(in, have, &node, body)
	omitDefaults(body, have.raw.decodeBody(), clusterDefaults)
	if len(have.Properties.AgentPoolProfiles) == 0 {
		addPoolProfiles(in, have, body, &node)
	} else if valueAt(have.raw.decodeBody(), outboundTypePath) != valueAt(body, outboundTypePath) {
		// Running nodes would lose their outbound connection.
		node.Blocked = missingAttachmentReason(in)
	}
	g.Add(node)
	return exports
}

// buildClusterBody returns the body of the managed cluster without pools: the values of the spec, overridden by its patches, then by
// the tags. An error is one of ApplyPatches.
func buildClusterBody(in Input, have ObservedCluster) (map[string]any, aso.Exports, error) {
	body, err := toJSONObject(buildClusterModel(in, have))
	if err != nil {
		return nil, aso.Exports{}, err
	}
	patched, err := aso.ApplyPatches(aso.ManagedCluster, APIVersion(in), body, in.ControlPlane.Spec.ASOManagedClusterPatches, in.Secrets)
	if err != nil {
		return nil, aso.Exports{}, err
	}
	body = patched.Body
	if valueAt(body, "properties.fqdnSubdomain") != nil && in.ControlPlane.Spec.DNSPrefix != nil && *in.ControlPlane.Spec.DNSPrefix == in.ControlPlane.Name {
		deleteValue(body, "properties.dnsPrefix") // AKS accepts one of the two. This prefix is only the default.
	}
	setClusterTags(in, have, body)
	return body, patched.Exports, nil
}

// addPoolProfiles adds the pools to the body of a cluster that has none yet.
func addPoolProfiles(in Input, have ObservedCluster, body map[string]any, node *arm.Node) {
	pools := listActivePools(in.Pools)
	var orphans, system, refused []string
	var profiles []any
	for _, pool := range pools {
		if pool.AzurePool.Spec.Mode == infrav1.NodePoolModeSystem {
			system = append(system, pool.AzurePool.Name)
		}
		if pool.MachinePool == nil {
			orphans = append(orphans, pool.AzurePool.Name)
			continue
		}
		if refusal := versionTooNewReason(in, pool); refusal != "" {
			refused = append(refused, refusal)
		}
		if errs := CheckPool(in, pool); len(errs) > 0 {
			refused = append(refused, fmt.Sprintf("AzureManagedMachinePool %s: %s", pool.AzurePool.Name, errs.ToAggregate()))
			continue
		}
		body, err := buildPoolBody(in, pool, ObservedPool{})
		if err != nil {
			node.Blocked = fmt.Sprintf("waits for AzureManagedMachinePool %s: %s", pool.AzurePool.Name, err)
			continue
		}
		profile, _ := body["properties"].(map[string]any)
		profile["name"] = PoolName(pool)
		profiles = append(profiles, profile)
	}
	switch {
	case node.Blocked != "":
	case missingAttachmentReason(in) != "" && !have.Exists:
		node.Blocked = missingAttachmentReason(in)
	case len(system) == 0:
		node.Blocked = "waits for an AzureManagedMachinePool with mode System: AKS makes no cluster without one"
	case len(orphans) > 0:
		node.Blocked = fmt.Sprintf("waits for the MachinePool of AzureManagedMachinePool %s: the cluster is made with all its pools", strings.Join(orphans, ", "))
	}
	if len(refused) > 0 {
		node.Refused = strings.Join(refused, "; ")
	}
	setValue(body, "properties.agentPoolProfiles", profiles)
}

// classifyPatchError returns the reason to wait (missing Secrets) or to refuse (an invalid patch) for an error of ApplyPatches.
func classifyPatchError(err error) (blocked, refused string) {
	var missing *aso.MissingSecretsError
	if errors.As(err, &missing) {
		return "waits: " + err.Error(), ""
	}
	return "", err.Error()
}
