package workload

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestWorkers checks the description of the workers of a flavor for new users.
func TestWorkers(t *testing.T) {
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	for template, want := range map[string]string{
		"cluster-template.yaml":                     "MachineDeployment ${CLUSTER_NAME}-md-0",
		"cluster-template-windows.yaml":             "MachineDeployment ${CLUSTER_NAME}-md-0",
		"cluster-template-machinepool.yaml":         "MachinePool ${CLUSTER_NAME}-mp-0",
		"cluster-template-machinepool-windows.yaml": "MachinePool ${CLUSTER_NAME}-mp-win",
		"cluster-template-aks.yaml":                 "MachinePool ${CLUSTER_NAME}-pool1",
		"cluster-template-topology.yaml":            " ",
		"cluster-template-aks-topology.yaml":        " ",
		"cluster-template-aks-aso-topology.yaml":    " ",
	} {
		manifest, err := os.ReadFile(filepath.Join(root, "templates", template))
		if err != nil {
			t.Fatal(err)
		}
		if kind, name := FindWorkers(manifest); kind+" "+name != want {
			t.Errorf("%s: workers %q, want %q", template, kind+" "+name, want)
		}
	}
}

func TestCheckOptions(t *testing.T) {
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	s := &settings.Settings{Root: root}
	for flavor, tc := range map[string]struct {
		reason string
		want   []string
	}{
		"default": {reason: "the template without a name"},
		"aks":     {reason: "a template"},
		"private": {reason: "a template"},
		"privat":  {reason: "there is none", want: []string{"--flavor privat", "aks, ", "default, ", "private, "}},
		"aks-clusterclass": {reason: "a class alone makes no cluster to wait for",
			want: []string{"--flavor aks-clusterclass", "aks-topology"}},
		"aks-aso-clusterclass": {reason: "a class alone makes no cluster to wait for", want: []string{"aks-aso-topology"}},
		"":                     {reason: "no name", want: []string{"default"}},
	} {
		o := DefaultOptions()
		o.Flavor = flavor
		err := CheckOptions(s, o)
		if (err == nil) != (len(tc.want) == 0) {
			t.Errorf("--flavor %q: %v; %s", flavor, err, tc.reason)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("--flavor %q: %q lacks %q; %s", flavor, err, want, tc.reason)
			}
		}
	}
}

func TestCheckNumbers(t *testing.T) {
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	s := &settings.Settings{Root: root}
	for name, tc := range map[string]struct {
		reason, flavor        string
		controlPlane, workers int
		want                  string
	}{
		"one of each":        {"etcd with one member", "default", 1, 1, ""},
		"no workers":         {"a cluster of a control plane", "default", 3, 0, ""},
		"even":               {"Cluster API refuses it, after other objects exist", "default", 2, 1, "--control-plane-machines 2"},
		"none":               {"Cluster API refuses it", "machinepool", 0, 1, "--control-plane-machines 0"},
		"below none":         {"the remainder is negative", "default", -1, 1, "--control-plane-machines -1"},
		"AKS":                {"it has no such machines", "aks", 2, 1, ""},
		"workers below none": {"Cluster API refuses it", "aks", 1, -1, "--worker-machines -1"},
	} {
		err := CheckOptions(s, Options{Flavor: tc.flavor, ControlPlaneMachines: tc.controlPlane, WorkerMachines: tc.workers})
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q: %s", name, err, tc.want, tc.reason)
		}
	}
}

func TestDefaultNamesDiffer(t *testing.T) {
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	flavors, err := ListFlavors(&settings.Settings{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, flavor := range flavors {
		name := DefaultName(flavor)
		if slices.Contains(names, name) {
			t.Errorf("flavor %s has the name %s of another one, so a second lab up would show the first cluster", flavor, name)
		}
		// Azure's shortest limit for a name that begins with that of a cluster is 63, for an AKS cluster with the parts
		// that AKS adds.
		if len(name) > 40 {
			t.Errorf("%s is long for names that begin with it", name)
		}
		names = append(names, name)
	}
	if !slices.Contains(names, "demo") {
		t.Errorf("names %v, want demo among them", names)
	}
}
