package aks

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// retractCluster gives the node of the managed cluster the body, which takes back what earlier plans sent and it has not.
func retractCluster(in Input, have Observed, node *arm.Node, body map[string]any) map[string]any {
	sent := Memory(in)
	unwanted, manage := outboundIPs(sent.Sent(node.ID), body)
	node.OwnedPaths = unwanted
	body = retract(in, sent, aso.ManagedCluster, have.Exists, node, body)
	nameDefaults(body)
	if manage {
		set(body, loadBalancerPath+outboundKinds[0]+".count", 1)
	}
	return body
}

// retract gives a node the body, which takes back what earlier plans sent and it has not. What does not exist takes nothing
// back, tags are Node.DropTags, and outbound addresses Node.Owned.
func retract(in Input, sent memory.Memory, kind armschema.Kind, exists bool, node *arm.Node, body map[string]any) map[string]any {
	node.Body, node.PlannedBody = body, body
	dropped := slices.DeleteFunc(sent.Dropped(node), func(path string) bool {
		return !exists || strings.HasPrefix(path, "/tags/") || slices.ContainsFunc(outboundKinds, func(kind string) bool {
			return strings.HasPrefix(path, pointer(loadBalancerPath+kind)+"/") && at(body, loadBalancerPath+kind) == nil
		})
	})
	body, node.UnremovablePaths = armschema.Retract(kind, APIVersion(in), body, dropped)
	node.Body = body
	return body
}

// outboundPath is how nodes get out.
const outboundPath = "properties.networkProfile.outboundType"

// The three kinds of outbound addresses of a load balancer, of which AKS takes one. It takes the others back by null only.
const loadBalancerPath = "properties.networkProfile.loadBalancerProfile."

var outboundKinds = []string{"managedOutboundIPs", "outboundIPPrefixes", "outboundIPs"}

// outboundIPs are the kinds that are not to be there when the body asks for another one. users tells that an earlier plan
// asked for addresses of the user and this one asks for none: AKS is to manage one then, which is where it begins.
func outboundIPs(sent []string, body map[string]any) (unwanted []string, users bool) {
	asked := false
	for _, kind := range outboundKinds {
		asked = asked || at(body, loadBalancerPath+kind) != nil
		users = users || kind != outboundKinds[0] && slices.ContainsFunc(sent, func(path string) bool { return strings.HasPrefix(path, pointer(loadBalancerPath+kind)+"/") })
	}
	users = users && !asked
	if !asked && !users {
		return nil, false
	}
	for i, kind := range outboundKinds {
		if at(body, loadBalancerPath+kind) == nil && !(users && i == 0) {
			unwanted = append(unwanted, loadBalancerPath+kind)
		}
	}
	return unwanted, users
}

// pointer is a dotted path as a JSON pointer.
func pointer(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }
