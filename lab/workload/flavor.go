package workload

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// DefaultFlavor is the name of the template that has none.
const DefaultFlavor = "default"

// ListFlavors returns the templates that make a cluster, sorted. Those with only a ClusterClass do not.
func ListFlavors(s *settings.Settings) ([]string, error) {
	const prefix = "cluster-template"
	files, err := filepath.Glob(filepath.Join(s.Root, "templates", prefix+"*.yaml"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(raw, []byte("\nkind: Cluster\n")) {
			continue
		}
		name := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), prefix), ".yaml"), "-")
		if name == "" {
			name = DefaultFlavor
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// CheckOptions refuses flavors without a template, and numbers of machines that Cluster API refuses. It does so before a part of the cluster
// exists.
func CheckOptions(s *settings.Settings, o Options) error {
	if err := checkFlavor(s, o.Flavor); err != nil {
		return err
	}
	if !o.IsManaged() && (o.ControlPlaneMachines < 1 || o.ControlPlaneMachines%2 == 0) {
		return fmt.Errorf("--control-plane-machines %d: Cluster API refuses the number, because etcd runs on these machines. Choose an odd number",
			o.ControlPlaneMachines)
	}
	if o.WorkerMachines < 0 {
		return fmt.Errorf("--worker-machines %d: choose a number from 0", o.WorkerMachines)
	}
	return nil
}

func checkFlavor(s *settings.Settings, flavor string) error {
	names, err := ListFlavors(s)
	if err != nil || slices.Contains(names, flavor) {
		return err
	}
	return fmt.Errorf("--flavor %s: no template in templates/ makes such a cluster; there are %s", flavor, strings.Join(names, ", "))
}

// FindWorkers are the machines of a manifest whose number a person may change: the first MachineDeployment, or the last MachinePool, which
// with AKS is no system pool. Both are "" where a class makes them.
func FindWorkers(manifest []byte) (kind, name string) {
	for document := range bytes.SplitSeq(manifest, []byte("\n---\n")) {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if userinput.Decode(document, nil, &object) != nil {
			continue
		}
		switch object.Kind {
		case "MachineDeployment":
			return object.Kind, object.Metadata.Name
		case "MachinePool":
			kind, name = object.Kind, object.Metadata.Name
		}
	}
	return kind, name
}

// DefaultName returns the name of a cluster without a given name. Each flavor has its own, so that clusters of several
// flavors can exist beside each other.
func DefaultName(flavor string) string {
	if flavor == DefaultFlavor {
		return "demo"
	}
	return "demo-" + flavor
}
