package command_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine/command"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

// pageBlocks returns the blocks of the book's page in a language.
func pageBlocks(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/book/convert.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(page, -1) {
		out = append(out, string(match[1]))
	}
	return out
}

// run runs kubectl capz aksengine with a model on the standard input.
func run(t *testing.T, model string, arguments ...string) (out, messages string, err error) {
	t.Helper()
	e := &environment.Environment{}
	root := &cobra.Command{Use: "kubectl-capz", SilenceUsage: true, SilenceErrors: true}
	e.AddFlags(root.PersistentFlags())
	root.AddCommand(command.NewCommand(e))
	var stdout, stderr bytes.Buffer
	root.SetIn(strings.NewReader(model))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	root.SetArgs(append([]string{"aksengine"}, arguments...))
	err = root.Execute()
	return stdout.String(), stderr.String(), err
}

// TestPage runs the command of the book's page with its model, and holds that the output has the manifest of the page.
func TestPage(t *testing.T) {
	line := strings.Fields(pageBlocks(t, "sh")[0])
	if strings.Join(line[:4], " ") != "kubectl capz convert aksengine" || strings.Join(line[len(line)-2:], " ") != "> cluster.yaml" {
		t.Fatalf("the first command of the page is %v", line)
	}
	arguments := append([]string{"-"}, line[5:len(line)-2]...)
	out, messages, err := run(t, pageBlocks(t, "json")[0], arguments...)
	if err != nil {
		t.Fatal(err, messages)
	}
	if !strings.Contains(out, pageBlocks(t, "yaml")[0]) {
		t.Errorf("the output lacks the manifest of the page:\n%s", out)
	}
	for _, want := range []string{
		"not converted: properties.orchestratorProfile.kubernetesConfig.dockerBridgeSubnet: Machines run containerd",
		"to do: Create the Secret cluster-identity-secret with the key clientSecret",
	} {
		if !strings.Contains(messages, want) {
			t.Errorf("the report lacks %q:\n%s", want, messages)
		}
	}
	if strings.Contains(out+messages, "the-secret") {
		t.Error("the secret of the model is in the output")
	}
}

// TestJSON holds that one JSON object has the manifests and a finding per value.
func TestJSON(t *testing.T) {
	out, messages, err := run(t, pageBlocks(t, "json")[0], "-", "--kubernetes-version", "v1.34.2", "--location", "eastus", "--output",
		"json")
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Manifests string
		Findings  []struct{ Path, Outcome string }
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(result.Manifests, "kind: KubeadmControlPlane") || len(result.Findings) != 17 || messages != "" {
		t.Errorf("%d findings, messages %q, manifests:\n%s", len(result.Findings), messages, result.Manifests)
	}
}

// TestRefused holds that a model which cannot be converted ends in an error that names the property and the remedy.
func TestRefused(t *testing.T) {
	tests := map[string]struct {
		reason, model, want string
	}{
		"not JSON":      {"the text is no model", "apiVersion: vlabs", "not valid JSON"},
		"other version": {"older formats have other properties", `{"apiVersion":"2016-03-30"}`, "apiVersion is not vlabs"},
		"other kind":    {"DC/OS has no equivalent", `{"apiVersion":"vlabs","properties":{"orchestratorProfile":{"orchestratorType":"DCOS"}}}`, "Only Kubernetes clusters"},
		"no control plane": {"a pool alone is no cluster", `{"apiVersion":"vlabs","properties":{"agentPoolProfiles":[]}}`,
			"properties.masterProfile is missing"},
		"twice": {"one of two values would be lost", `{"apiVersion":"vlabs","apiversion":"vlabs"}`, "apiversion is given twice"},
		"name":  {"names in Azure begin with it", `{"apiVersion":"vlabs","properties":{"masterProfile":{"dnsPrefix":"_","vmSize":"Standard_D2s_v3"}}}`, `"_" is not a valid name`},
		"size": {"a machine needs a size", `{"apiVersion":"vlabs","properties":{"masterProfile":{"dnsPrefix":"c1"}}}`,
			"vmSize is missing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := run(t, test.model, "-", "--kubernetes-version", "v1.34.2", "--location", "eastus")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
			}
		})
	}
}
