package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// parseFlags returns the options that a command line means.
func parseFlags(t *testing.T, arguments []string) *setup.Options {
	t.Helper()
	options := &setup.Options{}
	fs, err := setup.NewFlags(options, logs.NewOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := fs.Parse(arguments); err != nil {
		t.Error(err)
	}
	return options
}

// TestArguments gives every argument and every gate alone: one that needs another would fail.
func TestArguments(t *testing.T) {
	for _, argument := range deployed {
		parseFlags(t, []string{argument})
	}
	for _, gate := range gates {
		name, value, _ := strings.Cut(gate, "=")
		options := parseFlags(t, []string{"--feature-gates=" + gate})
		if got := options.Gates.Enabled(featuregate.Feature(name)); got != (value == "true") {
			t.Errorf("--feature-gates=%s: the gate is %t", gate, got)
		}
	}
}

// TestManifest renders the Deployment as clusterctl does, with each variable that users of the established provider set, and
// looks whether the manager hears of it.
func TestManifest(t *testing.T) {
	gate := func(name string) func(*setup.Options) bool {
		return func(o *setup.Options) bool { return o.Gates.Enabled(featuregate.Feature(name)) }
	}
	for variable, test := range map[string]struct {
		value string
		heard func(*setup.Options) bool
		// byDefault is whether that is so without the variable.
		byDefault bool
	}{
		"EXP_MACHINE_POOL":        {"false", gate("MachinePool"), true},
		"EXP_ASO_API":             {"false", gate("ASOAPI"), true},
		"EXP_AKS_RESOURCE_HEALTH": {"true", gate("AKSResourceHealth"), false},
		"EXP_EDGEZONE":            {"true", gate("EdgeZone"), false},
		"EXP_APISERVER_ILB":       {"true", gate("APIServerILB"), false},
		"EXP_SKIP_MACHINE_POOL_MODEL_RECONCILIATION": {"true", gate("SkipMachinePoolModelReconciliation"), false},
		"AZURE_SYNC_PERIOD":                          {"1h", func(o *setup.Options) bool { return o.SyncPeriod.String() == "1h0m0s" }, false},
		"CAPZ_UNCHECKED_ASO_KINDS": {"dashboard.azure.com/Grafana,dataprotection.azure.com/*",
			func(o *setup.Options) bool { return len(o.UncheckedASOKinds) == 2 && o.CheckUncheckedASOKinds() == nil }, false},
		"CAPZ_DIAGNOSTICS_ADDRESS": {"localhost:8080",
			func(o *setup.Options) bool { return o.Diagnostics.Address == "localhost:8080" }, false},
		"CAPZ_INSECURE_DIAGNOSTICS": {"true", func(o *setup.Options) bool { return o.Diagnostics.Insecure }, false},
	} {
		if got := test.heard(parseFlags(t, renderContainer(t, nil).Args)); got != test.byDefault {
			t.Errorf("without %s: %t, want %t", variable, got, test.byDefault)
		}
		if got := test.heard(parseFlags(t, renderContainer(t, map[string]string{variable: test.value}).Args)); got == test.byDefault {
			t.Errorf("%s=%s: the manager does not hear of it", variable, test.value)
		}
	}
	if err := parseFlags(t, renderContainer(t, nil).Args).CheckUncheckedASOKinds(); err != nil {
		t.Errorf("with the defaults of clusterctl the manager does not start: %v", err)
	}
	if arguments := renderContainer(t, map[string]string{"CAPZ_VERBOSITY": "7"}).Args; !slices.Contains(arguments, "--v=7") {
		t.Errorf("CAPZ_VERBOSITY=7: the manager gets %v", arguments)
	}
	for _, variable := range []string{"AZURE_AUTHORITY_HOST", "AZURE_RESOURCE_MANAGER_ENDPOINT", "AZURE_RESOURCE_MANAGER_AUDIENCE"} {
		const value = "https://example.com/"
		heard := false
		for _, env := range renderContainer(t, map[string]string{variable: value}).Env {
			heard = heard || env.Name == variable && env.Value == value
		}
		if !heard {
			t.Errorf("%s: the container does not get it", variable)
		}
	}
}

type container struct {
	Args []string
	Env  []struct{ Name, Value string }
}

// renderContainer returns the manager's container with these variables.
func renderContainer(t *testing.T, variables map[string]string) container {
	t.Helper()
	objects, err := flavors.DecodeManifest(flavors.RunProgram(t, variables, "clusterctl", "generate", "yaml", "--from",
		filepath.Join("config", "manager", "manager.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(objects[0].Object, deployment); err != nil {
		t.Fatal(err)
	}
	out := container{Args: deployment.Spec.Template.Spec.Containers[0].Args}
	for _, env := range deployment.Spec.Template.Spec.Containers[0].Env {
		out.Env = append(out.Env, struct{ Name, Value string }{env.Name, env.Value})
	}
	return out
}
