package imported_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestPage runs the commands of docs/book/import.md.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/book/import.md")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		commands = append(commands, strings.Split(strings.TrimSpace(block[1]), "\n")...)
	}
	if len(commands) < 3 {
		t.Fatalf("the page has the commands %q", commands)
	}
	objects := renderFlavor(t, "cluster-template.yaml", nil, func(objects []*unstructured.Unstructured) {
		for _, o := range objects {
			if o.GetKind() == "AzureCluster" {
				_ = unstructured.SetNestedStringMap(o.Object, map[string]string{"team": "a"}, "spec", "additionalTags")
			}
		}
	})
	file := kubeadmControlPlane(t)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("control-plane.yaml", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	play(t, plan.Features{}, func(s *virtual.Scenario) {
		build(s, objects)
		for _, command := range commands {
			words := strings.Fields(command)
			if len(words) < 4 || strings.Join(words[:3], " ") != "kubectl capz import" {
				t.Errorf("%s is no command of this page", command)
				continue
			}
			words = words[3:]
			if n := len(words); n > 2 && words[n-2] == ">" {
				words = words[:n-2]
			}
			out, messages, err := runImport(s, words...)
			if err != nil || !strings.Contains(messages, "writes nothing to Azure") {
				t.Errorf("%s: %v\n%s", command, err, messages)
			}
			for _, kind := range []string{"AzureCluster", "KubeadmControlPlane", "MachineDeployment"} {
				if !strings.Contains(out, "kind: "+kind+"\n") {
					t.Errorf("%s: the manifests have no %s", command, kind)
				}
			}
		}
	})
}
