package aks

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// setClusterBody sets the body of the managed cluster's node and returns it. The body resets the values that earlier plans sent and
// this one does not.
func setClusterBody(in Input, have ObservedCluster, node *arm.Node, body map[string]any) map[string]any {
	lastApplied := LastApplied(in)
	unwanted, needsManagedIP := findUnwantedOutboundIPs(lastApplied.AppliedPaths(node.ID), body)
	node.OwnedPaths = unwanted
	body = setBody(in, lastApplied, aso.ManagedCluster, have.Exists, node, body)
	setExplicitDefaults(body)
	if needsManagedIP {
		setValue(body, loadBalancerPath+outboundIPKinds[0]+".count", 1)
	}
	return body
}

// setBody sets the body of a node and returns it. For an existing resource the body resets the values that earlier plans sent and
// this one does not. Tags are reset by Node.DropTags, outbound addresses by Node.OwnedPaths.
func setBody(in Input, lastApplied applied.State, kind armschema.Kind, exists bool, node *arm.Node, body map[string]any) map[string]any {
	node.Body, node.PlannedBody = body, body
	dropped := slices.DeleteFunc(lastApplied.DroppedPaths(node), func(path string) bool {
		return !exists || strings.HasPrefix(path, "/tags/") || slices.ContainsFunc(outboundIPKinds, func(kind string) bool {
			return strings.HasPrefix(path, toJSONPointer(loadBalancerPath+kind)+"/") && valueAt(body, loadBalancerPath+kind) == nil
		})
	})
	body, node.UnremovablePaths = armschema.ResetDropped(kind, APIVersion(in), body, dropped)
	node.Body = body
	return body
}

// outboundTypePath is the path of the outbound type of the nodes.
const outboundTypePath = "properties.networkProfile.outboundType"

// AKS accepts one of the three kinds of outbound addresses of a load balancer. The others can be removed only by null.
const loadBalancerPath = "properties.networkProfile.loadBalancerProfile."

var outboundIPKinds = []string{"managedOutboundIPs", "outboundIPPrefixes", "outboundIPs"}

// findUnwantedOutboundIPs returns the paths of the kinds of outbound addresses to remove, if the body has another kind.
// needsManagedIP means that an earlier plan sent addresses of the user and the body has none. AKS then manages one address, its
// default.
func findUnwantedOutboundIPs(sent []string, body map[string]any) (unwanted []string, needsManagedIP bool) {
	requested := false
	for _, kind := range outboundIPKinds {
		requested = requested || valueAt(body, loadBalancerPath+kind) != nil
		needsManagedIP = needsManagedIP || kind != outboundIPKinds[0] && slices.ContainsFunc(sent, func(path string) bool { return strings.HasPrefix(path, toJSONPointer(loadBalancerPath+kind)+"/") })
	}
	needsManagedIP = needsManagedIP && !requested
	if !requested && !needsManagedIP {
		return nil, false
	}
	for i, kind := range outboundIPKinds {
		if valueAt(body, loadBalancerPath+kind) == nil && !(needsManagedIP && i == 0) {
			unwanted = append(unwanted, loadBalancerPath+kind)
		}
	}
	return unwanted, needsManagedIP
}

// toJSONPointer returns a dotted path as a JSON pointer.
func toJSONPointer(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }
