package imported_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// features are the feature gates that flavors require, and flags those of the verb for them.
var (
	features = map[string]plan.Features{"edgezone": {EdgeZone: true}, "apiserver-ilb": {APIServerILB: true}, "windows-apiserver-ilb": {APIServerILB: true}}
	flags    = map[string][]string{"edgezone": {"--feature-gates", "EdgeZone=true"}, "apiserver-ilb": {"--feature-gates", "APIServerILB=true"},
		"windows-apiserver-ilb": {"--feature-gates", "APIServerILB=true"},
		// The image of Flatcar does not name the version of Kubernetes.
		"flatcar-sysext": {"--kubernetes-version", flavors.TemplateVariables(nil)["KUBERNETES_VERSION"]}}
)

// TestFlavors imports every flavor that this provider created.
func TestFlavors(t *testing.T) {
	for _, file := range flavors.TemplateNames(t) {
		name := flavors.FlavorName(file)
		if strings.HasPrefix(name, "aks") || name == "clusterclass" {
			continue
		}
		t.Run(file, func(t *testing.T) {
			objects := renderFlavor(t, file, flavors.FlavorVariables[name], nil)
			play(t, features[name], func(s *virtual.Scenario) {
				build(s, objects)
				got := mustImport(s, append([]string{"--resource-group", "c1"}, flags[name]...)...)
				dump(t, file, got)
				if got.found {
					t.Errorf("the plan of the manifests has changes or reports: %+v", got.Check)
				}
				t.Logf("%d carried, %d default, %d listed, %d tags", importing.Count(got.Findings, importing.Carried),
					importing.Count(got.Findings, importing.Default), importing.Count(got.Findings, importing.Listed), len(got.Tags))
				setTags(s, got.Tags)
				applyImport(s, got)
			})
		})
	}
}

// TestOtherName imports clusters with load balancers for outbound connections whose AzureCluster has the name of Cluster API's topology
// controller. The names of their addresses follow from it.
func TestOtherName(t *testing.T) {
	const former = "c1-abcde"
	rename := func(objects []*unstructured.Unstructured) {
		for _, object := range objects {
			switch object.GetKind() {
			case "AzureCluster":
				object.SetName(former)
			case "Cluster":
				if err := unstructured.SetNestedField(object.Object, former, "spec", "infrastructureRef", "name"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, name := range []string{"private", "dual-stack"} {
		t.Run(name, func(t *testing.T) {
			objects := renderFlavor(t, "cluster-template-"+name+".yaml", flavors.FlavorVariables[name], rename)
			play(t, features[name], func(s *virtual.Scenario) {
				build(s, objects)
				got := mustImport(s, "--cluster", "c1")
				dump(t, "other-name-"+name, got)
				if got.found {
					t.Errorf("the plan of the manifests has changes or reports: %+v", got.Check)
				}
				setTags(s, got.Tags)
				applyImport(s, got)
			})
		})
	}
}
