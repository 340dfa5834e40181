package managed

import (
	"slices"
	"strings"

	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed/armschema"
)

// settle makes the body take back what earlier plans sent and it has not, and tells what it sends itself. more are sent
// paths beside the leaves of the body. What does not exist takes nothing back.
func settle(kind armschema.Kind, preview, exists bool, body map[string]any, sent, more []string) (map[string]any, Extras) {
	extras := Extras{SettledPaths: union(armschema.Leaves(body), more)}
	if !exists {
		return body, extras
	}
	previous := slices.DeleteFunc(slices.Clone(sent), func(path string) bool { return strings.HasPrefix(path, sentAdditionalTag) })
	body, extras.Kept = armschema.Retract(kind, preview, body, previous)
	return body, extras
}

// nameDefaults says the values of what is taken back by null where AKS wants them said.
func nameDefaults(body map[string]any) {
	for path, value := range map[string]any{
		"sku.name": string(aks.ManagedClusterSKUNameBase),
		loadBalancerPath + "allocatedOutboundPorts": 0,
	} {
		parent, key := path[:strings.LastIndex(path, ".")], path[strings.LastIndex(path, ".")+1:]
		object, _ := at(body, parent).(map[string]any)
		if null, said := object[key]; said && null == nil {
			object[key] = value
		}
	}
}

// union are the strings of all lists, sorted, each once.
func union(lists ...[]string) []string {
	out := slices.Sorted(slices.Values(slices.Concat(lists...)))
	return slices.Compact(out)
}

// The three kinds of outbound addresses of a load balancer, of which AKS takes one. It takes the others back by null only.
const loadBalancerPath = "properties.networkProfile.loadBalancerProfile."

var outboundKinds = []string{"managedOutboundIPs", "outboundIPPrefixes", "outboundIPs"}

// outboundIPs are the kinds that are not to be there when the body asks for another one. users tells that an earlier plan
// asked for addresses of the user and this one asks for none: AKS is to manage one then, which is where it begins.
func outboundIPs(in Input, body map[string]any) (unwanted []string, users bool) {
	asked := false
	for _, kind := range outboundKinds {
		asked = asked || at(body, loadBalancerPath+kind) != nil
		users = users || kind != outboundKinds[0] && slices.ContainsFunc(in.Sent, func(path string) bool { return strings.HasPrefix(path, pointer(loadBalancerPath+kind)+"/") })
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

// withoutOutboundIPs is what was sent without the kinds of outbound addresses that Node.Owned takes back.
func withoutOutboundIPs(in Input, body map[string]any) []string {
	return slices.DeleteFunc(slices.Clone(in.Sent), func(path string) bool {
		return slices.ContainsFunc(outboundKinds, func(kind string) bool {
			return strings.HasPrefix(path, pointer(loadBalancerPath+kind)+"/") && at(body, loadBalancerPath+kind) == nil
		})
	})
}

// pointer is a dotted path as a JSON pointer.
func pointer(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }
