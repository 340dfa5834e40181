package leftovers_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/leftovers"
)

type object = map[string]any

const (
	group   = "/subscriptions/s/resourceGroups/rg"
	network = group + "/providers/Microsoft.Network/"
	vnet    = network + "virtualNetworks/v"
	me      = "ns/c1/1"
)

// newResource returns a resource with tags and properties.
func newResource(id string, tags object, properties object) object {
	return object{"id": id, "tags": tags, "properties": properties}
}

// newAddress returns a public address of a Service of a cluster, used by a frontend of a load balancer, "" for none.
func newAddress(name, cluster, user string) object {
	properties := object{}
	if user != "" {
		properties["ipConfiguration"] = object{"id": network + "loadBalancers/" + user + "/frontendIPConfigurations/f"}
	}
	return newResource(network+"publicIPAddresses/"+name, object{"k8s-azure-cluster-name": cluster, "k8s-azure-service": "default/web"},
		properties)
}

// newLoadBalancer returns a load balancer with frontends, which are addresses and subnets, and with members of its pool.
func newLoadBalancer(name string, frontends []string, members ...string) object {
	var shown, inPool []object
	for _, used := range frontends {
		key := "publicIPAddress"
		if strings.Contains(used, "/subnets/") {
			key = "subnet"
		}
		shown = append(shown, object{"properties": object{key: object{"id": used}}})
	}
	for _, member := range members {
		inPool = append(inPool, object{"id": member})
	}
	return newResource(network+"loadBalancers/"+name, nil,
		object{"frontendIPConfigurations": shown, "backendAddressPools": []object{{"properties": object{"backendIPConfigurations": inPool}}}})
}

func marshalAll(objects ...object) (out []json.RawMessage) {
	for _, one := range objects {
		encoded, _ := json.Marshal(one)
		out = append(out, encoded)
	}
	return out
}

// withOwnerTag returns the disk of a volume with the tag of an owner, "" for none, and what else it has.
func withOwnerTag(owner string, more object) object {
	out := object{"id": group + "/providers/Microsoft.Compute/disks/pvc-1", "tags": object{"kubernetes.io-created-for-pvc-name": "data"}}
	if owner != "" {
		out["tags"].(object)[infrav1.VolumeTag] = owner
	}
	maps.Copy(out, more)
	return out
}

