package crd_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// moveHierarchy is the label by which clusterctl moves all objects of a kind with the objects that they own.
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/clusterctl#move
const moveHierarchy = "clusterctl.cluster.x-k8s.io/move-hierarchy"

// contractVersion is the version of Cluster API's contract that this provider keeps.
const contractVersion = "v1beta2"

// TestContractOfKinds checks that the installed definitions meet the contract's demands on all kinds, and on the status of kinds that
// controllers reconcile. Each template takes labels and annotations for the objects made from it. clusterctl moves identities, which
// belong to no Cluster, and nothing else by a label of the kind.
func TestContractOfKinds(t *testing.T) {
	crdClient, err := client.New(environment.Config, client.Options{Scheme: crdScheme()})
	if err != nil {
		t.Fatal(err)
	}
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := crdClient.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	kinds, templates := 0, 0
	for _, crd := range list.Items {
		if crd.Spec.Group != infrav1.GroupVersion.Group {
			continue
		}
		kinds++
		kind := crd.Spec.Names.Kind
		for _, err := range []error{checkDefinition(&crd), checkStatus(&crd)} {
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
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
	if kinds != 19 || templates != 8 {
		t.Errorf("checked %d kinds and among them %d templates, want 19 and 8", kinds, templates)
	}
}

// checkDefinition checks a definition with the contract's rules for all resources.
func checkDefinition(crd *apiextensionsv1.CustomResourceDefinition) error {
	var errs []error
	want := func(so bool, format string, arguments ...any) {
		if !so {
			errs = append(errs, fmt.Errorf(format, arguments...))
		}
	}
	names, gk := crd.Spec.Names, schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	want(crd.Spec.Scope == apiextensionsv1.NamespaceScoped, "the scope is %s", crd.Spec.Scope)
	want(crd.Name == contract.CalculateCRDName(gk.Group, gk.Kind), "the definition is called %s, and Cluster API looks for %s", crd.Name,
		contract.CalculateCRDName(gk.Group, gk.Kind))
	want(names.ListKind == names.Kind+"List", "the list is called %s", names.ListKind)
	want(slices.Contains(names.Categories, "cluster-api"), "it is not in the category cluster-api but in %v", names.Categories)
	label := crd.Labels[clusterv1.GroupVersion.Group+"/"+contractVersion]
	for named := range strings.SplitSeq(label, "_") {
		i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == named })
		want(i >= 0 && crd.Spec.Versions[i].Served, "the label of the contract names the version %q, which is not served", named)
	}
	for _, version := range crd.Spec.Versions {
		for _, field := range []string{"apiVersion", "kind", "metadata"} {
			_, ok := version.Schema.OpenAPIV3Schema.Properties[field]
			want(ok, "%s has no field %s", version.Name, field)
		}
	}
	return errors.Join(errs...)
}

// checkStatus checks the status of a kind that a controller reconciles with the contract's rules.
func checkStatus(crd *apiextensionsv1.CustomResourceDefinition) error {
	if strings.HasSuffix(crd.Spec.Names.Kind, "Template") {
		return nil // Cluster API reads only the capacity of templates.
	}
	var errs []error
	for _, version := range crd.Spec.Versions {
		status := version.Schema.OpenAPIV3Schema.Properties["status"]
		if version.Subresources == nil || version.Subresources.Status == nil {
			errs = append(errs, fmt.Errorf("%s has no subresource status", version.Name))
		}
		for field, key := range map[string]string{"conditions": "type", "versions": "version"} {
			list, ok := status.Properties[field]
			if !ok && field != "conditions" {
				continue
			}
			if list.XListType == nil || *list.XListType != "map" || !slices.Equal(list.XListMapKeys, []string{key}) {
				errs = append(errs, fmt.Errorf("%s: the list status.%s has not the key %s", version.Name, field, key))
			}
		}
		conditions := status.Properties["conditions"]
		if conditions.Items == nil || conditions.Items.Schema == nil {
			errs = append(errs, fmt.Errorf("%s: status.conditions is no list", version.Name))
			continue
		}
		for _, field := range []string{"type", "status", "reason", "message", "lastTransitionTime", "observedGeneration"} {
			if _, ok := conditions.Items.Schema.Properties[field]; !ok {
				errs = append(errs, fmt.Errorf("%s: conditions have no %s", version.Name, field))
			}
		}
	}
	return errors.Join(errs...)
}
