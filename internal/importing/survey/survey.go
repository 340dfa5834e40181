// Package survey reads the part of a subscription that may belong to a self-managed cluster: the resources of a resource group, and those
// elsewhere that they use or that carry the cluster's tag.
//
// It sends GET requests only, one after the other, each once, and may be repeated.
package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
)

// Selection selects the resources of a cluster.
type Selection struct {
	Subscription string
	// Group is the resource group; "" finds it by the tag or the name of the cluster.
	Group string
	// TagKey and TagValue select machines by a tag; "" selects all.
	TagKey, TagValue string
	// Cluster is the name of the cluster, or "".
	Cluster string
}

// maxResources bounds the resources of one group. A cluster of a thousand machines has about four thousand.
const maxResources = 10000

// genericVersion is the api-version of lists of resources of all types and of resource groups.
const genericVersion = "2021-04-01"

// described are the types that a manifest describes, or that its resources are part of.
var described = []string{types.VirtualMachine, types.ScaleSet, types.Disk, types.AvailabilitySet, types.VirtualNetwork,
	types.NetworkSecurityGroup, types.RouteTable, types.PublicIPAddress, types.NATGateway, types.LoadBalancer, types.NetworkInterface,
	types.PrivateEndpoint, types.BastionHost, types.PrivateDNSZone, types.VirtualNetworkLink, types.VirtualMachineExtension}

// reader reads one estate.
type reader struct {
	live *overlay.Live
	out  importing.Estate
	// progress is called with the number of resources after each one.
	progress func(n int)
}

// Read reads the estate of a selection. progress is called with the number of resources that were read; nil is not called.
func Read(ctx context.Context, live *overlay.Live, s Selection, progress func(n int)) (importing.Estate, error) {
	r := &reader{live: live, progress: progress, out: importing.Estate{Subscription: s.Subscription, Group: s.Group,
		Resources: map[string]importing.Resource{}, Unreadable: map[arm.ID]string{}, RoleAssignments: map[string][]importing.Resource{}}}
	if err := r.findGroup(ctx, s); err != nil {
		return r.out, err
	}
	if err := r.readGroup(ctx, s); err != nil {
		return r.out, err
	}
	if err := r.readTagged(ctx, s); err != nil {
		return r.out, err
	}
	if err := r.readUsed(ctx); err != nil {
		return r.out, err
	}
	return r.out, r.readRoles(ctx)
}

// item is an element of a list of resources of all types.
type item struct {
	ID, Name, Type string
	Tags           map[string]string
}

