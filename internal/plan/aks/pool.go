package aks

import (
	"cmp"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// BuildPoolPlan is the desired state of one agent pool. It waits for a managed cluster that takes changes and runs the pool's
// version. The error is that of a graph that does not hold together, which is a bug and not bad input.
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
		// AKS takes no bounds without an autoscaler, and a pool may have had one.
		node.OwnedPaths = []string{"properties.minCount", "properties.maxCount"}
	}
	body = setBody(in, lastApplied, aso.AgentPool, have.Exists, &node, body)
	omitDefaults(body, have.raw.decodeBody(), poolDefaults)
	node.Refused = versionTooNewReason(in, pool)
	node.Blocked = poolWaitReason(in, have, body)
	g.Add(node)
	return g, g.Validate()
}

// buildPoolBody is the body of a pool with its patches; an error is one of asopatch.
func buildPoolBody(in Input, pool Pool, have ObservedPool) (map[string]any, error) {
	model := buildPoolModel(in, pool, have)
	model.Properties.Count = new(wantedCount(pool, have))
	if version := wantedPoolVersion(in, pool, have); version != "" {
		model.Properties.OrchestratorVersion = new(version)
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

// replicasManagedByAKS is what the annotation of a MachinePool says whose replicas AKS's autoscaler decides.
const replicasManagedByAKS = "true"

// wantedCount is the number of nodes to ask for: what the MachinePool says, or what there is where somebody else decides, which
// is AKS's autoscaler or one that the MachinePool's annotation names.
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
		// AKS takes no count outside the bounds.
		if least := toInt32(scaling.MinSize); least != nil {
			out = max(out, *least)
		}
		if most := toInt32(scaling.MaxSize); most != nil {
			out = min(out, *most)
		}
	}
	return out
}

// UpgradesAutomatically tells whether an upgrade channel raises the Kubernetes version by itself.
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

// AutoUpgradeVersion is the version that an upgrade channel has raised the control plane to, as in "v1.33.4", which the
// pools follow; "" where there is no such channel.
func AutoUpgradeVersion(in Input) string {
	if !UpgradesAutomatically(in) {
		return ""
	}
	return withV(highestVersion(in.ControlPlane.Status.AutoUpgradeVersion, CurrentVersion(in.Facts.Cluster)))
}

// wantedPoolVersion is the version to ask for: never one below what the pool runs; "" leaves it to AKS.
func wantedPoolVersion(in Input, pool Pool, have ObservedPool) string {
	p := have.Properties
	wanted := highestVersion(pool.MachinePool.Spec.Template.Spec.Version, AutoUpgradeVersion(in), cmp.Or(p.CurrentOrchestratorVersion, p.OrchestratorVersion))
	return KeepVersionAlias(wanted, p.OrchestratorVersion, p.CurrentOrchestratorVersion)
}

// versionTooNewReason is why a pool can never have the version of its MachinePool; "" when it can.
func versionTooNewReason(in Input, pool Pool) string {
	if pool.MachinePool == nil {
		return ""
	}
	wanted := pool.MachinePool.Spec.Template.Spec.Version
	controlPlane := highestVersion(in.ControlPlane.Spec.Version, CurrentVersion(in.Facts.Cluster))
	if !isLowerVersion(controlPlane, wanted) {
		return ""
	}
	return fmt.Sprintf("MachinePool %s spec.template.spec.version %s is above AzureManagedControlPlane %s spec.version %s: raise the control plane's version first, or lower the pool's",
		pool.MachinePool.Name, withV(wanted), in.ControlPlane.Name, withV(controlPlane))
}

// poolWaitReason is what a pool waits for in the managed cluster; "" when AKS takes changes. A pool that Azure is at already
// is followed.
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
		return VersionWaitReason(name, cluster, toText(valueAt(body, "properties.orchestratorVersion")))
	}
}

// VersionWaitReason says that a pool with a version waits for the control plane of its managed cluster, which name is for in messages, to run
// that first: AKS refuses pools above their control plane. "" is for a version that AKS takes.
// https://learn.microsoft.com/en-us/azure/aks/manage-node-pools#upgrade-a-single-node-pool
func VersionWaitReason(name string, cluster ObservedCluster, version string) string {
	runs := cluster.Properties.CurrentKubernetesVersion
	if runs == "" || !isLowerVersion(runs, version) {
		return ""
	}
	return fmt.Sprintf("waits for the control plane of %s to run %s: it runs %s", name, withV(version), withV(runs))
}
