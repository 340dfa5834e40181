// Package leftovers finds the resources that programs of a self-managed cluster have left in the resource group of the
// cluster: load balancers and addresses of Services, and volumes. They are deleted with a group that belongs to the
// cluster. In a group that users brought no program deletes them once the cluster is gone, because their programs ran
// in the cluster.
//
// Azure's answers have to prove the owner of a resource when the cluster's machines are gone. Disks have no such proof
// then. So a disk gets a tag as long as Azure shows it attached to a machine of the cluster. The names and tags that
// cloud-provider-azure and the CSI drivers write are those of pkg/consts in sigs.k8s.io/cloud-provider-azure and of
// pkg/azureconstants in sigs.k8s.io/azuredisk-csi-driver.
//
// It is pure.
package leftovers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Tags of leftovers, in lower case.
const (
	clusterTag = "k8s-azure-cluster-name"
	createdTag = "k8s-azure-created-by"
	volumeTag  = "kubernetes.io-created-for-pvc-name"
)

// defaultClusterName is cloud-provider-azure's default of --cluster-name. It does not distinguish clusters.
const defaultClusterName = "kubernetes"

// Cluster is whose leftovers are looked for.
type Cluster struct {
	// Name is that of the Cluster, which cloud-provider-azure has as --cluster-name. Owner is the value of infrav1.OwnerTag on the
	// cluster's resources, "" for none.
	Name, Owner string
	// IsPlanned reports whether a resource is the cluster's own by its plan, which deletes it.
	IsPlanned func(arm.ID) bool
	// Network is the cluster's virtual network as Azure shows it, nil for none.
	Network json.RawMessage
}

// GroupContents are the contents of the resource group: all resources as its list shows them, and load balancers,
// addresses and disks whole. Disks are read only if the user requested their deletion.
type GroupContents struct {
	Resources, LoadBalancers, Addresses, Disks []json.RawMessage
	// Refused are the lists that Azure refused to show. Such resources count if other lists show them, and prove nothing.
	Refused []string
}

// The lists of GroupContents: that of all resources, and those of a type.
const (
	AllTypes      = "resources"
	LoadBalancers = types.LoadBalancer
	Addresses     = types.PublicIPAddress
	Disks         = types.Disk
)

func (s GroupContents) refused(list string) bool {
	return slices.ContainsFunc(s.Refused, func(refused string) bool { return strings.EqualFold(refused, list) })
}

// ofType returns the resources of a type.
func ofType(all []resourceBody, resourceType string) (out []resourceBody) {
	for _, one := range all {
		if strings.EqualFold(one.ID.Type(), resourceType) {
			out = append(out, one)
		}
	}
	return out
}

// Leftover is one resource.
type Leftover struct {
	ID arm.ID
	// UnprovenReason is the reason why the resource may belong to others, "" for one that is proven to be the
	// cluster's.
	UnprovenReason string
}

// resourceBody has the properties of a resource that decide about it.
type resourceBody struct {
	ID   arm.ID            `json:"id"`
	Tags map[string]string `json:"tags"`
	// ManagedBy is the VM that has a disk attached. A shared disk has ManagedByExtended.
	ManagedBy         arm.ID            `json:"managedBy"`
	ManagedByExtended []json.RawMessage `json:"managedByExtended"`
	Properties        struct {
		MaxShares int `json:"maxShares"`
		// IPConfiguration is the configuration that uses an address.
		IPConfiguration *resourceReference `json:"ipConfiguration"`
		NATGateway      *resourceReference `json:"natGateway"`
		Frontends       []struct {
			Properties struct {
				PublicIPAddress, Subnet *resourceReference
			} `json:"properties"`
		} `json:"frontendIPConfigurations"`
		Pools []struct {
			Properties struct {
				Members   []resourceReference `json:"backendIPConfigurations"`
				Addresses []json.RawMessage   `json:"loadBalancerBackendAddresses"`
			} `json:"properties"`
		} `json:"backendAddressPools"`
	} `json:"properties"`
}

type resourceReference struct {
	ID arm.ID `json:"id"`
}

