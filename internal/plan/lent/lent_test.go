package lent_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

type object = map[string]any

const (
	subscription = "/subscriptions/s"
	// ours was created for the Cluster, brought is a group that users brought, theirs is of others.
	ours    = subscription + "/resourceGroups/ours"
	brought = subscription + "/resourceGroups/brought"
	theirs  = subscription + "/resourceGroups/theirs"

	theirIdentity = theirs + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
	theirVNet     = theirs + "/providers/Microsoft.Network/virtualNetworks/hub"
	contributor   = subscription + "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"
)

// azure has the resources that exist in Azure.
var azure = map[string]lent.Fact{
	ours:    {Exists: true, Tags: map[string]string{infrav1.ClusterTagKey("c1"): "owned", infrav1.OwnerTag: "us"}},
	brought: {Exists: true},
	theirs: {Exists: true,
		Tags: map[string]string{infrav1.ClusterTagKey("c1"): "owned", infrav1.OwnerTag: "another with a cluster of the same name"}},
	theirIdentity: {Exists: true},
	theirs + "/providers/Microsoft.Network/privateDnsZones/z": {Exists: true},
	theirs + "/providers/Microsoft.Compute/disks/secret":      {Unreadable: true},
	theirVNet: {Exists: true},
	brought + "/providers/Microsoft.Network/loadBalancers/ours": {Exists: true,
		Tags: map[string]string{infrav1.ClusterTagKey("c1"): "owned"}},
	brought + "/providers/Microsoft.Network/loadBalancers/theirs": {Exists: true,
		Tags: map[string]string{infrav1.ClusterTagKey("c2"): "owned"}},
	brought + "/providers/Microsoft.Compute/disks/unmarked":                                {Exists: true},
	theirs + "/providers/Microsoft.ContainerService/fleets/f":                              {Exists: true},
	subscription + "/resourceGroups/listed/providers/Microsoft.Compute/images/not-asked":   {},
	theirs + "/providers/Microsoft.ContainerService/managedClusters/aks":                   {Exists: true},
	theirs + "/providers/Microsoft.Network/privateDnsZones/z/virtualNetworkLinks/existing": {Exists: true},
}

func newID(group, resourceType, name string) arm.ID {
	return arm.ID(group + "/providers/" + resourceType + "/" + name)
}

// restrictGraph restricts a graph and answers missing facts from azure. It returns the denials.
func restrictGraph(t *testing.T, g *arm.Graph, grants lent.Grants) []arm.Denial {
	t.Helper()
	grants.Identity = "AzureClusterIdentity operator/shared"
	input := lent.Input{Grants: grants, Owner: ownership.Owner{Cluster: "c1", ID: "us"}, Facts: map[string]lent.Fact{},
		Field: func(arm.ID) string { return "" }}
	for range 5 {
		missing := lent.ListMissingFacts(g, input)
		if len(missing) == 0 {
			return lent.RestrictGraph(g, input)
		}
		for _, id := range missing {
			if strings.Contains(string(id), "not-asked") {
				t.Errorf("%s is read, although the answer does not depend on it", id)
			}
			for shown, fact := range azure {
				if arm.ID(shown).Equal(id) {
					input.Facts[id.Key()] = fact
				}
			}
			if _, shown := input.Facts[id.Key()]; !shown {
				input.Facts[id.Key()] = lent.Fact{}
			}
		}
	}
	t.Fatal("something is missing again and again")
	return nil
}

