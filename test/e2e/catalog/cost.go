package catalog

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// prices are in US dollars for an hour, without taxes and discounts. They are an assumption: list prices for Linux in West Europe, rounded up
// (https://azure.microsoft.com/pricing/details/virtual-machines/linux/, .../load-balancer/, .../azure-nat-gateway/, .../azure-bastion/).
// Nothing asks Azure for them.
var prices = map[string]float64{
	smallMachine: 0.12, gpuMachine: 0.70, windowsMachine: 0.22,
	network: 0.15, bastion: 0.29,
}

// Resources with a price for each hour.
const (
	smallMachine   = "Standard_D2s_v3"
	windowsMachine = "Standard_D2s_v3 with Windows"
	gpuMachine     = "Standard_NC4as_T4_v3"
	network        = "disks, load balancers, NAT gateway and addresses of a cluster"
	bastion        = "Bastion"
)

// hours is how long the clusters of a spec exist in Azure, an upper estimate. Steps in Azure take about twenty times as long as in the lab.
var hours = map[string]float64{
	"quick-start": 1, "md-scale": 1.5, "rollout": 2, "remediation": 1.5, "kcp-adoption": 1, "machine-pool": 1.5, "upgrade": 2, "upgrade-ha": 3,
	"managed-upgrade": 2, "clusterclass-changes": 2, "clusterclass-rollout": 2.5, "cluster-deletion": 1.5, "move": 1, "clusterctl-upgrade": 1,
	"node-drain": 2, "self-hosted": 2, "conformance": 3, "autoscaler": 2,
}

// Amounts returns the largest number of each priced resource that a case has at one time.
func (c Case) Amounts() map[string]int {
	out := map[string]int{network: 1, smallMachine: 2}
	if c.Family != SelfManaged {
		// Two pools, or three machines while one of them is upgraded.
		out[smallMachine] = 3
	}
	switch c.Spec {
	case "md-scale", "machine-pool", "autoscaler":
		out[smallMachine] = 4
	case "rollout", "upgrade", "clusterclass-changes", "clusterclass-rollout":
		out[smallMachine] = 4
	case "upgrade-ha", "remediation", "cluster-deletion":
		out[smallMachine] = 6
	}
	switch {
	case strings.Contains(c.Flavor, "windows"):
		out[windowsMachine] = 1
	case c.Flavor == "nvidia-gpu":
		out[smallMachine], out[gpuMachine] = 1, 1
	case c.Flavor == "azure-bastion":
		out[bastion] = 1
	}
	return out
}

// Cost returns the expected cost of a case in US dollars.
func (c Case) Cost() float64 {
	sum := 0.0
	for name, count := range c.Amounts() {
		sum += prices[name] * float64(count)
	}
	return sum * hours[c.Spec]
}

// PrintCost writes the expected cost of cases.
func PrintCost(out io.Writer, cases []Case) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SPEC\tFLAVOR\tHOURS\tUSD\tUSES")
	total := 0.0
	for _, c := range cases {
		var uses []string
		for _, name := range slices.Sorted(maps.Keys(c.Amounts())) {
			uses = append(uses, fmt.Sprintf("%d %s", c.Amounts()[name], name))
		}
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%.2f\t%s\n", c.Spec, c.Flavor, hours[c.Spec], c.Cost(), strings.Join(uses, ", "))
		total += c.Cost()
	}
	fmt.Fprintf(w, "all\t\t\t%.2f\t\n", total)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "These are estimates with list prices of West Europe (test/e2e/catalog/cost.go). Azure bills the actual use.")
	return err
}
