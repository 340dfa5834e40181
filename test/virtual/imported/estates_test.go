package imported_test

import (
	"slices"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors/estate"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// estates are the flavors whose resources the two providers leave differently: their tags, addresses of control planes, rules for SSH, and
// scale sets. The resources of the others are among those of these.
var estates = []string{"", "private", "apiserver-ilb", "dual-stack", "machinepool", "machinepool-windows", "system-assigned-identity", "windows"}

// TestEstates imports flavors as the established provider leaves them in Azure.
func TestEstates(t *testing.T) {
	for _, file := range flavors.TemplateNames(t) {
		name := flavors.FlavorName(file)
		if !slices.Contains(estates, name) {
			continue
		}
		t.Run(file, func(t *testing.T) {
			objects := renderFlavor(t, file, flavors.FlavorVariables[name], estate.AddDifferences)
			play(t, features[name], func(s *virtual.Scenario) {
				build(s, objects)
				estate.LeaveInAzure(s.Stage, controlPlanes(s))
				got := mustImport(s, append([]string{"--cluster", "c1"}, flags[name]...)...)
				dump(t, "capz-"+file, got)
				if len(got.Tags) > 0 {
					t.Errorf("resources without an owner tag need no tags: %+v", got.Tags)
				}
				if got.found {
					t.Errorf("the plan of the manifests has changes or reports: %+v", got.Check)
				}
				t.Logf("%d carried, %d default, %d listed", importing.Count(got.Findings, importing.Carried),
					importing.Count(got.Findings, importing.Default), importing.Count(got.Findings, importing.Listed))
				applyImport(s, got)
			})
		})
	}
}

// controlPlanes returns the names of the control-plane machines.
func controlPlanes(s *virtual.Scenario) (out []string) {
	s.T.Helper()
	machines := &clusterv1.MachineList{}
	if err := s.Kubernetes.List(s.T.Context(), machines); err != nil {
		s.T.Fatal(err)
	}
	for i := range machines.Items {
		if _, is := machines.Items[i].Labels[clusterv1.MachineControlPlaneLabel]; is {
			out = append(out, machines.Items[i].Name)
		}
	}
	return out
}