func TestRestrict(t *testing.T) {
	vm := func(identity string) arm.Node {
		return arm.Node{ID: newID(ours, "Microsoft.Compute/virtualMachines", "vm"), Policy: arm.CreateOnly,
			Body: object{"identity": object{"userAssignedIdentities": object{identity: object{}}}}}
	}
	role := func(scope string) arm.Node {
		return arm.Node{ID: arm.ID(scope).Extension(types.RoleAssignment, "r"), Policy: arm.CreateOnly, Foreign: arm.UseForeign,
			Body: object{"properties": object{"roleDefinitionId": contributor}}}
	}
	disk := func(source string) arm.Node {
		return arm.Node{ID: newID(ours, "Microsoft.Compute/disks", "d"), Policy: arm.Repair,
			Body: object{"properties": object{"creationData": object{"sourceResourceId": source}}}}
	}
	tests := map[string]struct {
		reason string
		nodes  []arm.Node
		grants lent.Grants
		// denied are parts of the messages, waits whether the last node waits.
		denied []string
		waits  bool
	}{
		"role on the subscription": {"it gives rights on everything of the identity's owner", []arm.Node{role(subscription)}, lent.Grants{},
			[]string{"outside of the resource groups"}, false},
		"role on a management group": {"it is above the subscription", []arm.Node{role("/providers/Microsoft.Management/managementGroups/m")},
			lent.Grants{}, []string{"outside of the resource groups"}, false},
		"role on a group of others": {"it grants rights on their resources", []arm.Node{role(theirs)}, lent.Grants{},
			[]string{"outside of the resource groups"}, false},
		"role on a brought group": {"users may bring a group of others", []arm.Node{role(brought)}, lent.Grants{},
			[]string{"outside of the resource groups"}, false},
		"role on the Cluster's group": {"everything in it is the Cluster's", []arm.Node{role(ours)}, lent.Grants{}, nil, false},
		"role in the Cluster's group": {"it is below the group", []arm.Node{role(ours + "/providers/Microsoft.Network/virtualNetworks/v")},
			lent.Grants{}, nil, false},
		"role on a group's namesake": {"the name only begins as that of the group", []arm.Node{role(ours + "-2")}, lent.Grants{}, nil, true},
		"role where the owner allows": {"spec.allowedRoleScopes has it", []arm.Node{role(theirs)},
			lent.Grants{RoleScopes: lent.ParseIDs([]string{subscription})}, nil, false},
		"role on a listed resource": {"to use a resource is not to give rights on it", []arm.Node{role(theirs)},
			lent.Grants{Resources: lent.ParseIDs([]string{theirs})}, []string{"outside of the resource groups"}, false},
		"role that waits for its VM": {"it is known from the start whether it will be denied",
			[]arm.Node{{ID: arm.ID(subscription).Extension(types.RoleAssignment, "r"), Blocked: "the VM has no identity yet"}}, lent.Grants{},
			[]string{"outside of the resource groups"}, false},
		"role definition for everyone": {"it can be assigned in the subscription",
			[]arm.Node{{ID: arm.ID(ours).Extension("Microsoft.Authorization/roleDefinitions", "d"),
				Body: object{"properties": object{"assignableScopes": []any{subscription}}}}}, lent.Grants{}, []string{"properties.assignableScopes[]"},
			false},
		"role definition for a network": {"to assign a role is not to join",
			[]arm.Node{{ID: arm.ID(ours).Extension("Microsoft.Authorization/roleDefinitions", "d"),
				Body: object{"properties": object{"assignableScopes": []any{theirVNet}}}}}, lent.Grants{}, []string{"properties.assignableScopes[]"},
			false},

		"identity of others": {"VMs would act as it", []arm.Node{vm(theirIdentity)}, lent.Grants{},
			[]string{"identity.userAssignedIdentities.* and is not the Cluster's"}, false},
		"identity in other letters": {"Azure compares IDs without regard to case", []arm.Node{vm(strings.ToUpper(theirIdentity))}, lent.Grants{},
			[]string{"is not the Cluster's"}, false},
		"identity without slash": {"Azure takes it, too", []arm.Node{vm(strings.TrimPrefix(theirIdentity, "/"))}, lent.Grants{},
			[]string{"is not the Cluster's"}, false},
		"identity that leads there": {"Azure reads another path",
			[]arm.Node{vm(ours + "/../theirs/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i")}, lent.Grants{},
			[]string{"leads to another path"}, false},
		"identity with an escape": {"Azure reads another path",
			[]arm.Node{vm(ours + "%2f..%2ftheirs/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i")}, lent.Grants{},
			[]string{"contains the character"}, false},
		"identity that is listed": {"its owner allows it", []arm.Node{vm(theirIdentity)},
			lent.Grants{Resources: lent.ParseIDs([]string{theirIdentity})}, nil, false},
		"identity in a listed group": {"everything below is allowed", []arm.Node{vm(strings.ToUpper(theirIdentity))},
			lent.Grants{Resources: lent.ParseIDs([]string{theirs})}, nil, false},
		"listed beginning of a name": {"an entry is a whole segment", []arm.Node{vm(theirIdentity)},
			lent.Grants{Resources: lent.ParseIDs([]string{theirs[:len(theirs)-1]})}, []string{"is not the Cluster's"}, false},
		"scope for roles alone": {"to give rights is not to use", []arm.Node{vm(theirIdentity)},
			lent.Grants{RoleScopes: lent.ParseIDs([]string{theirs})}, []string{"is not the Cluster's"}, false},
		"own identity": {"it is in the Cluster's group",
			[]arm.Node{vm(ours + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i")}, lent.Grants{}, nil, false},
		"listed with dots": {"an entry that leads elsewhere allows nothing", []arm.Node{vm(theirIdentity)},
			lent.Grants{Resources: lent.ParseIDs([]string{ours + "/../theirs"})}, []string{"is not the Cluster's"}, false},

		"copy of a disk of others": {"it has their data", []arm.Node{disk(theirs + "/providers/Microsoft.Compute/disks/secret")}, lent.Grants{},
			[]string{"creationData.sourceResourceId"}, false},
		"copy in a brought group": {"not all in it is the Cluster's", []arm.Node{disk(brought + "/providers/Microsoft.Compute/disks/unmarked")},
			lent.Grants{}, []string{"creationData.sourceResourceId"}, false},
		"copy of a disk as URL": {"Azure takes the URL of a resource",
			[]arm.Node{disk("https://management.azure.com" + theirs + "/providers/Microsoft.Compute/disks/secret")}, lent.Grants{},
			[]string{"is not the Cluster's"}, false},
		"copy of a planned disk": {"the plan creates it", []arm.Node{disk(newDiskID("e")), {ID: arm.ID(newDiskID("e")), Body: object{}}},
			lent.Grants{},
			nil, false},
		"copy of an observed disk": {"the plan only reads it",
			[]arm.Node{disk(theirs + "/providers/Microsoft.Compute/disks/secret"),
				{ID: newID(theirs, "Microsoft.Compute/disks", "secret"), Policy: arm.Observe}}, lent.Grants{}, []string{"is not the Cluster's"}, false},
		"disk of a file": {"a URL does not show the owner of the file",
			[]arm.Node{{ID: newID(ours, "Microsoft.Compute/images", "i"),
				Body: object{"properties": object{"storageProfile": object{"osDisk": object{"blobUri": "https://x.blob.core.windows.net/vhds/secret.vhd"}}}}}}, lent.Grants{}, []string{"blobUri names a file, an account or a shared gallery"}, false},
		"logs into an account": {"Azure writes there, and a URL does not show the owner of the account",
			[]arm.Node{{ID: newID(ours, "Microsoft.Compute/virtualMachines", "vm"),
				Body: object{"properties": object{"diagnosticsProfile": object{"bootDiagnostics": object{"storageUri": "https://x.blob.core.windows.net/"}}}}}}, lent.Grants{}, []string{"storageUri names a file, an account or a shared gallery"}, false},
		"containers of disks": {"a scale set writes there, and a URL does not show the owner of the account",
			[]arm.Node{{ID: newID(ours, "Microsoft.Compute/virtualMachineScaleSets", "vms"),
				Body: object{"properties": object{"virtualMachineProfile": object{"storageProfile": object{"osDisk": object{"vhdContainers": []any{"https://x.blob.core.windows.net/vhds"}}}}}}}}, lent.Grants{}, []string{"names a file, an account or a shared gallery"}, false},
		"image of a file": {"a URL does not show the owner of the file",
			[]arm.Node{{ID: newID(ours, "Microsoft.Compute/virtualMachines", "vm"),
				Body: object{"properties": object{"storageProfile": object{"osDisk": object{"image": object{"uri": "https://x.blob.core.windows.net/vhds/secret.vhd"}}}}}}}, lent.Grants{}, []string{"uri names a file, an account or a shared gallery"}, false},
		"image of a shared gallery": {"the ID does not show the owner of the gallery",
			[]arm.Node{{ID: newID(ours, "Microsoft.Compute/virtualMachines", "vm"),
				Body: object{"properties": object{"storageProfile": object{"imageReference": object{"sharedGalleryImageId": "/sharedGalleries/theirs/images/i/versions/1"}}}}}}, lent.Grants{}, []string{"sharedGalleryImageId names a file, an account or a shared gallery"}, false},
		"group of another letter": {"the lower case of the Kelvin sign is k, so that its group would be taken for that of others",
			[]arm.Node{{ID: newID(subscription+"/resourceGroups/\u212A1", "Microsoft.Compute/disks", "d"), Body: object{}}}, lent.Grants{},
			[]string{"has the case of another letter"}, false},
		"absent disk": {"the message does not reveal the resources in a group of others",
			[]arm.Node{disk(brought + "/providers/Microsoft.Compute/disks/later")}, lent.Grants{}, []string{"is not the Cluster's"}, false},
		"disk in no group": {"it is not known whose the group will be",
			[]arm.Node{disk(ours + "-3/providers/Microsoft.Compute/disks/d")}, lent.Grants{}, nil, true},
		"listed image": {"nothing has to be read for that",
			[]arm.Node{disk(subscription + "/resourceGroups/listed/providers/Microsoft.Compute/images/not-asked")},
			lent.Grants{Resources: lent.ParseIDs([]string{subscription + "/resourceGroups/listed"})}, nil, false},
		"image of the community": {"it is not a resource of a subscription", []arm.Node{disk("/CommunityGalleries/g/Images/i/Versions/v")},
			lent.Grants{}, nil, false},
		"load balancer in a group": {"it carries the Cluster's tag",
			[]arm.Node{{ID: newID(ours, types.NetworkInterface, "n"),
				Body: object{"pool": object{"id": brought + "/providers/Microsoft.Network/loadBalancers/ours/backendAddressPools/p"}}}}, lent.Grants{},
			nil, false},
		"load balancer of others": {"it carries another tag",
			[]arm.Node{{ID: newID(ours, types.NetworkInterface, "n"),
				Body: object{"pool": object{"id": brought + "/providers/Microsoft.Network/loadBalancers/theirs/backendAddressPools/p"}}}},
			lent.Grants{}, []string{"pool.id"}, false},
		"tag that is an ID": {"tags name nothing",
			[]arm.Node{{ID: newID(ours, types.NetworkInterface, "n"),
				Body: object{"tags": object{"see": theirIdentity}}}}, lent.Grants{}, nil, false},
		"text that contains an ID": {"a script in a VM has the rights of the VM",
			[]arm.Node{{ID: newID(ours, "Microsoft.Compute/virtualMachines", "vm/extensions/n"),
				Body: object{"properties": object{"settings": object{"commandToExecute": "az disk show --ids " + theirIdentity}}}}}, lent.Grants{}, nil,
			false},
		"subnet of others to join": {"joining a network changes nothing in it",
			[]arm.Node{{ID: newID(ours, types.NetworkInterface, "n"),
				Body: object{"subnet": object{"id": theirVNet + "/subnets/s"}}}}, lent.Grants{},
			nil, false},
		"network of others to link": {"names mean something else for all who are in it",
			[]arm.Node{{ID: newID(ours, "Microsoft.Network/privateDnsZones", "z"), Body: object{}},
				{ID: newID(ours, "Microsoft.Network/privateDnsZones", "z/virtualNetworkLinks/l"),
					Body: object{"properties": object{"virtualNetwork": object{"id": theirVNet}}}}}, lent.Grants{},
			[]string{"properties.virtualNetwork.id"}, false},
		"network of others to peer": {"it changes their routes",
			[]arm.Node{{ID: arm.ID(theirVNet + "/virtualNetworkPeerings/p"), Body: object{}}}, lent.Grants{},
			[]string{"nothing is created below it"}, false},
		"subnet in their network": {"a missing subnet is made where a network is brought",
			[]arm.Node{{ID: arm.ID(theirVNet + "/subnets/s"), Body: object{}}}, lent.Grants{}, nil, false},
		"record in their zone": {"others look names up there",
			[]arm.Node{{ID: newID(theirs, "Microsoft.Network/privateDnsZones", "z/A/www"), Body: object{}}}, lent.Grants{},
			[]string{"nothing is created below it"}, false},
		"member of their fleet": {"the fleet belongs to others",
			[]arm.Node{{ID: newID(theirs, "Microsoft.ContainerService/fleets", "f/members/m"), Body: object{}}}, lent.Grants{},
			[]string{"nothing is created below it"}, false},
		"member of a listed fleet": {"its owner allows it",
			[]arm.Node{{ID: newID(theirs, "Microsoft.ContainerService/fleets", "f/members/m"), Body: object{}}},
			lent.Grants{Resources: []arm.ID{newID(theirs, "Microsoft.ContainerService/fleets", "f")}}, nil, false},
		"lock on their group": {"it would prevent deletions by others",
			[]arm.Node{{ID: arm.ID(theirs).Extension("Microsoft.Authorization/locks", "l"), Body: object{}}}, lent.Grants{},
			[]string{"nothing is created below it"}, false},
		"deployment": {"its template may create anything",
			[]arm.Node{{ID: newID(ours, "Microsoft.Resources/deployments", "d"), Body: object{}}}, lent.Grants{},
			[]string{"creates resources in any group"}, false},
		"type that is not known": {"its effects are not known", []arm.Node{{ID: newID(ours, "Microsoft.Unheard/of", "d"), Body: object{}}},
			lent.Grants{}, []string{"does not know what it changes"}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := &arm.Graph{}
			g.Add(test.nodes...)
			denials := restrictGraph(t, g, test.grants)
			if len(denials) != len(test.denied) {
				t.Fatalf("%s: denied %v, want %q", test.reason, denials, test.denied)
			}
			for i, want := range test.denied {
				if !strings.Contains(denials[i].Message, want) || !strings.Contains(denials[i].Message, "AzureClusterIdentity operator/shared") {
					t.Errorf("%s: %q, want %q and the identity", test.reason, denials[i].Message, want)
				}
			}
			last := g.Nodes()[len(g.Nodes())-1]
			if waits := last.Blocked != "" && last.Blocked != "the VM has no identity yet"; waits != test.waits {
				t.Errorf("%s: waits %t: %q", test.reason, waits, last.Blocked)
			}
		})
	}
}

func newDiskID(name string) string { return string(newID(ours, "Microsoft.Compute/disks", name)) }

// TestForeign plans nodes that use or adopt existing resources.
func TestForeign(t *testing.T) {
	node := func(group, resourceType string, foreign arm.ForeignAction) arm.Node {
		return arm.Node{ID: newID(group, resourceType, "x"), Foreign: foreign, Body: object{}}
	}
	tests := map[string]struct {
		reason string
		node   arm.Node
		listed []string
		want   arm.ForeignAction
	}{
		"AKS cluster": {"its kubeconfig would be handed out", node(theirs, types.ManagedCluster, arm.AdoptForeign), nil,
			arm.RefuseForeign},
		"listed AKS cluster": {"its owner allows it", node(theirs, types.ManagedCluster, arm.AdoptForeign), []string{theirs},
			arm.AdoptForeign},
		"address of others": {"it may be in lists of allowed addresses", node(theirs, types.PublicIPAddress, arm.UseForeign), nil,
			arm.RefuseForeign},
		"address in own group": {"everything in it is the Cluster's", node(ours, types.PublicIPAddress, arm.UseForeign), nil, arm.UseForeign},
		"network":              {"networks may be joined", node(theirs, types.VirtualNetwork, arm.UseForeign), nil, arm.UseForeign},
		"group": {"the rules of ownership are about groups", arm.Node{ID: theirs, Foreign: arm.UseForeign, Body: object{}}, nil,
			arm.UseForeign},
		"AKS cluster, group ours": {"the owner of the group may have created it there, but not for the Cluster",
			node(ours, types.ManagedCluster, arm.AdoptForeign), nil, arm.RefuseForeign},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := &arm.Graph{}
			g.Add(test.node)
			restrictGraph(t, g, lent.Grants{Resources: lent.ParseIDs(test.listed)})
			if got := g.Nodes()[0].Foreign; got != test.want {
				t.Errorf("%s: %q, want %q", test.reason, got, test.want)
			}
		})
	}
}

