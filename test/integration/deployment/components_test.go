package deployment_test

import (
	"slices"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
)

// TestComponents checks clusterctl's components against its contract: one Namespace with all namespaced objects in it, the label of the
// provider on every object, and a container called manager.
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#components-yaml
func TestComponents(t *testing.T) {
	objects := buildComponents(t)
	// The harness serves no cert-manager. Its kinds here are namespaced.
	certificates := []string{"Certificate", "Issuer"}
	namespaces, definitions := 0, 0
	for _, object := range objects {
		kind := object.GetKind()
		switch kind {
		case "Namespace":
			namespaces++
			if object.GetName() != namespace {
				t.Errorf("the Namespace is called %s", object.GetName())
			}
		case "CustomResourceDefinition":
			definitions++
		}
		namespaced := slices.Contains(certificates, kind)
		if !namespaced {
			mapping, err := environment.Client.RESTMapper().RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
			if err != nil {
				t.Fatal(err)
			}
			namespaced = mapping.Scope.Name() == apimeta.RESTScopeNameNamespace
		}
		// clusterctl and kustomize give one to policies too, which are in none. The API server drops it.
		if namespaced && object.GetNamespace() != namespace {
			t.Errorf("%s %s is in the namespace %q", kind, object.GetName(), object.GetNamespace())
		}
		if label := object.GetLabels()["cluster.x-k8s.io/provider"]; label != "infrastructure-azure" {
			t.Errorf("%s %s has the label cluster.x-k8s.io/provider=%q", kind, object.GetName(), label)
		}
	}
	if namespaces != 1 || definitions != 19 {
		t.Errorf("%d Namespaces and %d definitions, want 1 and 19", namespaces, definitions)
	}
	containers := readDeployment(t, objects).Spec.Template.Spec.Containers
	if len(containers) != 1 || containers[0].Name != "manager" {
		t.Errorf("the containers are %+v, want one called manager", containers)
	}
	// clusterctl installs a provider for all namespaces.
	for _, argument := range containers[0].Args {
		if name, value, _ := strings.Cut(argument, "="); name == "--namespace" && value != "" {
			t.Errorf("the manager watches only the namespace %s", value)
		}
	}
}
