package azure

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddTags(t *testing.T) {
	for name, tc := range map[string]struct{ reason, template, want, fails string }{
		"cluster": {
			reason:   "machines and everything else inherit it",
			template: "kind: AzureCluster\nspec:\n  location: x\n", want: "kind: AzureCluster\nspec:\n  additionalTags:\n    capz-e2e: run\n  location: x\n",
		},
		"tags of the user": {
			reason:   "they stay",
			template: "kind: AzureCluster\nspec:\n  additionalTags:\n    a: b\n",
			want:     "kind: AzureCluster\nspec:\n  additionalTags:\n    capz-e2e: run\n    a: b\n",
		},
		"class": {
			reason:   "a topology makes its objects from the template",
			template: "kind: AzureClusterTemplate\nspec:\n  template:\n    spec:\n      location: x\n",
			want:     "kind: AzureClusterTemplate\nspec:\n  template:\n    spec:\n      additionalTags:\n        capz-e2e: run\n      location: x\n",
		},
		"ASO": {
			reason:   "each resource manifest has its own tags",
			template: "kind: AzureASOManagedCluster\nspec:\n  resources:\n  - kind: A\n    spec: {}\n  - apiVersion: v\n    kind: ResourceGroup\n    spec:\n      location: x\n",
			want: "kind: AzureASOManagedCluster\nspec:\n  resources:\n  - kind: A\n    spec: {}\n  - apiVersion: v\n    kind: ResourceGroup\n    spec:\n" +
				"      tags:\n        capz-e2e: run\n      location: x\n",
		},
		"other kind": {reason: "it has no tags", template: "kind: Cluster\nspec:\n  a: b\n", want: "kind: Cluster\nspec:\n  a: b\n"},
		"no spec":    {reason: "an untagged cluster would outlive the sweep", template: "kind: AzureCluster\n", fails: `AzureCluster: the line "spec:" is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := AddTags([]byte(tc.template), "run")
			if message := errorText(err); message != tc.fails {
				t.Fatalf("%s: error %q, want %q", tc.reason, message, tc.fails)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEveryTemplateIsTagged makes sure that each template of the release creates something that has the tag.
func TestEveryTemplateIsTagged(t *testing.T) {
	files, err := filepath.Glob("../../../templates/cluster*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates: %v", err)
	}
	infrastructure := regexp.MustCompile(`(?m)^kind: (Azure(?:Managed)?Cluster(?:Template)?|AzureManagedControlPlane(?:Template)?|AzureASOManaged\w+)$`)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tagged, err := AddTags(raw, "run")
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		if resources := asoKinds.FindAllString(string(raw), -1); strings.Count(string(tagged), "tags:\n") < len(resources) {
			t.Errorf("%s: not each of the resources %q has tags", filepath.Base(file), resources)
		}
		for document := range strings.SplitSeq(string(tagged), "\n---\n") {
			kind := infrastructure.FindStringSubmatch(document)
			// An AzureManagedCluster has no resources of its own.
			if kind == nil || strings.HasPrefix(kind[1], "AzureManagedCluster") {
				continue
			}
			// Patches of the class fill in the resources.
			if strings.Contains(document, "\n      resources: []") {
				continue
			}
			if !strings.Contains(document, Tag+": run") {
				t.Errorf("%s: %s creates resources without the tag", filepath.Base(file), kind[1])
			}
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
