package agentpool

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/putbody"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// defaults apply in AKS without being shown in every response.
// https://learn.microsoft.com/en-us/rest/api/aks/agent-pools/create-or-update
var defaults = []putbody.Default{
	{Path: "properties.scaleSetPriority", Value: "Regular"},
	{Path: "properties.spotMaxPrice", Value: "-1"},
}

// SetBody sets the body of a pool's node. The body resets the values that earlier plans sent and this one does not, keeps the labels
// and taints of AKS, and owns the bounds of an autoscaler that is off: AKS rejects bounds without an autoscaler, and the pool may have
// had one.
//
// power is the power state that annotations ask for, or "". It is not part of the planned body, so removing the annotation leaves the
// pool as it is. AKS stops existing pools only. cluster is the pool's cluster, whose pools are not written while it is stopped.
// https://learn.microsoft.com/en-us/azure/aks/start-stop-nodepools
func SetBody(node *arm.Node, lastApplied applied.State, apiVersion string, cluster managedcluster.Observed, have Observed,
	body map[string]any, power string) {
	power = cluster.PoolPowerState(power)
	node.WriteBlocked = cluster.WriteBlockedReason(node.ID.Parent().Name())
	planned, _ := body["properties"].(map[string]any)
	keepReserved(planned, have)
	putbody.Resource{Kind: armschema.AgentPool, APIVersion: apiVersion, Exists: have.Exists}.Set(node, lastApplied, body)
	sent := jsonpath.CloneObject(node.Body.(map[string]any))
	properties, _ := sent["properties"].(map[string]any)
	if on, ok := properties["enableAutoScaling"].(bool); ok && !on {
		node.OwnedPaths = append(node.OwnedPaths, "properties.minCount", "properties.maxCount")
	}
	keepReserved(properties, have) // Labels may be reset that were the last ones of the plan.
	putbody.OmitDefaults(sent, have.raw, defaults)
	if power != "" && have.Exists && properties != nil {
		properties["powerState"] = map[string]any{"code": power}
	}
	node.Body = sent
}
