package bench

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// kind is how the clusters of a scenario are made.
type kind int

const (
	// machines are made by the bench: a Cluster, its AzureCluster, and a Machine with its AzureMachine each. Their VMs do not boot.
	machines kind = iota
	// flavored is one cluster of the default flavor that becomes Ready with nodes.
	flavored
	// managed are AKS clusters of the flavor aks.
	managed
)

// Names of phases.
const (
	create  = "create"
	steady  = "steady"
	restart = "restart"
	remove  = "delete"
)

// Scenario is something that a provider is measured at.
type Scenario struct {
	Name, About string
	kind        kind
	// Sizes that flags may change.
	clusters, machines, pools int
	// nodes are those of each pool.
	nodes int
	// after are the phases after the first one, which creates everything.
	after []string
	// virtual is how long our controllers are left alone in virtual time; zero for a scenario with processes.
	virtual time.Duration
}

// Scenarios are all there are.
var Scenarios = []Scenario{
	{Name: "default", About: "a cluster of the default flavor until all of it is Ready, nodes included", kind: flavored, clusters: 1,
		machines: 5},
	{Name: "aks", About: "an AKS cluster until all of it is Ready, nodes included", kind: managed, clusters: 1, pools: 5, nodes: 2},
	{Name: "fleet", About: "many clusters of machines at once", clusters: 200, machines: 3},
	{Name: "aks-fleet", About: "many AKS clusters at once", kind: managed, clusters: 100, pools: 3, nodes: 1},
	{Name: "large", About: "one cluster with many machines", clusters: 1, machines: 2000},
	{Name: "deletion", About: "many clusters, and then all of them deleted at once", clusters: 200, machines: 3, after: []string{remove}},
	{Name: "restart", About: "many clusters, and then the provider is killed and begins anew with everything in place", clusters: 200,
		machines: 3,
		after:    []string{restart}},
	{Name: "default-hour", About: "an hour in which nothing happens to a default cluster", clusters: 1, machines: 5, virtual: time.Hour},
	{Name: "aks-hour", About: "the same with an AKS cluster", kind: managed, clusters: 1, pools: 5, nodes: 2, virtual: time.Hour},
	{Name: "fleet-hour", About: "the same with many clusters", clusters: 200, machines: 3, virtual: time.Hour},
	{Name: "aks-fleet-hour", About: "the same with many AKS clusters", kind: managed, clusters: 100, pools: 3, nodes: 1, virtual: time.Hour},
	{Name: "large-hour", About: "the same with one large cluster", clusters: 1, machines: 2000, virtual: time.Hour},
	{Name: "day", About: "a day in which nothing happens to many clusters", clusters: 200, machines: 3, virtual: 24 * time.Hour},
}

// FindScenario finds a scenario by its name.
func FindScenario(name string) (Scenario, error) {
	i := slices.IndexFunc(Scenarios, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		var names []string
		for _, s := range Scenarios {
			names = append(names, s.Name)
		}
		return Scenario{}, fmt.Errorf("there is no scenario %s; there are %s", name, strings.Join(names, ", "))
	}
	return Scenarios[i], nil
}

// IsVirtual reports whether the scenario is one in virtual time, which only our own provider can be put in.
func (s Scenario) IsVirtual() bool { return s.virtual > 0 }

// Size returns the size of the scenario unless flags change it.
func (s Scenario) Size() string {
	return Run{Clusters: s.clusters, Machines: s.machines, Pools: s.pools}.Size()
}

// withSize returns the scenario in another size; zero leaves what there is.
func (s Scenario) withSize(clusters, machines, pools int) (Scenario, error) {
	if clusters < 0 || machines < 0 || pools < 0 {
		return s, fmt.Errorf("--clusters %d, --machines %d, --pools %d: want 1 or more", clusters, machines, pools)
	}
	set := func(what string, size *int, to int) error {
		if to > 0 && *size == 0 {
			return fmt.Errorf("--%s %d: the scenario %s has none", what, to, s.Name)
		}
		if to > 0 {
			*size = to
		}
		return nil
	}
	err := firstError(set("machines", &s.machines, machines), set("pools", &s.pools, pools), set("clusters", &s.clusters, clusters))
	if err == nil && s.kind == flavored && s.clusters != 1 {
		err = fmt.Errorf("--clusters %d: the scenario %s has one", clusters, s.Name)
	}
	return s, err
}

// controlPlanes returns how many of the machines of a cluster are of its control plane.
func (s Scenario) controlPlanes() int {
	if s.machines >= 5 {
		return 3
	}
	return 1
}