// TestFind compares the resources that are found, and those that are proven, with a table.
func TestFind(t *testing.T) {
	ours := object{infrav1.ClusterTagKey("c1"): "owned", infrav1.OwnerTag: me}
	ip := network + "publicIPAddresses/"
	disk := object{"id": group + "/providers/Microsoft.Compute/disks/pvc-1", "tags": object{"kubernetes.io-created-for-pvc-name": "data"}}
	attached := object{"id": group + "/providers/Microsoft.Compute/disks/pvc-2", "tags": object{"kubernetes.io-created-for-pvc-name": "data"},
		"managedBy": "/vm"}
	for name, test := range map[string]struct {
		reason    string
		cluster   string
		network   object
		resources []object
		balancers []object
		addresses []object
		want      map[string]string
		// disks are the group's disks as a request for them shows them, nil where they are not read. Resources have them, too.
		disks []object
	}{
		"Service": {"its address names the cluster, and its load balancer uses the address", "c1", nil, nil,
			[]object{newLoadBalancer("c1", []string{ip + "a"})}, []object{newAddress("a", "c1", "c1")},
			map[string]string{"loadBalancers/c1": "", "publicIPAddresses/a": ""}, nil},
		"internal Service": {"the load balancer is in the cluster's own network", "c1", newResource(vnet, ours, nil), nil,
			[]object{newLoadBalancer("c1-internal", []string{vnet + "/subnets/nodes"})}, nil, map[string]string{"loadBalancers/c1-internal": ""},
			nil},
		"internal Service in a network of others": {"anything may be in that", "c1", newResource(vnet, nil, nil), nil,
			[]object{newLoadBalancer("c1-internal", []string{vnet + "/subnets/nodes"})}, nil,
			map[string]string{"loadBalancers/c1-internal": "neither an address"}, nil},
		"network of a namesake": {"its tag names another owner", "c1",
			newResource(vnet, object{infrav1.ClusterTagKey("c1"): "owned", infrav1.OwnerTag: "other/c1/2"}, nil), nil,
			[]object{newLoadBalancer("c1-internal", []string{vnet + "/subnets/nodes"})}, nil,
			map[string]string{"loadBalancers/c1-internal": "neither an address"}, nil},
		"members": {"the cluster's machines are gone, so the members belong to others", "c1", nil, nil,
			[]object{newLoadBalancer("c1", []string{ip + "a"}, "/nic")}, []object{newAddress("a", "c1", "c1")},
			map[string]string{"loadBalancers/c1": "have members", "publicIPAddresses/a": "used by loadBalancers/c1"}, nil},
		"one frontend of others": {"one of two is not enough", "c1", nil, nil,
			[]object{newLoadBalancer("c1", []string{ip + "a", ip + "theirs"})}, []object{newAddress("a", "c1", "c1")},
			map[string]string{"loadBalancers/c1": "neither an address", "publicIPAddresses/a": "used by"}, nil},
		"load balancer of that name": {"a name is no proof", "c1", nil, nil, []object{newLoadBalancer("c1", nil)}, nil,
			map[string]string{"loadBalancers/c1": "no frontend"}, nil},
		"other names": {"they belong to others", "c1", nil, nil, []object{newLoadBalancer("c2", []string{ip + "a"})},
			[]object{newAddress("b", "c2", "")}, map[string]string{}, nil},
		"planned": {"the cluster's own outbound load balancer has the same name, and goes with the plan", "c1", nil, nil,
			[]object{newLoadBalancer("planned", []string{ip + "a"})}, nil, map[string]string{}, nil},
		"of another cluster's": {"its own provider manages it", "c1", nil, nil,
			[]object{newResource(network+"loadBalancers/c1", object{infrav1.ClusterTagKey("other"): "owned"}, nil)}, nil, map[string]string{}, nil},
		"default name": {"it is the default of all clusters", "kubernetes", nil, nil, nil,
			[]object{newAddress("a", "kubernetes", "")}, map[string]string{"publicIPAddresses/a": "several clusters may use"}, nil},
		"machines of a namesake": {"the cluster's own are gone", "c1", nil,
			[]object{newResource(group+"/providers/Microsoft.Compute/virtualMachines/m", object{"kubernetes.io_cluster_c1": "owned"}, nil)},
			nil, []object{newAddress("a", "c1", "")},
			map[string]string{"publicIPAddresses/a": "virtualMachines/m in the resource group belongs to another cluster"}, nil},
		"machines that a list still shows": {"they carry this owner's tag", "c1", nil,
			[]object{newResource(group+"/providers/Microsoft.Compute/virtualMachines/m",
				object{"kubernetes.io_cluster_c1": "owned", infrav1.OwnerTag: me}, nil)},
			nil, []object{newAddress("a", "c1", "")}, map[string]string{"publicIPAddresses/a": ""}, nil},
		"network of a namesake in the group": {"its owner is another one", "c1", nil,
			[]object{newResource(vnet, object{infrav1.ClusterTagKey("c1"): "owned", infrav1.OwnerTag: "other/c1/2"}, nil)},
			nil, []object{newAddress("a", "c1", "")},
			map[string]string{"publicIPAddresses/a": "virtualNetworks/v in the resource group belongs to another cluster"}, nil},
		"volumes": {"Azure does not record the owner of a disk; an attached one is in use", "c1", nil,
			[]object{disk, attached}, nil, nil, map[string]string{"disks/pvc-1": "does not show to which machines"}, nil},
		"volume of this cluster": {"a machine of the cluster had it attached when that was deleted", "c1", nil, nil, nil, nil,
			map[string]string{"disks/pvc-1": ""}, []object{withOwnerTag(me, nil)}},
		"volume without the tag": {"nothing shows that a machine of the cluster had it", "c1", nil, nil, nil, nil,
			map[string]string{"disks/pvc-1": "no machine of the cluster had the disk attached"}, []object{withOwnerTag("", nil)}},
		"volume of another cluster": {"the tag names another owner", "c1", nil, nil, nil, nil,
			map[string]string{"disks/pvc-1": "attached to a machine of another cluster"}, []object{withOwnerTag("other/c1/2", nil)}},
		"volume with the tag attached elsewhere": {"it is in use, so the tag proves nothing", "c1", nil, nil, nil, nil, map[string]string{},
			[]object{withOwnerTag(me, object{"managedBy": group + "/providers/Microsoft.Compute/virtualMachines/theirs"})}},
		"volume that a list shows late": {"the list of resources may not show yet that it was attached", "c1", nil,
			[]object{withOwnerTag(me, nil)}, nil, nil, map[string]string{}, []object{withOwnerTag(me, object{"managedBy": "/vm"})}},
		"volume with shares": {"other machines may use it", "c1", nil, nil, nil, nil,
			map[string]string{"disks/pvc-1": "shared disk"}, []object{withOwnerTag(me, object{"properties": object{"maxShares": 2}})}},
		"volume attached to several": {"they use it", "c1", nil, nil, nil, nil, map[string]string{"disks/pvc-1": "shared disk"},
			[]object{withOwnerTag(me, object{"managedByExtended": []string{"/vm"}})}},
		"user's disk with the tag": {"the CSI driver did not make it, so its data are the user's", "c1", nil, nil, nil, nil,
			map[string]string{}, []object{{"id": group + "/providers/Microsoft.Compute/disks/pvc-1", "tags": object{infrav1.VolumeTag: me}}}},
		"volume that its user gave up": {"the tag with the value shared keeps it", "c1", nil, nil, nil, nil, map[string]string{},
			[]object{{"id": group + "/providers/Microsoft.Compute/disks/pvc-1",
				"tags": object{"kubernetes.io-created-for-pvc-name": "data", infrav1.VolumeTag: me, infrav1.ClusterTagKey("c1"): "shared"}}}},
		"volume of a cluster with the default name": {"only reported, as everything of such a cluster", "kubernetes", nil, nil, nil, nil,
			map[string]string{"disks/pvc-1": "several clusters may use"}, []object{withOwnerTag(me, nil)}},
		"accounts": {"their tags name no cluster", "c1", nil,
			[]object{{"id": group + "/providers/Microsoft.Storage/storageAccounts/f1", "tags": object{"k8s-azure-created-by": "azure"}}},
			nil, nil, map[string]string{"storageAccounts/f1": "name no cluster"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := leftovers.Cluster{Name: test.cluster, Owner: me, IsPlanned: func(id arm.ID) bool { return id.Name() == "planned" }}
			if test.network != nil {
				c.Network = marshalAll(test.network)[0]
			}
			got := map[string]string{}
			for _, one := range leftovers.FindLeftovers(c, leftovers.GroupContents{
				Resources:     marshalAll(slices.Concat(test.resources, test.balancers, test.addresses, test.disks)...),
				LoadBalancers: marshalAll(test.balancers...), Addresses: marshalAll(test.addresses...), Disks: marshalAll(test.disks...),
			}) {
				got[one.ID.ShortName()] = one.UnprovenReason
			}
			same := cmp.Comparer(func(a, b string) bool {
				return a == b || a != "" && b != "" && (strings.Contains(a, b) || strings.Contains(b, a))
			})
			if diff := cmp.Diff(test.want, got, same); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestFindWithRefusedLists lets Azure refuse lists; it expects that resources count if other resources refer to them, and that they prove
// nothing.
func TestFindWithRefusedLists(t *testing.T) {
	balancer := newLoadBalancer("c1", []string{network + "publicIPAddresses/a"})
	service, disk := newAddress("a", "c1", "c1"), withOwnerTag(me, nil)
	for name, test := range map[string]struct {
		reason string
		list   string
		want   map[string]string
	}{
		"none": {"all of it is proven", "", map[string]string{"loadBalancers/c1": "", "publicIPAddresses/a": "", "disks/pvc-1": ""}},
		"load balancers": {"nothing else shows frontends, and the load balancer uses the address", "Microsoft.Network/loadBalancers",
			map[string]string{"loadBalancers/c1": "refused to list", "publicIPAddresses/a": "used by loadBalancers/c1", "disks/pvc-1": ""}},
		"addresses": {"the tags of the address are in the list of all resources", "Microsoft.Network/publicIPAddresses",
			map[string]string{"loadBalancers/c1": "", "publicIPAddresses/a": "refused to list", "disks/pvc-1": ""}},
		"disks": {"the owner of a shared disk is not known", "Microsoft.Compute/disks",
			map[string]string{"loadBalancers/c1": "", "publicIPAddresses/a": "", "disks/pvc-1": "refused to list"}},
		"all resources": {"there may be a cluster of this name", leftovers.AllTypes,
			map[string]string{"loadBalancers/c1": "refused to list", "publicIPAddresses/a": "refused to list", "disks/pvc-1": "refused to list"}},
	} {
		t.Run(name, func(t *testing.T) {
			lists := map[string][]json.RawMessage{
				leftovers.AllTypes: marshalAll(balancer, service, disk), "Microsoft.Network/loadBalancers": marshalAll(balancer),
				"Microsoft.Network/publicIPAddresses": marshalAll(service), "Microsoft.Compute/disks": marshalAll(disk),
			}
			delete(lists, test.list)
			c := leftovers.Cluster{Name: "c1", Owner: me, IsPlanned: func(arm.ID) bool { return false }}
			got := map[string]string{}
			for _, one := range leftovers.FindLeftovers(c, leftovers.GroupContents{
				Resources: lists[leftovers.AllTypes], LoadBalancers: lists["Microsoft.Network/loadBalancers"],
				Addresses: lists["Microsoft.Network/publicIPAddresses"],
				Disks:     lists["Microsoft.Compute/disks"], Refused: []string{test.list},
			}) {
				got[one.ID.ShortName()] = one.UnprovenReason
			}
			for name, want := range test.want {
				if one, ok := got[name]; !ok || (want == "") != (one == "") || !strings.Contains(one, want) {
					t.Errorf("%s: %s is found: %t, not proven because %q, want %q", test.reason, name, ok, one, want)
				}
			}
			if len(got) != len(test.want) {
				t.Errorf("%s: found are %v", test.reason, got)
			}
		})
	}
}