// findGroup finds the resource group of the machines if the user names none.
func (r *reader) findGroup(ctx context.Context, s Selection) error {
	if s.Group != "" {
		return nil
	}
	key, value := s.TagKey, s.TagValue
	if key == "" {
		key, value = infrav1.ClusterTagKey(s.Cluster), infrav1.TagOwned
	}
	items, err := r.listTagged(ctx, s.Subscription, key, value)
	if err != nil {
		return err
	}
	var groups []string
	for _, each := range items {
		if isMachine(each.Type) {
			groups = append(groups, strings.ToLower(arm.ID(each.ID).ResourceGroup()))
		}
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	switch len(groups) {
	case 0:
		return fmt.Errorf("subscription %s has no virtual machine and no scale set with the tag %s=%s. Pass the group of the cluster with --resource-group", s.Subscription, key, value)
	case 1:
		r.out.Group = groups[0]
		return nil
	}
	return fmt.Errorf("machines with the tag %s=%s are in %d resource groups: %s. Choose one with --resource-group", key, value, len(groups),
		strings.Join(groups[:min(len(groups), 10)], ", "))
}

func isMachine(resourceType string) bool {
	return strings.EqualFold(resourceType, types.VirtualMachine) || strings.EqualFold(resourceType, types.ScaleSet)
}

// readGroup reads the resource group and its resources.
func (r *reader) readGroup(ctx context.Context, s Selection) error {
	id := arm.ResourceGroupID(s.Subscription, r.out.Group)
	raw, err := r.get(ctx, string(id), url.Values{"api-version": {genericVersion}})
	if isStatus(err, http.StatusNotFound) {
		return fmt.Errorf("subscription %s has no resource group %s. Check --subscription and --resource-group", s.Subscription, r.out.Group)
	}
	if err != nil {
		return fmt.Errorf("read resource group %s: %w", r.out.Group, err)
	}
	var group struct{ Name, ManagedBy string }
	if err := json.Unmarshal(raw, &group); err != nil {
		return fmt.Errorf("read resource group %s: %w", r.out.Group, err)
	}
	if strings.EqualFold(arm.ID(group.ManagedBy).Type(), types.ManagedCluster) {
		return fmt.Errorf("resource group %s is the node resource group of the AKS cluster %s. Use kubectl capz adopt for AKS clusters", r.out.Group, arm.ID(group.ManagedBy).Name())
	}
	if group.Name != "" {
		r.out.Group = group.Name
		id = arm.ResourceGroupID(s.Subscription, group.Name)
	}
	r.add(id, raw)
	raw, err = r.get(ctx, string(id)+"/resources", url.Values{"api-version": {genericVersion}})
	if err != nil {
		return fmt.Errorf("list the resources of resource group %s: %w", r.out.Group, err)
	}
	items, err := decodeList(raw)
	if err != nil {
		return fmt.Errorf("list the resources of resource group %s: %w", r.out.Group, err)
	}
	if len(items) > maxResources {
		return fmt.Errorf("resource group %s has %d resources, and at most %d are read. Select those of the cluster with --tag, in a group of their own", r.out.Group, len(items), maxResources)
	}
	for _, each := range items {
		itemID, err := arm.ParseID(each.ID)
		if err != nil || !itemID.IsWithin(id) {
			return fmt.Errorf("list the resources of resource group %s: an element has the ID %q, which is not in the group", r.out.Group, each.ID)
		}
		if s.TagKey != "" && isMachine(each.Type) && !hasTag(each.Tags, s.TagKey, s.TagValue) {
			continue
		}
		if err := r.readKnown(ctx, itemID); err != nil {
			return err
		}
	}
	return nil
}

func hasTag(tags map[string]string, key, value string) bool {
	for name, has := range tags {
		if strings.EqualFold(name, key) && has == value {
			return true
		}
	}
	return false
}

// readTagged reads the resources in other groups that carry the ownership tag of the cluster, such as its network or DNS zone.
func (r *reader) readTagged(ctx context.Context, s Selection) error {
	names, err := r.out.ClusterNames()
	if err != nil {
		return err
	}
	name := s.Cluster
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
		return nil
	}
	items, err := r.listTagged(ctx, s.Subscription, infrav1.ClusterTagKey(name), infrav1.TagOwned)
	if err != nil {
		return err
	}
	for _, each := range items {
		id, err := arm.ParseID(each.ID)
		if err != nil {
			return fmt.Errorf("list the resources of cluster %s: %w", name, err)
		}
		if strings.EqualFold(id.ResourceGroup(), r.out.Group) {
			continue
		}
		if err := r.readKnown(ctx, id); err != nil {
			return err
		}
	}
	return r.readOtherGroups(ctx)
}

