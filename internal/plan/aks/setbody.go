package aks

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// setClusterBody gives the node of the managed cluster the body, which takes back what earlier plans sent and it has not.
func setClusterBody(in Input, have ObservedCluster, node *arm.Node, body map[string]any) map[string]any {
	lastApplied := LastApplied(in)
	unwanted, needsManagedIP := findUnwantedOutboundIPs(lastApplied.Sent(node.ID), body)
	node.OwnedPaths = unwanted
	body = setBody(in, lastApplied, aso.ManagedCluster, have.Exists, node, body)
	setExplicitDefaults(body)
	if needsManagedIP {
		setValue(body, loadBalancerPath+outboundIPKinds[0]+".count", 1)
	}
	return body
}

// setBody gives a node the body, which takes back what earlier plans sent and it has not. What does not exist takes nothing
// back, tags are Node.DropTags, and outbound addresses Node.Owned.
func setBody(in Input, lastApplied memory.Memory, kind armschema.Kind, exists bool, node *arm.Node, body map[string]any) map[string]any {
	node.Body, node.PlannedBody = body, body
	dropped := slices.DeleteFunc(lastApplied.Dropped(node), func(path string) bool {
		return !exists || strings.HasPrefix(path, "/tags/") || slices.ContainsFunc(outboundIPKinds, func(kind string) bool {
			return strings.HasPrefix(path, toJSONPointer(loadBalancerPath+kind)+"/") && valueAt(body, loadBalancerPath+kind) == nil
		})
	})
	body, node.UnremovablePaths = armschema.ResetDropped(kind, APIVersion(in), body, dropped)
	node.Body = body
	return body
}

// outboundTypePath is how nodes get out.
const outboundTypePath = "properties.networkProfile.outboundType"

// The three kinds of outbound addresses of a load balancer, of which AKS takes one. It takes the others back by null only.
const loadBalancerPath = "properties.networkProfile.loadBalancerProfile."

var outboundIPKinds = []string{"managedOutboundIPs", "outboundIPPrefixes", "outboundIPs"}

// findUnwantedOutboundIPs are the kinds that are not to be there when the body asks for another one. users tells that an earlier plan
// asked for addresses of the user and this one asks for none: AKS is to manage one then, which is where it begins.
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

// toJSONPointer is a dotted path as a JSON pointer.
func toJSONPointer(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }
