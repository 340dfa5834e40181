package crd_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// moveHierarchy is the label by which clusterctl moves all objects of a kind with what they own.
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#move
const moveHierarchy = "clusterctl.cluster.x-k8s.io/move-hierarchy"

// TestContractOfKinds checks the installed definitions: each template takes labels and annotations for the objects made from it, and
// clusterctl moves identities, which belong to no Cluster, and nothing else by a label of the kind.
func TestContractOfKinds(t *testing.T) {
	crdClient, err := client.New(environment.Config, client.Options{Scheme: crdScheme()})
	if err != nil {
		t.Fatal(err)
	}
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := crdClient.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	templates := 0
	for _, crd := range list.Items {
		if crd.Spec.Group != infrav1.GroupVersion.Group {
			continue
		}
		kind := crd.Spec.Names.Kind
		if _, moves := crd.Labels[moveHierarchy]; moves != (kind == "AzureClusterIdentity") {
			t.Errorf("label %s on the definition of %s: %t", moveHierarchy, kind, moves)
		}
		if !strings.HasSuffix(kind, "Template") {
			continue
		}
		templates++
		for _, version := range crd.Spec.Versions {
			metadata := version.Schema.OpenAPIV3Schema.Properties["spec"].Properties["template"].Properties["metadata"]
			for _, name := range []string{"labels", "annotations"} {
				values := metadata.Properties[name].AdditionalProperties
				if values == nil || values.Schema == nil || values.Schema.Type != "string" {
					t.Errorf("%s %s has no spec.template.metadata.%s", kind, version.Name, name)
				}
			}
		}
	}
	if templates != 8 {
		t.Errorf("checked %d kinds of templates, want 8", templates)
	}
}
