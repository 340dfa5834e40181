package applied_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// applyTwice brings the objects of a manifest to their end state, applies them again, and fails the test when that writes to Azure.
func applyTwice(t *testing.T, stage *harness.Stage, objects []*unstructured.Unstructured) {
	t.Helper()
	flavors.CreateIdentities(stage)
	flavors.CreateBroughtResources(stage)
	manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: harness.SyncPeriod})
	switch {
	case containsKind(objects, "", clusterv1.ManagedByAnnotation), !containsKind(objects, "AzureCluster", "") &&
		!containsKind(objects, "AzureManagedControlPlane", "") && !containsKind(objects, "AzureASOManagedControlPlane", ""):
		// The provider makes nothing of these.
		mark := stage.Azure.MarkRequests()
		applyObjects(stage, objects)
		flavors.ApplyAgain(stage, objects)
		if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("Azure was written to: %q", writes)
		}
	case containsKind(objects, "AzureASOManagedControlPlane", ""):
		stage.CreateOperatorSecret(harness.OperatorSecret)
		applyObjects(stage, objects)
		var pools []string
		for _, object := range objects {
			if object.GetKind() == "AzureASOManagedMachinePool" {
				pools = append(pools, object.GetName())
			}
		}
		stage.WaitManifestsReady(stage.PlayManifests("c1", pools...))
		quietManaged(stage, manager, objects)
	case containsKind(objects, "AzureManagedControlPlane", ""):
		flavors.UpManaged(stage, objects)
		quietManaged(stage, manager, objects)
	default:
		cluster := flavors.BringUp(stage, objects)
		mark := stage.Azure.MarkRequests()
		if len(cluster.Machines) > 0 {
			flavors.QuietAgain(stage, manager, resyncs, objects)
			flavors.CheckListings(stage, environment.Config)
			return
		}
		flavors.ApplyAgain(stage, objects)
		if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("Azure was written to: %q", writes)
		}
		flavors.CheckListings(stage, environment.Config)
	}
}

// resyncs is how often a cluster is looked at after its manifest was applied again.
const resyncs = 2

// quietManaged applies the objects of an AKS cluster that is Ready again.
func quietManaged(stage *harness.Stage, manager *harness.Manager, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	stage.QuietManaged(manager, 0)
	mark := stage.Azure.MarkRequests()
	flavors.ApplyAgain(stage, objects)
	stage.QuietManaged(manager, resyncs)
	if writes := harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)); len(writes) > 0 {
		stage.T.Errorf("the same was applied again, but Azure was written to: %q", writes)
	}
	flavors.CheckListings(stage, environment.Config)
}

func applyObjects(stage *harness.Stage, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	flavors.SetNamespace(stage, objects)
	for _, object := range objects {
		if err := flavors.ApplyServerSide(stage, object); err != nil {
			stage.T.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

// containsKind returns whether an object is of the kind, or has the annotation.
func containsKind(objects []*unstructured.Unstructured, kind, annotation string) bool {
	for _, object := range objects {
		if _, annotated := object.GetAnnotations()[annotation]; annotated || kind != "" && object.GetKind() == kind {
			return true
		}
	}
	return false
}
