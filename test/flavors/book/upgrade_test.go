package book_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// TestUpgradeCommands runs the commands of the page about upgrades for the objects of the flavors, and looks at the versions and templates of the
// objects afterwards. No controller of Cluster API runs, so the test writes the status that a command waits for.
func TestUpgradeCommands(t *testing.T) {
	t.Parallel()
	stage := flavors.NewStage(t, environment)
	objects := map[string]*unstructured.Unstructured{}
	for _, template := range []string{"cluster-template.yaml", "cluster-template-machinepool.yaml", "cluster-template-topology.yaml"} {
		variables := map[string]string{"CLUSTER_CLASS_NAME": "default"}
		if strings.Contains(template, "topology") {
			variables["CLUSTER_NAME"] = "my-cluster"
		}
		decoded, err := flavors.DecodeManifest(flavors.RenderTemplate(t, template, flavors.TemplateVariables(variables)))
		if err != nil {
			t.Fatal(err)
		}
		flavors.SetNamespace(stage, decoded)
		for _, object := range decoded {
			key := object.GetKind() + " " + object.GetName()
			switch object.GetKind() {
			case "KubeadmControlPlane", "MachineDeployment", "MachinePool", "AzureMachinePool", "Cluster":
			default:
				continue
			}
			if objects[key] != nil {
				continue
			}
			if err := flavors.ApplyServerSide(stage, object); err != nil {
				t.Fatalf("%s of %s: %v", key, template, err)
			}
			objects[key] = object
		}
	}
	for _, block := range flavors.PageBlocks(t, flavors.SelfManaged, "upgrade.md") {
		if block.Language != "sh" {
			continue
		}
		for line := range strings.Lines(block.Text) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "kubectl ") {
				continue // clusterctl only shows the cluster.
			}
			if strings.HasPrefix(line, "kubectl wait ") {
				stage.RunShell(`kubectl patch kubeadmcontrolplane c1-control-plane --subresource status --type merge --patch '{"status": {"version": "v1.34.2"}}'`)
			}
			stage.RunShell(line)
		}
	}
	for key, want := range map[string]map[string]string{
		"KubeadmControlPlane c1-control-plane": {"spec.version": "v1.34.2", "spec.machineTemplate.spec.infrastructureRef.name": "c1-control-plane-v1-34-2",
			"spec.machineTemplate.spec.infrastructureRef.kind": "AzureMachineTemplate"},
		"MachineDeployment c1-md-0": {"spec.template.spec.version": "v1.34.2", "spec.template.spec.infrastructureRef.name": "c1-md-0-v1-34-2",
			"spec.template.spec.infrastructureRef.kind": "AzureMachineTemplate"},
		"MachinePool c1-mp-0":      {"spec.template.spec.version": "v1.34.2", "spec.template.spec.infrastructureRef.name": "c1-mp-0"},
		"AzureMachinePool c1-mp-0": {"spec.template.image.computeGallery.version": "1.34.2", "spec.template.vmSize": "Standard_D2s_v3"},
		"Cluster my-cluster":       {"spec.topology.version": "v1.34.2"},
	} {
		object := objects[key]
		if object == nil {
			t.Errorf("the flavors have no %s", key)
			continue
		}
		if err := stage.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		for path, value := range want {
			if got := flavors.FieldString(object, path); got != value {
				t.Errorf("%s: %s is %q, want %q", key, path, got, value)
			}
		}
	}
	if templates := templateNames(t); !slices.Contains(templates, "c1-control-plane-v1-34-2") || !slices.Contains(templates, "c1-md-0-v1-34-2") {
		t.Errorf("the page has the templates %q, and its commands name others", templates)
	}
}

// templateNames returns the names of the templates of the page about upgrades.
func templateNames(t *testing.T) (out []string) {
	t.Helper()
	for _, block := range flavors.PageBlocks(t, flavors.SelfManaged, "upgrade.md") {
		if block.Language != "yaml" {
			continue
		}
		decoded, err := flavors.DecodeManifest([]byte(block.Text))
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range decoded {
			out = append(out, object.GetName())
		}
	}
	return out
}