// TestExistingReferencesStay: a resource keeps the references that Azure shows on it, and gets no new ones.
func TestExistingReferencesStay(t *testing.T) {
	g := &arm.Graph{}
	g.Add(arm.Node{ID: newID(ours, "Microsoft.Compute/virtualMachineScaleSets", "v"),
		Body: object{"identity": object{"userAssignedIdentities": object{theirIdentity: object{}}}}})
	restrictGraph(t, g, lent.Grants{})
	node := g.Nodes()[0]
	has := func(id string) object { return object{"userAssignedIdentities": object{id: object{"clientId": "x"}}} }
	tests := map[string]struct {
		reason   string
		observed any
		denied   bool
	}{
		"new":         {"it would be given", nil, true},
		"without":     {"it would be given", object{"identity": object{"type": "None"}}, true},
		"with":        {"it stays as it is", object{"identity": has(strings.ToUpper(theirIdentity))}, false},
		"another":     {"this one would be given", object{"identity": has(theirIdentity + "2")}, true},
		"in a tag":    {"users write tags", object{"tags": object{"x": theirIdentity}}, true},
		"in settings": {"it is another place", object{"properties": object{"settings": has(theirIdentity)}}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := node.DenialMessage(test.observed); (got != "") != test.denied {
				t.Errorf("%s: %q", test.reason, got)
			}
		})
	}
}

// TestEveryTypeHasAnEffect fails for a type of documents or plans of which it is not known how far its effects go.
func TestEveryTypeHasAnEffect(t *testing.T) {
	names := map[string]bool{}
	for _, name := range schema.ResourceTypes() {
		names[strings.ToLower(name)] = true
	}
	for _, row := range types.TableRows() {
		names[strings.ToLower(row.Name)] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(names)), lent.ListTypes()); diff != "" {
		t.Errorf("types of documents and plans (-want), of effects (+got):\n%s", diff)
	}
	for _, name := range lent.ListTypes() {
		if lent.EffectReason(name) == "" {
			t.Errorf("%s: no reason", name)
		}
	}
}
