package aks

import (
	"cmp"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// BuildPoolPlan returns the desired state of one agent pool. The pool waits until the managed cluster accepts changes and runs at
// least the version of the pool. An error means an inconsistent graph, which is a bug and not invalid input.
func BuildPoolPlan(in Input, pool Pool) (*arm.Graph, error) {
	g := &arm.Graph{}
	have := agentpool.Observe(in.Facts.AgentPool)
	node := arm.Node{ID: PoolID(in, pool), Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: infrav1.AgentPoolsReadyCondition}
	lastApplied := PoolLastApplied(in, pool)
	if pool.MachinePool == nil {
		node.Blocked = "waits for the MachinePool that owns it"
		g.Add(node)
		return g, g.Validate()
	}
	body, err := buildPoolBody(in, pool, have)
	if err != nil {
		node.Blocked, node.Refused = classifyPatchError(err)
		g.Add(node)
		return g, g.Validate()
	}
	cluster := managedcluster.Observe(in.Facts.Cluster)
	agentpool.SetBody(&node, lastApplied, APIVersion(in), cluster, have, body, pool.PowerState)
	node.Refused = versionTooNewReason(in, pool)
	node.Blocked = agentpool.WaitReason(in.ControlPlane.Name, cluster, have,
		jsonpath.GetText(body, "properties.orchestratorVersion"))
	g.Add(node)
	return g, g.Validate()
}

// buildPoolBody returns the body of a pool with its patches applied. An error is one of ApplyPatches.
func buildPoolBody(in Input, pool Pool, have agentpool.Observed) (map[string]any, error) {
	model := buildPoolModel(in, pool, have)
	if wanted := wantedPoolVersion(in, pool, have); wanted != "" {
		model.Properties.OrchestratorVersion = new(wanted)
	}
	body, err := toJSONObject(model)
	if err != nil {
		return nil, err
	}
	patched, err := aso.ApplyPatches(aso.AgentPool, APIVersion(in), body, pool.AzurePool.Spec.ASOManagedClustersAgentPoolPatches, in.Secrets)
	if err != nil {
		return nil, err
	}
	mergeTags(patched.Body, "properties.tags", pool.AzurePool.Spec.AdditionalTags)
	properties, _ := patched.Body["properties"].(map[string]any)
	scale(pool).SetCount(properties, have)
	return patched.Body, nil
}

// ReplicasManagedByAKS is the value of the annotation replicas-managed-by of a MachinePool that AKS's autoscaler scales.
const ReplicasManagedByAKS = "true"

// scale returns the number of nodes that Cluster API requests.
func scale(pool Pool) agentpool.Scale {
	return agentpool.Scale{
		Replicas: cmp.Or(pool.MachinePool.Spec.Replicas, new(int32(1))),
		Manager:  pool.MachinePool.Annotations[clusterv1.ReplicasManagedByAnnotation], Own: ReplicasManagedByAKS,
	}
}

// UpgradesAutomatically reports whether an upgrade channel raises the Kubernetes version.
func UpgradesAutomatically(in Input) bool {
	upgrade := in.ControlPlane.Spec.AutoUpgradeProfile
	if upgrade == nil {
		return false
	}
	switch string(plan.Dereference(upgrade.UpgradeChannel)) {
	case "", "none", "node-image":
		return false
	}
	return true
}

// AutoUpgradeVersion returns the version to which an upgrade channel raised the control plane, as in "v1.33.4". The pools follow it.
// It is "" without such a channel.
func AutoUpgradeVersion(in Input) string {
	if !UpgradesAutomatically(in) {
		return ""
	}
	return version.WithV(version.Highest(in.ControlPlane.Status.AutoUpgradeVersion, managedcluster.CurrentVersion(in.Facts.Cluster)))
}

// wantedPoolVersion returns the version to request: that of the MachinePool, or the one to which an upgrade channel raised the control
// plane. "" leaves the choice to AKS.
func wantedPoolVersion(in Input, pool Pool, have agentpool.Observed) string {
	return version.Wanted(have.Version(), pool.MachinePool.Spec.Template.Spec.Version, AutoUpgradeVersion(in))
}

// versionTooNewReason returns the message about a pool whose MachinePool has a higher version than the spec of the control plane, ""
// if the version is allowed.
func versionTooNewReason(in Input, pool Pool) string {
	if pool.MachinePool == nil {
		return ""
	}
	return version.TooNewReason(
		version.Requested{Field: "MachinePool " + pool.MachinePool.Name + " spec.template.spec.version",
			Version: pool.MachinePool.Spec.Template.Spec.Version},
		version.Requested{Field: "AzureManagedControlPlane " + in.ControlPlane.Name + " spec.version", Version: in.ControlPlane.Spec.Version},
		managedcluster.CurrentVersion(in.Facts.Cluster))
}
