package aks

import (
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// BuildPoolPlan returns the desired state of one agent pool. The pool waits until the managed cluster accepts changes and runs at
// least the version of the pool. An error means an inconsistent graph, which is a bug and not invalid input.
func BuildPoolPlan(in Input, pool Pool) (*arm.Graph, error) {
	g := &arm.Graph{}
	have := ObservePool(in.Facts.AgentPool)
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
	if pool.AzurePool.Spec.Scaling == nil {
		// AKS rejects bounds without an autoscaler, and the pool may have had one.
		node.OwnedPaths = []string{"properties.minCount", "properties.maxCount"}
	}
	body = setBody(in, lastApplied, aso.AgentPool, have.Exists, &node, body)
	omitDefaults(body, have.raw.decodeBody(), poolDefaults)
	node.Refused = versionTooNewReason(in, pool)
	node.Blocked = poolWaitReason(in, have, body)
	g.Add(node)
	return g, g.Validate()
}

// buildPoolBody returns the body of a pool with its patches applied. An error is one of ApplyPatches.
func buildPoolBody(in Input, pool Pool, have ObservedPool) (map[string]any, error) {
	model := buildPoolModel(in, pool, have)
	model.Properties.Count = new(wantedCount(pool, have))
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
	keepReservedLabelsAndTaints(have, patched.Body)
	return patched.Body, nil
}

// replicasManagedByAKS is the value of the annotation replicas-managed-by of a MachinePool that AKS's autoscaler scales.
const replicasManagedByAKS = "true"

// wantedCount returns the number of nodes to request: spec.replicas of the MachinePool, or the current number if AKS's autoscaler or
// the manager named in the MachinePool's annotation scales the pool.
func wantedCount(pool Pool, have ObservedPool) int32 {
	out := int32(1)
	if replicas := pool.MachinePool.Spec.Replicas; replicas != nil {
		out = *replicas
	}
	manager := pool.MachinePool.Annotations[clusterv1.ReplicasManagedByAnnotation]
	scaling := pool.AzurePool.Spec.Scaling
	if observed := have.Properties.Count; observed != nil && (scaling != nil || manager != "" && manager != "false" && manager != replicasManagedByAKS) {
		out = *observed
	}
	if scaling != nil {
		// AKS rejects a count outside the bounds.
		if least := toInt32(scaling.MinSize); least != nil {
			out = max(out, *least)
		}
		if most := toInt32(scaling.MaxSize); most != nil {
			out = min(out, *most)
		}
	}
	return out
}

// UpgradesAutomatically reports whether an upgrade channel raises the Kubernetes version.
func UpgradesAutomatically(in Input) bool {
	upgrade := in.ControlPlane.Spec.AutoUpgradeProfile
	if upgrade == nil {
		return false
	}
	switch string(deref(upgrade.UpgradeChannel)) {
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
	return version.WithV(version.Highest(in.ControlPlane.Status.AutoUpgradeVersion, CurrentVersion(in.Facts.Cluster)))
}

// wantedPoolVersion returns the version to request: that of the MachinePool, or the one to which an upgrade channel raised the control
// plane. "" leaves the choice to AKS.
func wantedPoolVersion(in Input, pool Pool, have ObservedPool) string {
	return version.Wanted(have.Version(), pool.MachinePool.Spec.Template.Spec.Version, AutoUpgradeVersion(in))
}

// versionTooNewReason returns the message about a pool whose MachinePool has a higher version than the spec of the control plane, ""
// if the version is allowed.
func versionTooNewReason(in Input, pool Pool) string {
	if pool.MachinePool == nil {
		return ""
	}
	wanted := pool.MachinePool.Spec.Template.Spec.Version
	controlPlane := version.Highest(in.ControlPlane.Spec.Version, CurrentVersion(in.Facts.Cluster))
	if !version.IsLower(controlPlane, wanted) {
		return ""
	}
	return fmt.Sprintf("MachinePool %s spec.template.spec.version %s is above AzureManagedControlPlane %s spec.version %s: raise the control plane's version first, or lower the pool's",
		pool.MachinePool.Name, version.WithV(wanted), in.ControlPlane.Name, version.WithV(controlPlane))
}

// poolWaitReason returns the reason why a pool waits for the managed cluster, "" if AKS accepts changes. A pool with an operation in
// progress does not wait, because its operation is followed.
func poolWaitReason(in Input, have ObservedPool, body map[string]any) string {
	name := in.ControlPlane.Name
	switch cluster := ObserveCluster(in.Facts.Cluster); {
	case !cluster.Exists:
		return fmt.Sprintf("waits for the managed cluster %s to be created", name)
	case !isTerminalState(have.Properties.ProvisioningState):
		return ""
	case !isTerminalState(cluster.Properties.ProvisioningState):
		return fmt.Sprintf("waits for the managed cluster %s: its provisioning state is %s", name, cluster.Properties.ProvisioningState)
	default:
		return version.WaitReason(name, cluster.Properties.CurrentKubernetesVersion, toText(valueAt(body, "properties.orchestratorVersion")))
	}
}
