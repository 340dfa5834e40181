package managedcluster

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// systemMode is the mode of pools for the pods of Kubernetes itself.
const systemMode = "System"

// NeedsPools reports whether the PUT of a cluster has to contain its pools: AKS creates a cluster with pools. Later PUTs leave them
// out, since each pool is a resource of its own.
func (o Observed) NeedsPools() bool { return len(o.Properties.AgentPoolProfiles) == 0 }

// NewPool is a pool that a cluster is to be created with.
type NewPool struct {
	// Holder names the object of the pool in messages, as in "AzureManagedMachinePool pool0".
	Holder string
	// Name is the name of the pool in Azure. Mode is its mode, "" if AKS decides about it.
	Name, Mode string
	// Properties are those of the pool's own body, nil if it has none yet.
	Properties map[string]any
	// HasMachinePool is false until the MachinePool of the pool exists.
	HasMachinePool bool
	// Blocked is the reason to wait, Refused the reason why the pool cannot be created.
	Blocked, Refused string
}

// BuildProfiles returns the pools for the PUT that creates a cluster, sorted by name. blocked is the reason to wait, refused the reason
// why the cluster cannot be created with these pools. kind is the kind of their objects, and properties are those of the cluster: AKS can
// run the pods of Kubernetes itself on nodes of its own.
func BuildProfiles(kind string, pools []NewPool, properties map[string]any) (profiles []any, blocked, refused string) {
	pools = slices.SortedFunc(slices.Values(pools), func(a, b NewPool) int { return strings.Compare(a.Name, b.Name) })
	var orphans, refusals []string
	system := hasHostedSystem(properties)
	for _, pool := range pools {
		system = system || pool.Mode == "" || pool.Mode == systemMode
		if pool.Refused != "" {
			refusals = append(refusals, pool.Refused)
		}
		switch {
		case !pool.HasMachinePool:
			orphans = append(orphans, strings.TrimPrefix(pool.Holder, kind+" "))
		case pool.Blocked != "":
			blocked = fmt.Sprintf("waits for %s: %s", pool.Holder, pool.Blocked)
		case pool.Properties != nil:
			pool.Properties["name"] = pool.Name
			profiles = append(profiles, pool.Properties)
		}
	}
	switch {
	case blocked != "":
	case !system:
		blocked = fmt.Sprintf("waits for an %s with mode System: AKS creates no cluster without one", kind)
	case len(orphans) > 0:
		blocked = fmt.Sprintf("waits for the MachinePool of %s %s: the cluster is created with all its pools", kind, strings.Join(orphans, ", "))
	}
	return profiles, blocked, strings.Join(refusals, "; ")
}

// HasSystemPool reports whether one of the pools that a cluster's properties contain can have mode System, or AKS runs the pods of Kubernetes
// itself on nodes of its own.
func HasSystemPool(properties map[string]any) bool {
	profiles, _ := properties["agentPoolProfiles"].([]any)
	return hasHostedSystem(properties) || slices.ContainsFunc(profiles, func(item any) bool {
		profile, _ := item.(map[string]any)
		return profile["mode"] == nil || profile["mode"] == systemMode
	})
}

func hasHostedSystem(properties map[string]any) bool {
	return jsonpath.Get(properties, "hostedSystemProfile.enabled") == true
}
