// Package catalog lists the end-to-end specs and the flavors that each runs with. It is data: the specs, the command, the cost estimate
// and the results page read the same table.
package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Clouds that specs run in.
const (
	Lab   = "lab"
	Azure = "azure"
)

// Case is one spec with one flavor.
type Case struct {
	// Spec is the name of a spec.
	Spec string
	// Flavor is a template of templates/ or of testdata/.
	Flavor string
	// Family selects the waiters and the versions of Kubernetes.
	Family Family
	// Variables of the template, beside those of the suite.
	Variables map[string]string
	// ControlPlaneMachines is their number in specs that let it be chosen.
	ControlPlaneMachines int64
	// Gate is a feature gate of the provider that is off in other cases.
	Gate string
	// Excluded gives the reason why the case does not run in a cloud.
	Excluded map[string]string
	// Cheap cases are part of make test.
	Cheap bool
}

// Family is a kind of control plane.
type Family string

// Families of control planes.
const (
	SelfManaged Family = "self-managed"
	// AKS is AzureManagedControlPlane.
	AKS Family = "aks"
	// ASO is AzureASOManagedControlPlane.
	ASO Family = "aks-aso"
)

// Name identifies the case in labels, files and results.
func (c Case) Name() string { return c.Spec + " " + c.Flavor }

// IsTopology reports whether the Cluster has a ClusterClass.
func (c Case) IsTopology() bool { return strings.Contains(c.Flavor, "topology") }

// Labels are those of the spec in Ginkgo.
func (c Case) Labels() []string {
	out := []string{"spec=" + c.Spec, "flavor=" + c.Flavor}
	for _, cloud := range []string{Lab, Azure} {
		if c.Excluded[cloud] == "" {
			out = append(out, "cloud="+cloud)
		}
	}
	if c.Gate != "" {
		out = append(out, "gate="+c.Gate)
	}
	if c.Cheap {
		out = append(out, "cheap")
	}
	return out
}

// CheckCloud returns an error for a name that is not one of a cloud.
func CheckCloud(cloud string) error {
	if cloud != Lab && cloud != Azure {
		return fmt.Errorf("--cloud %q is no cloud: choose %s or %s", cloud, Lab, Azure)
	}
	return nil
}

// Select returns the cases of a cloud with one of the specs and one of the flavors. An empty list selects all of them. A name that no case
// has is an error.
func Select(cloud string, specs, flavors []string, cheap bool) ([]Case, error) {
	if err := CheckCloud(cloud); err != nil {
		return nil, err
	}
	if err := checkNames("spec", specs, func(c Case) string { return c.Spec }); err != nil {
		return nil, err
	}
	if err := checkNames("flavor", flavors, func(c Case) string { return c.Flavor }); err != nil {
		return nil, err
	}
	var out []Case
	for _, c := range Cases {
		if (len(specs) == 0 || slices.Contains(specs, c.Spec)) && (len(flavors) == 0 || slices.Contains(flavors, c.Flavor)) &&
			c.Excluded[cloud] == "" && (!cheap || c.Cheap) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no case of cloud %s has these specs and flavors: see docs/book/e2e.md for the cases and for the reasons of exclusions", cloud)
	}
	return out, nil
}

func checkNames(kind string, names []string, nameOf func(Case) string) error {
	var known []string
	for _, c := range Cases {
		if name := nameOf(c); !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no %s %q: choose from %s", kind, name, strings.Join(known, ", "))
		}
	}
	return nil
}

// Filter returns the label filter of Ginkgo that selects exactly these cases of a cloud.
func Filter(cases []Case) string {
	var out []string
	for _, c := range cases {
		out = append(out, fmt.Sprintf("(spec=%s && flavor=%s)", c.Spec, c.Flavor))
	}
	return strings.Join(out, " || ")
}

// Gates returns the feature gates of cases, "" for those without one.
func Gates(cases []Case) []string {
	var out []string
	for _, c := range cases {
		if !slices.Contains(out, c.Gate) {
			out = append(out, c.Gate)
		}
	}
	return out
}

// WithGate returns the cases with a feature gate.
func WithGate(cases []Case, gate string) []Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c Case) bool { return c.Gate != gate })
}