// FindLeftovers lists the leftovers: load balancers, then addresses, then all others.
func FindLeftovers(c Cluster, seen GroupContents) []Leftover {
	all, balancers, addresses := decodeResources(seen.Resources), decodeResources(seen.LoadBalancers), decodeResources(seen.Addresses)
	shared := c.sharedNameReason(all)
	if seen.refused(AllTypes) {
		all = slices.Concat(balancers, addresses, decodeResources(seen.Disks))
		if shared == "" {
			shared = "Azure refused to list the resource group, which may have resources of another cluster of this name"
		}
	}
	if seen.refused(LoadBalancers) {
		balancers = ofType(all, LoadBalancers)
	}
	if seen.refused(Addresses) {
		addresses = ofType(all, Addresses)
	}
	hasClusterName := map[string]bool{} // addresses by the tag that names the cluster
	for _, address := range addresses {
		hasClusterName[address.ID.Key()] = tagValue(address.Tags, clusterTag) == c.Name && !c.hasOwnershipTag(address)
	}
	disks := map[string]*resourceBody{}
	for _, disk := range decodeResources(seen.Disks) {
		disks[disk.ID.Key()] = &disk
	}
	proven := map[string]bool{}
	var out []Leftover
	add := func(id arm.ID, unproven string) {
		switch {
		case shared != "":
			unproven = shared
		case seen.refused(id.Type()):
			unproven = "Azure refused to list the resources of its type"
		}
		proven[id.Key()] = unproven == ""
		out = append(out, Leftover{ID: id, UnprovenReason: unproven})
	}
	for _, lb := range balancers {
		if c.isServiceLoadBalancer(lb.ID) && !c.IsPlanned(lb.ID) && !c.hasOwnershipTag(lb) {
			add(lb.ID, c.unprovenLoadBalancerReason(lb, hasClusterName))
		}
	}
	for _, address := range addresses {
		if !hasClusterName[address.ID.Key()] || c.IsPlanned(address.ID) {
			continue
		}
		unproven := ""
		if user := findAddressUser(address); user != "" && !proven[user.Key()] {
			unproven = "it is used by " + user.ShortName()
		}
		add(address.ID, unproven)
	}
	for _, one := range all {
		switch {
		case c.IsPlanned(one.ID) || c.hasOwnershipTag(one) || slices.ContainsFunc(out, func(l Leftover) bool { return l.ID.Equal(one.ID) }):
		case c.isVolume(one):
			whole := disks[one.ID.Key()]
			if one.ManagedBy == "" && (whole == nil || whole.ManagedBy == "" && c.isVolume(*whole)) {
				add(one.ID, c.unprovenDiskReason(whole))
			}
		case tagValue(one.Tags, createdTag) != "" && !strings.EqualFold(one.ID.Type(), types.Disk):
			add(one.ID, "its tags name no cluster")
		}
	}
	return out
}

// HasClusterTags reports whether a resource carries the cluster's tags.
func (c Cluster) HasClusterTags(body json.RawMessage) bool {
	var one resourceBody
	// A body that cannot be read is not the cluster's.
	_ = json.Unmarshal(body, &one)
	owner := tagValue(one.Tags, infrav1.OwnerTag)
	return tagValue(one.Tags, infrav1.ClusterTagKey(c.Name)) == infrav1.TagOwned && (owner == "" || owner == c.Owner)
}

// HasCandidates reports whether any of the resources of a group may be a leftover, so that it is worth looking closer.
func (c Cluster) HasCandidates(resources []json.RawMessage) bool {
	return slices.ContainsFunc(decodeResources(resources), func(one resourceBody) bool {
		of := one.ID.Type()
		return strings.EqualFold(of, types.LoadBalancer) && c.isServiceLoadBalancer(one.ID) && !c.IsPlanned(one.ID) ||
			tagValue(one.Tags, clusterTag) == c.Name || tagValue(one.Tags, volumeTag) != "" || tagValue(one.Tags, createdTag) != ""
	})
}

