package repository

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// dataFiles are files of Cluster API's module that its specs need, by the variables that name them.
var dataFiles = map[string]string{
	"AUTOSCALER_WORKLOAD":    "autoscaler/autoscaler-to-workload-workload.yaml",
	"KUBETEST_CONFIGURATION": "kubetest/conformance.yaml",
}

// DataVariables returns NAME=path for the files of Cluster API's module that its specs need. A variable of the environment that names
// another file wins.
func DataVariables(ctx context.Context, root string) ([]string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api/test")
	command.Dir = filepath.Join(root, "test", "e2e")
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("find the module of Cluster API's specs: %w", err)
	}
	var variables []string
	for _, name := range slices.Sorted(maps.Keys(dataFiles)) {
		file := os.Getenv(name)
		if file == "" {
			file = filepath.Join(strings.TrimSpace(string(out)), "e2e", "data", filepath.FromSlash(dataFiles[name]))
		}
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		variables = append(variables, name+"="+file)
	}
	return variables, nil
}
