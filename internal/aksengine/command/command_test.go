package command_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine"
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

// TestPage runs the command of the book's page with its model, and checks that the output has the manifest of the page.
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

// TestJSON checks that one JSON object has the manifests and a finding per value.
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

// TestFieldsAreRefused checks that manifests which an API server would refuse are written, so that users can correct them, that the report
// lists the fields, and that the command ends in an error.
func TestFieldsAreRefused(t *testing.T) {
	tests := map[string]struct {
		reason, properties string
		arguments          []string
		want               string
	}{
		"rule of a schema": {reason: "Azure does not encrypt ephemeral disks so",
			properties: `"storageProfile": "Ephemeral", "diskEncryptionSetID": "/subscriptions/1/resourceGroups/g/providers/Microsoft.Compute/diskEncryptionSets/keys", `,
			want:       "AzureMachineTemplate contoso-control-plane: spec.template.spec.osDisk.managedDisk.diskEncryptionSet: "},
		"webhook": {reason: "the name changes the URL of requests", arguments: []string{"--resource-group", ".."},
			want: "AzureCluster contoso: spec.resourceGroup: "},
	}
	for name, test := range tests {
		for _, format := range []string{"text", "json"} {
			t.Run(name+" "+format, func(t *testing.T) {
				model := strings.Replace(pageBlocks(t, "json")[0], `"dnsPrefix"`, test.properties+`"dnsPrefix"`, 1)
				out, messages, err := run(t, model, append(test.arguments, "-", "--kubernetes-version", "v1.34.2", "--location", "eastus",
					"--output", format)...)
				if err == nil || !strings.Contains(err.Error(), "listed as refused") {
					t.Errorf("%s: the error is %v", test.reason, err)
				}
				if !strings.Contains(out, "kind: KubeadmControlPlane") {
					t.Errorf("%s: the manifests are not written:\n%s", test.reason, out)
				}
				if !strings.Contains(out+messages, test.want) {
					t.Errorf("%s: the report lacks %q:\n%s", test.reason, test.want, out+messages)
				}
			})
		}
	}
}

// TestExamplesAreAdmitted checks that an API server admits the manifests of each example.
func TestExamplesAreAdmitted(t *testing.T) {
	files, err := filepath.Glob("../testdata/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d examples: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if _, messages, err := run(t, "", file, "--kubernetes-version", "v1.34.2", "--location", "eastus"); err != nil {
				t.Errorf("%v\n%s", err, messages)
			}
		})
	}
}

// TestRefused checks that a model which cannot be converted ends in an error that names the property and the remedy.
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
		"one subnet": {"the provider creates no subnet in an existing network", `{"apiVersion":"vlabs","properties":{"masterProfile":{"dnsPrefix":"c1","vmSize":"Standard_D2s_v3"},"agentPoolProfiles":[{"name":"web","vmSize":"Standard_D2s_v3","vnetSubnetId":"/subscriptions/1/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"}]}}`,
			"properties.masterProfile.vnetSubnetId has no subnet"},
		"too large":       {"memory is bounded", `"` + strings.Repeat("a", aksengine.MaxModelBytes) + `"`, "more than 4194304 bytes"},
		"too deep":        {"the stack is bounded", strings.Repeat(`{"a":`, 100000), "nested deeper than 64 levels"},
		"too many values": {"each value has a line in the report", "[" + strings.Repeat("0,", 100000), "more than 20000 values"},
		"long name":       {"each value has a path", `{"` + strings.Repeat("a", 1<<20) + `":[` + strings.Repeat("0,", 19000), "more than 2048 characters"},
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
