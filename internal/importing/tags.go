package importing

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// TagChange is a tag that a resource needs.
type TagChange struct {
	Resource arm.ID            `json:"resource"`
	Tags     map[string]string `json:"tags"`
}

// isProvidersTag reports whether the provider, or cloud-provider-azure, gives a tag its value.
func isProvidersTag(key string) bool {
	low := strings.ToLower(key)
	return strings.HasPrefix(low, infrav1.TagPrefix) || strings.HasPrefix(low, infrav1.CloudProviderTagPrefix) ||
		strings.EqualFold(key, infrav1.NameTag) || strings.EqualFold(key, infrav1.CustomDataHashTag)
}

// clusterTypes are the types whose resources carry the additional tags of the cluster.
var clusterTypes = []string{types.ResourceGroup, types.VirtualNetwork, types.NetworkSecurityGroup, types.RouteTable, types.PublicIPAddress,
	types.NATGateway, types.LoadBalancer, types.PrivateDNSZone}

// writeClusterTags writes the additional tags: those that all resources of the cluster have in common.
func (w *writer) writeClusterTags() error {
	var common map[string]string
	for _, key := range sortedKeys(w.estate.Resources) {
		r := w.estate.Resources[key]
		if !slices.ContainsFunc(clusterTypes, func(of string) bool { return strings.EqualFold(of, r.ID.Type()) }) {
			continue
		}
		body, err := decodeBody[head](r)
		if err != nil {
			return err
		}
		if !w.id.owns(body) {
			continue
		}
		own := maps.Clone(body.Tags)
		maps.DeleteFunc(own, func(key, _ string) bool { return isProvidersTag(key) })
		if common == nil {
			common = own
			if common == nil {
				common = map[string]string{}
			}
		}
		maps.DeleteFunc(common, func(key, value string) bool { return own[key] != value })
	}
	if len(common) > 0 {
		w.azure.Spec.AdditionalTags = common
	}
	return nil
}

// machineTags returns the additional tags of a machine or pool: those that it has besides the cluster's and the provider's.
func (w *writer) machineTags(h head) infrav1.Tags {
	var out infrav1.Tags
	for key, value := range h.Tags {
		if isProvidersTag(key) || w.azure.Spec.AdditionalTags[key] == value {
			continue
		}
		if out == nil {
			out = infrav1.Tags{}
		}
		out[key] = value
	}
	return out
}

// listTagChanges returns the tags that resources need before the objects are applied: the owner tag of resources that this provider created
// for objects that are gone, and the ownership tag of machines that were never managed.
func (w *writer) listTagChanges() ([]TagChange, error) {
	var out []TagChange
	owner := w.ownerTag()
	for _, key := range sortedKeys(w.estate.Resources) {
		r := w.estate.Resources[key]
		body, err := decodeBody[head](r)
		if err != nil {
			return nil, err
		}
		if value := body.tag(infrav1.OwnerTag); w.id.owns(body) && value != "" && value != owner {
			out = append(out, TagChange{Resource: r.ID, Tags: map[string]string{infrav1.OwnerTag: owner}})
		}
	}
	nodes, err := w.planNodes()
	if err != nil {
		return nil, err
	}
	add := func(id arm.ID, have head) error {
		missing, err := missingTags(nodes[id.Key()], have)
		if len(missing) == 0 || err != nil {
			return err
		}
		if i := slices.IndexFunc(out, func(c TagChange) bool { return c.Resource.Equal(id) }); i >= 0 {
			maps.Copy(out[i].Tags, missing)
			return nil
		}
		out = append(out, TagChange{Resource: id, Tags: missing})
		return nil
	}
	for _, m := range w.machines {
		// The manager keeps the tags of virtual machines in line.
		if err := add(m.ID, m.head); err != nil {
			return nil, err
		}
		for _, nic := range m.interfaces {
			if w.id.tagged {
				continue
			}
			if err := add(nic.ID, nic.head); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range w.pools {
		if w.id.tagged {
			continue
		}
		if err := add(p.ID, p.head); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// missingTags returns the tags of a plan that a resource lacks. The owner tag goes in with the next write.
func missingTags(node *arm.Node, have head) (map[string]string, error) {
	if node == nil || node.Body == nil {
		return nil, nil
	}
	body, err := arm.DecodeBody(node.Body)
	if err != nil {
		return nil, err
	}
	var planned struct{ Tags map[string]string }
	raw, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(raw, &planned)
	}
	for key, value := range planned.Tags {
		if strings.EqualFold(key, infrav1.OwnerTag) || have.tag(key) == value {
			delete(planned.Tags, key)
		}
	}
	return planned.Tags, err
}
