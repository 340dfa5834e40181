package properties

import (
	"slices"
	"strings"
)

// owner names the object that a resource of a machine or a pool belongs to.
type owner struct {
	// kinds are those of which the object has one.
	kinds []string
	// name is the name of the resource, in lower case.
	name string
}

// ownedTypes are the types of resources that belong to one machine or one pool, with the kinds of these. Scale sets have virtual machines, too.
var ownedTypes = []struct {
	part  string
	kinds []string
}{
	{"/providers/microsoft.compute/virtualmachinescalesets/", []string{"AzureMachinePool"}},
	{"/providers/microsoft.compute/virtualmachines/", []string{"AzureMachine"}},
	{"/agentpools/", []string{"AzureManagedMachinePool", "AzureASOManagedMachinePool"}},
}

// findOwner returns the owner of a resource, by its ID in lower case. It returns false for a resource of a cluster.
func findOwner(id string) (owner, bool) {
	for _, of := range ownedTypes {
		if _, after, is := strings.Cut(id, of.part); is {
			name, _, _ := strings.Cut(after, "/")
			return owner{of.kinds, name}, true
		}
	}
	return owner{}, false
}

// is reports whether an object, which has a kind and a state, is the owner. Its resource has its name, or another one that the spec has.
func (o owner) is(kind string, state map[string]any) bool {
	return slices.Contains(o.kinds, kind) && slices.ContainsFunc(listResourceNames(state), func(name string) bool {
		return strings.EqualFold(name, o.name)
	})
}

// listResourceNames returns the names that the resource of a machine or a pool can have.
func listResourceNames(state map[string]any) (out []string) {
	add := func(value any) {
		if name, _ := value.(string); name != "" {
			out = append(out, name)
		}
	}
	add(find(state, "metadata.name"))
	add(shortenedName(state))
	add(find(state, "spec.name"))
	if id, _ := find(state, "spec.providerID").(string); id != "" {
		add(id[strings.LastIndexByte(id, '/')+1:])
	}
	manifests, _ := find(state, "spec.resources").([]any)
	for _, each := range manifests {
		manifest, _ := each.(map[string]any)
		add(find(manifest, "metadata.name"))
		add(find(manifest, "spec.azureName"))
	}
	return out
}

// shortenedName returns the name of a VM or scale set of Windows whose object has a longer one: a computer name has 15 characters at most, and
// Azure adds six to the name of a scale set.
func shortenedName(state map[string]any) any {
	name, _ := find(state, "metadata.name").(string)
	switch {
	case find(state, "spec.osDisk.osType") == "Windows" && len(name) > 15:
		return strings.TrimSuffix(name[:9], "-") + "-" + name[len(name)-5:]
	case find(state, "spec.template.osDisk.osType") == "Windows" && len(name) > 9:
		return "win-" + name[len(name)-5:]
	}
	return nil
}

// clusterNames returns the names of the clusters of a history.
func (t *timeline) clusterNames() (out []string) {
	for key := range t.objects {
		if key.kind == "Cluster" || slices.Contains(clusterKinds, key.kind) {
			out = append(out, key.name)
		}
	}
	return out
}

// holds reports whether an object with a state has a finalizer for a resource: that of a machine or pool belongs to this object, others to
// the object of a cluster.
func holds(id, kind string, state map[string]any) bool {
	of, single := findOwner(id)
	return hadFinalizer(state) && (single && of.is(kind, state) || !single && slices.Contains(finalizedClusterKinds, kind))
}

// finalizedClusterKinds are the kinds of objects with resources of a cluster.
var finalizedClusterKinds = append([]string{"AzureASOManagedControlPlane"}, clusterKinds...)