// readOtherGroups reads the groups of the resources that are elsewhere.
func (r *reader) readOtherGroups(ctx context.Context) error {
	for _, key := range sortedKeys(r.out.Resources) {
		id := arm.ResourceGroupID(r.out.Subscription, r.out.Resources[key].ID.ResourceGroup())
		if err := r.readOne(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// listTagged lists the resources of the subscription with a tag.
func (r *reader) listTagged(ctx context.Context, subscription, key, value string) ([]item, error) {
	// A quotation mark in a text of OData is doubled.
	text := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	raw, err := r.get(ctx, "/subscriptions/"+subscription+"/resources", url.Values{"api-version": {genericVersion},
		"$filter": {"tagName eq " + text(key) + " and tagValue eq " + text(value)}})
	if err != nil {
		return nil, fmt.Errorf("list the resources of subscription %s with the tag %s: %w", subscription, key, err)
	}
	items, err := decodeList(raw)
	if err != nil {
		return nil, fmt.Errorf("list the resources of subscription %s with the tag %s: %w", subscription, key, err)
	}
	if len(items) > maxResources {
		return nil, fmt.Errorf("subscription %s has %d resources with the tag %s, and at most %d are read. Pass --resource-group", subscription, len(items), key, maxResources)
	}
	return items, nil
}

func decodeList(raw []byte) ([]item, error) {
	var list struct{ Value []item }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("the answer of Azure is not a list of resources")
	}
	return list.Value, nil
}

// readKnown reads a resource of a type that manifests describe, with the resources below it. Others are only listed.
func (r *reader) readKnown(ctx context.Context, id arm.ID) error {
	if !slices.ContainsFunc(described, func(of string) bool { return strings.EqualFold(of, id.Type()) }) {
		r.out.Others = append(r.out.Others, id)
		return nil
	}
	return r.readOne(ctx, id)
}

// collections are the resources below others that are not part of their bodies.
var collections = map[string][]string{
	types.VirtualMachine: {types.VirtualMachineExtension},
	types.PrivateDNSZone: {types.VirtualNetworkLink, types.ARecord, types.AAAARecord},
}

// readOne reads a resource, unless it was read.
func (r *reader) readOne(ctx context.Context, id arm.ID) error {
	if _, has := r.out.Resources[id.Key()]; has || r.out.Unreadable[id] != "" {
		return nil
	}
	if len(r.out.Resources) >= maxResources {
		return fmt.Errorf("more than %d resources would be read. Select those of the cluster with --tag", maxResources)
	}
	row, err := types.ForID(id)
	if err != nil {
		return err
	}
	raw, err := r.get(ctx, string(id), queryOf(row.APIVersion, row.GetQuery))
	switch {
	case isStatus(err, http.StatusNotFound):
		return nil // It was deleted meanwhile, or another resource still refers to it.
	case isStatus(err, http.StatusForbidden):
		r.out.Unreadable[id] = err.Error()
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", id, err)
	}
	r.add(id, raw)
	for of, below := range collections {
		if !strings.EqualFold(of, id.Type()) {
			continue
		}
		for _, child := range below {
			if err := r.readCollection(ctx, id, child); err != nil {
				return err
			}
		}
	}
	return nil
}

func queryOf(version string, more map[string][]string) url.Values {
	query := url.Values{"api-version": {version}}
	for key, values := range more {
		query[key] = values
	}
	return query
}

// readCollection reads the resources of a type below another one.
func (r *reader) readCollection(ctx context.Context, id arm.ID, resourceType string) error {
	word := resourceType[strings.LastIndexByte(resourceType, '/')+1:]
	row, err := types.ForID(id.Child(word, "any"))
	if err != nil {
		return err
	}
	raw, err := r.get(ctx, string(id)+"/"+word, queryOf(row.APIVersion, row.ListQuery))
	switch {
	case isStatus(err, http.StatusNotFound):
		return nil
	case isStatus(err, http.StatusForbidden):
		r.out.Unreadable[id.Child(word, "*")] = err.Error()
		return nil
	case err != nil:
		return fmt.Errorf("list the %s of %s: %w", word, id, err)
	}
	var list struct{ Value []json.RawMessage }
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("list the %s of %s: the answer of Azure is not a list", word, id)
	}
	for _, each := range list.Value {
		var named struct{ Name string }
		if err := json.Unmarshal(each, &named); err != nil || named.Name == "" || strings.ContainsAny(named.Name, "/?#%") {
			return fmt.Errorf("list the %s of %s: an element has no valid name", word, id)
		}
		r.add(id.Child(word, named.Name), each)
	}
	return nil
}

func (r *reader) add(id arm.ID, raw json.RawMessage) {
	r.out.Resources[id.Key()] = importing.Resource{ID: id, Body: raw}
	if r.progress != nil {
		r.progress(len(r.out.Resources))
	}
}
