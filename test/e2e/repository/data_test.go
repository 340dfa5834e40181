package repository

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDataVariables makes sure that Cluster API's specs find in the configuration the files that they demand there.
func TestDataVariables(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBETEST_CONFIGURATION", filepath.Join(root, "README.md"))
	variables, err := DataVariables(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if len(variables) != len(dataFiles) {
		t.Fatalf("%d variables, want %d: %q", len(variables), len(dataFiles), variables)
	}
	for _, variable := range variables {
		name, file, _ := strings.Cut(variable, "=")
		t.Setenv(name, file)
		if name == "KUBETEST_CONFIGURATION" && filepath.Base(file) != "README.md" {
			t.Errorf("the file of the environment wins, got %s", file)
		}
	}
	config, err := LoadConfig(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range variables {
		name, file, _ := strings.Cut(variable, "=")
		if got := config.Variables[name]; got != file {
			t.Errorf("variable %s of the configuration is %q, want %q", name, got, file)
		}
	}

	t.Setenv("KUBETEST_CONFIGURATION", filepath.Join(root, "absent.yaml"))
	if _, err := DataVariables(t.Context(), root); err == nil || !strings.HasPrefix(err.Error(), "KUBETEST_CONFIGURATION: ") {
		t.Errorf("a file that does not exist: error %v names no variable", err)
	}
}
