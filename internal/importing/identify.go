package importing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// machineTypes are the types of machines.
var machineTypes = []string{types.VirtualMachine, types.ScaleSet}

// identity is the cluster that is imported.
type identity struct {
	// name is that of the Cluster.
	name string
	// tagged is true if the resources carry the ownership tag of the cluster.
	tagged bool
}

// ClusterNames returns the names in the ownership tags of machines and load balancers of the group, sorted.
func (e Estate) ClusterNames() ([]string, error) {
	var out []string
	for _, r := range e.Resources {
		of := r.ID.Type()
		isMember := strings.EqualFold(of, types.LoadBalancer) ||
			slices.ContainsFunc(machineTypes, func(t string) bool { return strings.EqualFold(t, of) })
		if !isMember || !strings.EqualFold(r.ID.ResourceGroup(), e.Group) {
			continue
		}
		h, err := decodeBody[head](r)
		if err != nil {
			return nil, err
		}
		out = append(out, clustersOf(h)...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// clustersOf returns the clusters that own a resource by its tags.
func clustersOf(h head) []string {
	var out []string
	for key, value := range h.Tags {
		if len(key) > len(infrav1.OwnedTagPrefix) && strings.EqualFold(key[:len(infrav1.OwnedTagPrefix)], infrav1.OwnedTagPrefix) &&
			value == infrav1.TagOwned {
			out = append(out, key[len(infrav1.OwnedTagPrefix):])
		}
	}
	return out
}

// maxListed bounds the names in one message.
const maxListed = 10

// identify determines the cluster. wanted is the name that the user gave, or "".
func (e Estate) identify(wanted string) (identity, error) {
	names, err := e.ClusterNames()
	if err != nil {
		return identity{}, err
	}
	if len(e.list(types.VirtualMachine))+len(e.list(types.ScaleSet)) == 0 {
		return identity{}, fmt.Errorf("resource group %s has no virtual machine and no scale set that was selected, so there is no cluster to import. Check --resource-group and --tag", e.Group)
	}
	at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, wanted) })
	out := identity{name: wanted}
	switch {
	case at >= 0:
		out.name, out.tagged = names[at], true
	case wanted != "" && len(names) > 0:
		return out, fmt.Errorf("the resources of resource group %s carry the tags of other clusters: %s. Pass one of them with --cluster", e.Group, joinNames(names))
	case len(names) > 1:
		return out, fmt.Errorf("resource group %s has resources of %d clusters: %s. Choose one with --cluster", e.Group, len(names), joinNames(names))
	case len(names) == 1:
		out.name, out.tagged = names[0], true
	case wanted == "":
		return out, fmt.Errorf("no resource of resource group %s carries a tag %s<cluster>. Pass the name of the new Cluster with --cluster", e.Group, infrav1.OwnedTagPrefix)
	}
	if problems := validation.IsDNS1123Label(out.name); len(problems) > 0 {
		problem := fmt.Sprintf("%q cannot be the name of a Cluster: %s", out.name, strings.Join(problems, "; "))
		if out.tagged {
			return out, errors.New(problem + ". It is in the ownership tags of the resources, which name the Cluster, so such a cluster cannot be imported")
		}
		return out, errors.New(problem + ". Pass another one with --cluster")
	}
	return out, nil
}

// joinNames joins the first names for a message.
func joinNames(names []string) string { return text.JoinFirst(names, maxListed) }

// owns reports whether a resource belongs to the cluster by its tags.
func (i identity) owns(h head) bool {
	return i.tagged && strings.EqualFold(h.tag(infrav1.ClusterTagKey(i.name)), infrav1.TagOwned)
}
