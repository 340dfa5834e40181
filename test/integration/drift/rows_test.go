package drift_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// outcome is the provider's reaction to a change outside.
type outcome string

const (
	// repaired: the resource is again as it was.
	repaired outcome = "repaired"
	// reported: a condition reports it, and nothing is written.
	reported outcome = "reported"
	// kept: it stays, nothing is written, and nothing is reported, because the provider does not manage it.
	kept outcome = "kept"
)

// row is one change of one kind of resource.
type row struct {
	resource, change string
	outcome          outcome
	// note is the book's note on the change.
	note string

	// object is the AzureCluster, AzureMachine or AzureMachinePool that the row checks, path the resource.
	object, path string
	// do makes the change.
	do func(w *world)
	// follows is the write that a kept change is followed by, "" for none.
	follows string
	// holds returns true while the change of a row that is kept still exists.
	holds func(w *world) bool
	// want is the condition of a row that is reported, undo takes the change back; it is nil if that is impossible.
	want metav1.Condition
	undo func(w *world)
}

const (
	network = "Microsoft.Network/"
	compute = "Microsoft.Compute/"
	vnet    = network + "virtualNetworks/c1-vnet"
	nodes   = vnet + "/subnets/nodes"
	spare   = vnet + "/subnets/spare"
	cp      = vnet + "/subnets/cp"
	group   = network + "networkSecurityGroups/nodes-nsg"
	table   = network + "routeTables/nodes-rt"
	gateway = network + "natGateways/nodes-nat"
	address = network + "publicIPAddresses/pip-c1-apiserver"
	public  = network + "loadBalancers/c1-public-lb"
	out     = network + "loadBalancers/c1"
	host    = network + "bastionHosts/c1-azure-bastion"
	peering = vnet + "/virtualNetworkPeerings/c1-vnet-To-hub"
	back    = "resourceGroups/hub/providers/" + network + "virtualNetworks/hub/virtualNetworkPeerings/hub-To-c1-vnet"
	zone    = "resourceGroups/p1/providers/" + network + "privateDnsZones/p1.capz.io"
	link    = zone + "/virtualNetworkLinks/p1-vnet-link"
	record  = zone + "/A/apiserver"
	set     = "resourceGroups/p1/providers/" + compute + "availabilitySets/p1_control-plane-as"
	vm      = compute + "virtualMachines/" + worker
	nic     = network + "networkInterfaces/" + worker + "-nic"
	cpNIC   = network + "networkInterfaces/" + controlPlane + "-nic"
	natRule = public + "/inboundNatRules/" + controlPlane
	vmss    = compute + "virtualMachineScaleSets/" + pool
	disk    = compute + "disks/" + worker + "_data"
)

// tagChanged returns the row of a resource that carries additional tags.
func tagChanged(resource, object, path string) row {
	return row{resource: resource, change: "a tag of the spec or of the provider is changed or removed", outcome: repaired,
		note:   "tags of other users stay",
		object: object, path: path, do: func(w *world) {
			w.EditResource(path, body{"tags": body{"team": "theirs", infrav1.ClusterTagKey("c1"): "owned", infrav1.NameTag: nil}})
		}}
}

func tagsOnly(resource, object, path string) row {
	r := tagChanged(resource, object, path)
	r.do = func(w *world) { w.EditResource(path, body{"tags": body{"team": "theirs"}}) }
	return r
}

func tagAdded(resource, object, path string) row {
	return row{resource: resource, change: "a tag is added", outcome: kept, object: object, path: path,
		do:    func(w *world) { w.EditResource(path, body{"tags": body{"theirs": "1"}}) },
		holds: func(w *world) bool { return w.FindProperty(path, "tags.theirs") == "1" }}
}

func removedRow(resource, change, note, object, path string) row {
	return row{resource: resource, change: change, outcome: repaired, note: note, object: object, path: path,
		do: func(w *world) { w.RemoveResource(path) }}
}

func editedRow(resource, change, note, object, path string, patch body) row {
	return row{resource: resource, change: change, outcome: repaired, note: note, object: object, path: path,
		do: func(w *world) { w.EditResource(path, patch) }}
}

// keptRow returns an edit of a property that the spec does not set.
func keptRow(resource, change, note, object, path string, patch body, dotted string, value any) row {
	return row{resource: resource, change: change, outcome: kept, note: note, object: object, path: path,
		do:    func(w *world) { w.EditResource(path, patch) },
		holds: func(w *world) bool { return w.FindProperty(path, dotted) == value }}
}

// driftedRow returns a change of a resource that is made once: a condition reports it, and nothing is written.
func driftedRow(resource, change, note, object, path, condition, message string, patch, undo body) row {
	return row{resource: resource, change: change, outcome: reported, note: note, object: object, path: path,
		do:   func(w *world) { w.EditResource(path, patch) },
		want: metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: infrav1.DriftedReason, Message: message},
		undo: func(w *world) { w.EditResource(path, undo) },
	}
}

// disownedRow returns the row of a resource that loses its ownership tag: the tag of the owner proves the ownership.
func disownedRow(resource, object, path, cluster string) row {
	return row{resource: resource, change: "the ownership tag is removed", outcome: repaired, note: "the owner tag proves the ownership",
		object: object, path: path,
		do: func(w *world) { w.EditResource(path, body{"tags": body{infrav1.ClusterTagKey(cluster): nil}}) }}
}

// stripTags removes all tags from a resource but those that others have set in another row, and the one with the hash of the bootstrap
// data of a scale set's model, which comes with the bootstrap data of the next VM.
func (w *world) stripTags(path string) {
	tags, _ := w.FindProperty(path, "tags").(body)
	patch := body{}
	for key := range tags {
		if key != "theirs" && key != infrav1.CustomDataHashTag {
			patch[key] = nil
		}
	}
	w.EditResource(path, body{"tags": patch})
}

// strippedRow returns the row of a resource in a resource group of the cluster's that loses all its tags.
func strippedRow(resource, object, path string) row {
	return row{resource: resource, change: "all tags are removed", outcome: repaired,
		note: "the provider created the resource, and the resource group belongs to the cluster. In other groups it is [reported](../design/ownership.md#a-lost-tag) unless it uses a resource of the cluster", object: object, path: path,
		do: func(w *world) { w.stripTags(path) }}
}

// groupStripped returns the row of a resource group that loses all its tags, so that nothing proves its ownership.
func groupStripped(object, path string) row {
	var tags any
	return row{resource: "Resource group", change: "all tags are removed", outcome: reported,
		note: "the provider keeps using the group. The condition has the commands that hand it back or give it up, and the deletion of the cluster waits for one of them", object: object, path: path,
		do: func(w *world) {
			tags = w.FindProperty(path, "tags")
			w.stripTags(path)
		},
		want: metav1.Condition{Type: infrav1.ResourceGroupReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.OwnershipTagLostReason,
			Message: "az tag update"},
		undo: func(w *world) { w.EditResource(path, body{"tags": tags}) }}
}

// listRows returns all changes, those of the cluster first.
func listRows() []row {
	var all []row
	for _, part := range [][]row{groupRows(), networkRows(), balancerRows(), dnsRows(), interfaceRows(), poolRows(), machineRows(),
		lostRows()} {
		all = append(all, part...)
	}
	return all
}
