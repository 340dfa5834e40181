package reliability_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// An edit is a change of a resource in Azure by another user.
type edit string

const (
	foreignTag   edit = "a tag is added"
	changedTag   edit = "a tag of ours is changed"
	ownershipTag edit = "the ownership tag is removed"
	allTags      edit = "all tags are removed"
	property     edit = "a property of ours is changed"
	deletion     edit = "it is deleted"
)

// edits are all of them in the order in which one resource meets them. The first addition stays through all repairs.
var edits = []edit{foreignTag, changedTag, ownershipTag, allTags, property, deletion}

// theirs is a tag that is not ours.
const theirs = "costs"

// editedProperties are the edited properties by resource type: one that the provider sets, as a merge patch.
var editedProperties = map[string]map[string]any{
	types.VirtualNetwork:       {"properties": body{"addressSpace": body{"addressPrefixes": []any{"10.0.0.0/9"}}}},
	types.Subnet:               {"properties": body{"networkSecurityGroup": nil}},
	types.NetworkSecurityGroup: {"properties": body{"securityRules": []any{}}},
	types.NATGateway:           {"properties": body{"publicIpAddresses": []any{}}},
	types.LoadBalancer:         {"properties": body{"probes": []any{}, "loadBalancingRules": []any{}}},
	types.PublicIPAddress:      {"properties": body{"dnsSettings": body{"domainNameLabel": "theirs"}}},
	types.NetworkInterface:     {"properties": body{"enableIPForwarding": true}},
	types.VirtualNetworkLink:   {"properties": body{"registrationEnabled": true}},
	types.ARecord:              {"properties": body{"ttl": 5}},
	types.VirtualMachine:       {"properties": body{"hardwareProfile": body{"vmSize": "Standard_D8s_v3"}}},
	types.ScaleSet:             {"sku": body{"name": "Standard_D8s_v3"}},
	types.ManagedCluster:       {"properties": body{"kubernetesVersion": "1.32.0"}},
	types.AgentPool:            {"properties": body{"nodeLabels": body{"a": "theirs"}}},
}

type body = map[string]any

// editableResources returns the names of the resources of a world, without the subscription, including members of lists
// of other resources.
func (w *world) editableResources() (out []string) {
	for _, resource := range w.Sim.State() {
		id := w.shortenID(resource["id"])
		out = append(out, id)
		of, _ := resource["properties"].(body)
		subnets, _ := of["subnets"].([]any)
		for _, subnet := range subnets {
			name, _ := subnet.(body)["name"].(string)
			out = append(out, id+"/subnets/"+name)
		}
	}
	return out
}

func (w *world) shortenID(id any) string {
	text := strings.TrimPrefix(fmt.Sprint(id), "/subscriptions/"+w.Azure.SubscriptionID+"/")
	// AKS shows it so.
	return strings.Replace(text, "resourcegroups/", "resourceGroups/", 1)
}

func (w *world) expandID(short string) arm.ID {
	return arm.SubscriptionID(w.Azure.SubscriptionID) + arm.ID("/"+short)
}

// sendAsUser sends a request of another user about a resource, and waits until its operation is done.
func (w *world) sendAsUser(method, short string, with body) (status int, answer body) {
	w.T.Helper()
	version := "2025-01-01"
	if row, err := types.ForID(w.expandID(short)); err == nil {
		version = row.APIVersion
	}
	status, raw := w.SendAsUser(method, short, version, with)
	_ = json.Unmarshal(raw, &answer) // Some answers are empty.
	if method != http.MethodGet {
		w.WaitAzureIdle()
	}
	return status, answer
}

// replaceTags replaces the tags of a resource as another user.
func (w *world) replaceTags(short string, tags body) {
	w.T.Helper()
	if status, answer := w.SendAsUser(http.MethodPatch, short+"/providers/Microsoft.Resources/tags/default", types.TagsAPIVersion,
		body{"operation": "Replace", "properties": body{"tags": tags}}); status > 299 {
		w.T.Fatalf("tags of %s: %d %s", short, status, answer)
	}
}

// mergeResource changes a resource as another user, without Azure's rules.
func (w *world) mergeResource(short string, patch body) {
	w.T.Helper()
	if err := w.Sim.AddFault(fault.Rule{Now: true, ID: string(w.expandID(short)), Kind: fault.Edit, Patch: patch}); err != nil {
		w.T.Fatal(err)
	}
	w.Sim.ClearFaults()
}

// applyEdit makes the edit. It is false where there is nothing to edit, or Azure does not let it. undo takes it back.
func (e edit) applyEdit(w *world, short string) (done bool, undo func()) {
	w.T.Helper()
	_, resource := w.sendAsUser(http.MethodGet, short, nil)
	tags, _ := resource["tags"].(body)
	tagged := len(tags) > 0
	undo = func() { w.replaceTags(short, tags) }
	kept := maps.Clone(tags)
	switch e {
	case foreignTag:
		if tagged {
			kept[theirs] = "1"
		}
	case changedTag:
		for _, key := range []string{infrav1.NameTag, infrav1.RoleTag, "kubernetes.io_cluster_c1"} {
			if _, has := tags[key]; has {
				kept[key] = "theirs"
				break
			}
		}
	case ownershipTag:
		maps.DeleteFunc(kept, func(key string, _ any) bool { return strings.Contains(key, "azure_cluster_") })
	case allTags:
		clear(kept)
	case property:
		patch := editedProperties[w.expandID(short).Type()]
		if patch == nil || !coversPatch(resource, patch) {
			return false, nil
		}
		w.mergeResource(short, patch)
		return true, func() { w.mergeResource(short, revertPatch(patch, resource)) }
	case deletion:
		status, _ := w.sendAsUser(http.MethodDelete, short, nil)
		return status < 300, nil
	}
	if !tagged || maps.Equal(kept, tags) {
		return false, nil
	}
	w.replaceTags(short, kept)
	return true, undo
}

// coversPatch reports whether a resource has all that a merge patch changes, and has it otherwise.
func coversPatch(resource, patch body) bool {
	for key, value := range patch {
		has, ok := resource[key]
		inner, nested := value.(body)
		object, is := has.(body)
		if !ok || nested && (!is || !coversPatch(object, inner)) || !nested && fmt.Sprint(has) == fmt.Sprint(value) {
			return false
		}
	}
	return true
}

// revertPatch returns the merge patch that takes another one back.
func revertPatch(patch, before body) body {
	out := body{}
	for key, value := range patch {
		inner, nested := value.(body)
		had, object := before[key].(body)
		if nested && object {
			out[key] = revertPatch(inner, had)
		} else {
			out[key] = before[key]
		}
	}
	return out
}
