package aks

import (
	"cmp"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// PoolPlan is the desired state of one agent pool. It waits for a managed cluster that takes changes and runs the pool's
// version. The error is that of a graph that does not hold together, which is a bug and not bad input.
func PoolPlan(in Input, pool Pool) (*arm.Graph, error) {
	g := &arm.Graph{}
	have := ObservePool(in.Facts.AgentPool)
	node := arm.Node{ID: PoolID(in, pool), Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: infrav1.AgentPoolsReadyCondition}
	sent := PoolMemory(in, pool)
	if pool.MachinePool == nil {
		node.Blocked = "waits for the MachinePool that owns it"
		g.Add(node)
		return g, g.Validate()
	}
	body, err := poolBody(in, pool, have)
	if err != nil {
		node.Blocked, node.Refused = unpatchable(err)
		g.Add(node)
		return g, g.Validate()
	}
	if pool.AzurePool.Spec.Scaling == nil {
		// AKS takes no bounds without an autoscaler, and a pool may have had one.
		node.OwnedPaths = []string{"properties.minCount", "properties.maxCount"}
	}
	body = retract(in, sent, aso.AgentPool, have.Exists, &node, body)
	omitDefaults(body, have.shown.body(), poolDefaults)
	node.Refused = tooNew(in, pool)
	node.Blocked = poolWaits(in, have, body)
	g.Add(node)
	return g, g.Validate()
}

// poolBody is the body of a pool with its patches; an error is one of asopatch.
func poolBody(in Input, pool Pool, have ObservedPool) (map[string]any, error) {
	model := poolModel(in, pool, have)
	model.Properties.Count = new(count(pool, have))
	if version := orchestratorVersion(in, pool, have); version != "" {
		model.Properties.OrchestratorVersion = new(version)
	}
	body, err := documentOf(model)
	if err != nil {
		return nil, err
	}
	patched, err := aso.Apply(aso.AgentPool, APIVersion(in), body, pool.AzurePool.Spec.ASOManagedClustersAgentPoolPatches, in.Secrets)
	if err != nil {
		return nil, err
	}
	overlay(patched.Body, "properties.tags", pool.AzurePool.Spec.AdditionalTags)
	carryReserved(have, patched.Body)
	return patched.Body, nil
}

// managedByAKS is what the annotation of a MachinePool says whose replicas AKS's autoscaler decides.
const managedByAKS = "true"

// count is the number of nodes to ask for: what the MachinePool says, or what there is where somebody else decides, which
// is AKS's autoscaler or one that the MachinePool's annotation names.
func count(pool Pool, have ObservedPool) int32 {
	out := int32(1)
	if replicas := pool.MachinePool.Spec.Replicas; replicas != nil {
		out = *replicas
	}
	manager := pool.MachinePool.Annotations[clusterv1.ReplicasManagedByAnnotation]
	scaling := pool.AzurePool.Spec.Scaling
	if observed := have.Properties.Count; observed != nil && (scaling != nil || manager != "" && manager != "false" && manager != managedByAKS) {
		out = *observed
	}
	if scaling != nil {
		// AKS takes no count outside the bounds.
		if least := number(scaling.MinSize); least != nil {
			out = max(out, *least)
		}
		if most := number(scaling.MaxSize); most != nil {
			out = min(out, *most)
		}
	}
	return out
}

// ManagedUpgrade tells whether an upgrade channel raises the Kubernetes version by itself.
func ManagedUpgrade(in Input) bool {
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
	if !ManagedUpgrade(in) {
		return ""
	}
	return withV(highest(in.ControlPlane.Status.AutoUpgradeVersion, CurrentVersion(in.Facts.Cluster)))
}

// orchestratorVersion is the version to ask for: never one below what the pool runs; "" leaves it to AKS.
func orchestratorVersion(in Input, pool Pool, have ObservedPool) string {
	p := have.Properties
	wanted := highest(pool.MachinePool.Spec.Template.Spec.Version, AutoUpgradeVersion(in), cmp.Or(p.CurrentOrchestratorVersion, p.OrchestratorVersion))
	return Alias(wanted, p.OrchestratorVersion, p.CurrentOrchestratorVersion)
}

// tooNew is why a pool can never have the version of its MachinePool; "" when it can.
func tooNew(in Input, pool Pool) string {
	if pool.MachinePool == nil {
		return ""
	}
	wanted := pool.MachinePool.Spec.Template.Spec.Version
	controlPlane := highest(in.ControlPlane.Spec.Version, CurrentVersion(in.Facts.Cluster))
	if !less(controlPlane, wanted) {
		return ""
	}
	return fmt.Sprintf("MachinePool %s spec.template.spec.version %s is above AzureManagedControlPlane %s spec.version %s: raise the control plane's version first, or lower the pool's",
		pool.MachinePool.Name, withV(wanted), in.ControlPlane.Name, withV(controlPlane))
}

// poolWaits is what a pool waits for in the managed cluster; "" when AKS takes changes. A pool that Azure is at already
// is followed.
func poolWaits(in Input, have ObservedPool, body map[string]any) string {
	name := in.ControlPlane.Name
	switch cluster := Observe(in.Facts.Cluster); {
	case !cluster.Exists:
		return fmt.Sprintf("waits for the managed cluster %s to be created", name)
	case !terminal(have.Properties.ProvisioningState):
		return ""
	case !terminal(cluster.Properties.ProvisioningState):
		return fmt.Sprintf("waits for the managed cluster %s: its provisioning state is %s", name, cluster.Properties.ProvisioningState)
	default:
		return Outruns(name, cluster, text(at(body, "properties.orchestratorVersion")))
	}
}

// Outruns says that a pool with a version waits for the control plane of its managed cluster, which name is for in messages, to run
// that first: AKS refuses pools above their control plane. "" is for a version that AKS takes.
// https://learn.microsoft.com/en-us/azure/aks/manage-node-pools#upgrade-a-single-node-pool
func Outruns(name string, cluster Observed, version string) string {
	runs := cluster.Properties.CurrentKubernetesVersion
	if runs == "" || !less(runs, version) {
		return ""
	}
	return fmt.Sprintf("waits for the control plane of %s to run %s: it runs %s", name, withV(version), withV(runs))
}
