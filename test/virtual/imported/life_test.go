package imported_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestLifeAfterImport scales an imported cluster and deletes it: a new machine comes from the template of the import, and nothing stays in
// Azure.
func TestLifeAfterImport(t *testing.T) {
	objects := renderFlavor(t, "cluster-template.yaml", map[string]string{"CONTROL_PLANE_MACHINE_COUNT": "3"}, nil)
	play(t, plan.Features{}, func(s *virtual.Scenario) {
		before := len(s.Azure.State())
		build(s, objects)
		got := mustImport(s, "--resource-group", "c1", "--owner-id", "a0a0a0a0-0000-4000-8000-000000000000")
		setTags(s, got.Tags)
		if again := mustImport(s, "--resource-group", "c1", "--owner-id", "a0a0a0a0-0000-4000-8000-000000000000"); len(again.Tags) > 0 {
			t.Errorf("with the ID of the first import its tags stay valid, but: %+v", again.Tags)
		}
		other := applyImport(s, got)

		deployments := &clusterv1.MachineDeploymentList{}
		if err := other.Kubernetes.List(t.Context(), deployments); err != nil || len(deployments.Items) != 1 {
			t.Fatalf("%d MachineDeployments, want 1: %v", len(deployments.Items), err)
		}
		harness.ChangeObject(other.Stage, &deployments.Items[0], func(d *clusterv1.MachineDeployment) { d.Spec.Replicas = new(int32(3)) })
		machines := &infrav1.AzureMachineList{}
		other.WaitUntil("a machine is added", func() bool {
			return other.Kubernetes.List(t.Context(), machines) == nil && len(machines.Items) == 6
		})
		waitReady(other)

		cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", Namespace: other.Namespace}}
		harness.ChangeObject(other.Stage, cluster, func(c *clusterv1.Cluster) { c.Finalizers = []string{clusterv1.ClusterFinalizer} })
		if err := other.Kubernetes.Delete(t.Context(), cluster); err != nil {
			t.Fatal(err)
		}
		other.WaitUntil("all objects are gone", func() bool { return len(other.ListAzureObjects()) == 0 }, func() string { return other.DescribeUnready() })
		if after := len(s.Azure.State()); after != before {
			for _, resource := range s.Azure.State() {
				if id, _ := resource["id"].(string); strings.Contains(id, "c1") {
					t.Errorf("%s stays in Azure", id)
				}
			}
			t.Errorf("%d resources, want %d", after, before)
		}
	})
}

// TestFlexiblePool imports a scale set with flexible orchestration, whose virtual machines are resources of the group.
func TestFlexiblePool(t *testing.T) {
	objects := renderFlavor(t, "cluster-template-machinepool.yaml", nil, func(objects []*unstructured.Unstructured) {
		for _, o := range objects {
			if o.GetKind() == "AzureMachinePool" {
				_ = unstructured.SetNestedField(o.Object, "Flexible", "spec", "orchestrationMode")
			}
		}
	})
	play(t, plan.Features{}, func(s *virtual.Scenario) {
		build(s, objects)
		got := mustImport(s, "--resource-group", "c1")
		dump(t, "flexible", got)
		if got.found {
			t.Errorf("the plan of the manifests has changes or reports: %+v", got.Check)
		}
		if strings.Count(got.Manifests, "\nkind: AzureMachine\n") != 1 || !strings.Contains(got.Manifests, "orchestrationMode: Flexible") {
			t.Errorf("the virtual machines of the scale set are its instances, and no AzureMachines:\n%s", got.Manifests)
		}
		setTags(s, got.Tags)
		applyImport(s, got)
	})
}

// TestCapacityReservation imports virtual machines and a scale set that use reserved capacity.
func TestCapacityReservation(t *testing.T) {
	const size = "Standard_D2s_v3" // The size of the reservation.
	group := "/subscriptions/" + flavors.TemplateVariables(nil)["AZURE_SUBSCRIPTION_ID"] + "/resourceGroups/capacity/providers/Microsoft.Compute/capacityReservationGroups/"
	objects := renderFlavor(t, "cluster-template-machinepool.yaml", map[string]string{"AZURE_CONTROL_PLANE_MACHINE_TYPE": size,
		"AZURE_NODE_MACHINE_TYPE": size}, func(objects []*unstructured.Unstructured) {
		for _, o := range objects {
			switch o.GetKind() {
			case "AzureMachineTemplate":
				_ = unstructured.SetNestedField(o.Object, group+"zonal", "spec", "template", "spec", "capacityReservationGroupID")
			case "AzureMachinePool":
				_ = unstructured.SetNestedField(o.Object, group+"nodes", "spec", "template", "capacityReservationGroupID")
			}
		}
	})
	play(t, plan.Features{}, func(s *virtual.Scenario) {
		flavors.CreateBroughtResources(s.Stage)
		const zonal = "resourceGroups/capacity/providers/Microsoft.Compute/capacityReservationGroups/zonal"
		s.Azure.PutResource(zonal, "2024-03-01", map[string]any{"location": "eastus", "zones": []string{"1"}})
		s.Azure.PutResource(zonal+"/capacityReservations/d2s", "2024-03-01",
			map[string]any{"location": "eastus", "zones": []string{"1"}, "sku": map[string]any{"name": size, "capacity": 1}})
		build(s, objects)
		got := mustImport(s, "--resource-group", "c1")
		if got.found {
			t.Errorf("the plan of the manifests has changes or reports: %+v", got.Check)
		}
		for _, finding := range got.Findings {
			if strings.Contains(finding.Path, "capacityReservation") && finding.Coverage != importing.Carried {
				t.Errorf("%s of %s is %s", finding.Path, finding.Resource, finding.Coverage)
			}
		}
		if n := strings.Count(got.Manifests, "capacityReservationGroupID: "+group); n != 3 {
			t.Errorf("%d objects have the capacity reservation group, want the AzureMachine, its template, and the AzureMachinePool:\n%s", n, got.Manifests)
		}
	})
}