// sharedNameReason returns why another cluster may use the same names, "" if none does. The machines of this cluster
// are gone.
func (c Cluster) sharedNameReason(all []resourceBody) string {
	if strings.EqualFold(c.Name, defaultClusterName) {
		return fmt.Sprintf("%q is the default cluster name of cloud-provider-azure, which several clusters may use", defaultClusterName)
	}
	for _, one := range all {
		machine := strings.EqualFold(one.ID.Type(), types.VirtualMachine) || strings.EqualFold(one.ID.Type(), types.ScaleSet)
		owner := tagValue(one.Tags, infrav1.OwnerTag)
		if owner != "" && owner == c.Owner {
			continue // Lists may still show machines that are gone.
		}
		if machine && tagValue(one.Tags, infrav1.CloudProviderTagKey(c.Name)) != "" ||
			tagValue(one.Tags, infrav1.ClusterTagKey(c.Name)) == infrav1.TagOwned && owner != "" {
			return fmt.Sprintf("%s in the resource group belongs to another cluster with this name", one.ID.ShortName())
		}
	}
	return ""
}

// hasOwnershipTag reports whether a resource carries the ownership tag of any cluster, which its own provider looks after.
func (c Cluster) hasOwnershipTag(one resourceBody) bool {
	for key := range one.Tags {
		if infrav1.Marks(key) {
			return true
		}
	}
	return false
}

// isServiceLoadBalancer reports whether a load balancer has the name of those of Services of the cluster.
func (c Cluster) isServiceLoadBalancer(lb arm.ID) bool {
	return strings.EqualFold(lb.Name(), c.Name) || strings.EqualFold(lb.Name(), c.Name+"-internal")
}

// unprovenLoadBalancerReason returns why a load balancer with the cluster's name may belong to others. Its own document
// has to show that each frontend uses a resource of the cluster: an address with the cluster's name, or the network
// that carries the cluster's tags. Its pools must be empty, since the cluster's machines are gone.
func (c Cluster) unprovenLoadBalancerReason(lb resourceBody, hasClusterName map[string]bool) string {
	for _, pool := range lb.Properties.Pools {
		if len(pool.Properties.Members)+len(pool.Properties.Addresses) > 0 {
			return "its pools have members, and the cluster's machines are gone"
		}
	}
	if len(lb.Properties.Frontends) == 0 {
		return "it has no frontend that identifies its owner"
	}
	for _, frontend := range lb.Properties.Frontends {
		address, subnet := frontend.Properties.PublicIPAddress, frontend.Properties.Subnet
		if !(address != nil && hasClusterName[address.ID.Key()] || subnet != nil && c.isClusterNetwork(subnet.ID.Parent())) {
			return "a frontend of it uses neither an address with the cluster's name nor the cluster's own network"
		}
	}
	return ""
}

// isClusterNetwork reports whether a virtual network carries the cluster's tags.
func (c Cluster) isClusterNetwork(id arm.ID) bool {
	var network resourceBody
	// A body that cannot be read proves nothing.
	_ = json.Unmarshal(c.Network, &network)
	return network.ID.Equal(id) && c.HasClusterTags(c.Network)
}

// findAddressUser returns the load balancer or other resource that uses an address, "" for none.
func findAddressUser(address resourceBody) arm.ID {
	if gateway := address.Properties.NATGateway; gateway != nil {
		return gateway.ID
	}
	if address.Properties.IPConfiguration == nil {
		return ""
	}
	id := address.Properties.IPConfiguration.ID
	for parent := id.Parent(); parent != "" && parent.Type() != types.ResourceGroup; parent = parent.Parent() {
		id = parent
	}
	return id
}

func decodeResources(raw []json.RawMessage) (out []resourceBody) {
	for _, one := range raw {
		var r resourceBody
		// An answer of another shape is no match.
		if json.Unmarshal(one, &r) == nil && r.ID != "" {
			out = append(out, r)
		}
	}
	return out
}

// tagValue returns the value of a tag, "" for none: names of tags have no case.
func tagValue(tags map[string]string, key string) string {
	for other, value := range tags {
		if strings.EqualFold(other, key) {
			return value
		}
	}
	return ""
}
