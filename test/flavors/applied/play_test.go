package applied_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// play brings the objects of a manifest to their end state, applies them again, and fails the test when that writes to Azure.
func play(t *testing.T, stage *harness.Stage, objects []*unstructured.Unstructured) {
	t.Helper()
	flavors.Bring(stage)
	flavors.World(stage)
	manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: flavors.SyncPeriod})
	switch {
	case has(objects, "", clusterv1.ManagedByAnnotation), !has(objects, "AzureCluster", "") && !has(objects, "AzureManagedControlPlane", "") && !has(objects, "AzureASOManagedControlPlane", ""):
		// The provider makes nothing of these.
		mark := stage.Azure.Mark()
		apply(stage, objects)
		flavors.Again(stage, objects)
		if writes := stage.Azure.Writes(mark); len(writes) > 0 {
			t.Errorf("Azure was written to: %q", writes)
		}
	case has(objects, "AzureASOManagedControlPlane", ""):
		apply(stage, objects)
		var pools []string
		for _, object := range objects {
			if object.GetKind() == "AzureASOManagedMachinePool" {
				pools = append(pools, object.GetName())
			}
		}
		stage.CreateOperatorSecret(harness.OperatorSecret)
		stage.WaitDocumentsReady(stage.PlayDocuments("c1", pools...))
		quietManaged(stage, manager, objects)
	case has(objects, "AzureManagedControlPlane", ""):
		flavors.UpManaged(stage, objects)
		quietManaged(stage, manager, objects)
	default:
		cluster := flavors.Up(stage, objects)
		mark := stage.Azure.Mark()
		if len(cluster.Machines) > 0 {
			flavors.QuietAgain(stage, manager, resyncs, objects)
			return
		}
		flavors.Again(stage, objects)
		if writes := stage.Azure.Writes(mark); len(writes) > 0 {
			t.Errorf("Azure was written to: %q", writes)
		}
	}
}

// resyncs is how often a cluster is looked at after its manifest was applied again.
const resyncs = 2

// quietManaged applies the objects of an AKS cluster that is Ready again.
func quietManaged(stage *harness.Stage, manager *harness.Manager, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	stage.QuietManaged(manager, 0)
	mark := stage.Azure.Mark()
	flavors.Again(stage, objects)
	stage.QuietManaged(manager, resyncs)
	if writes := harness.Changes(stage.Azure.Writes(mark)); len(writes) > 0 {
		stage.T.Errorf("the same was applied again, but Azure was written to: %q", writes)
	}
}

func apply(stage *harness.Stage, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	flavors.Into(stage, objects)
	for _, object := range objects {
		if err := flavors.Apply(stage, object); err != nil {
			stage.T.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

// has returns whether an object is of the kind, or has the annotation.
func has(objects []*unstructured.Unstructured, kind, annotation string) bool {
	for _, object := range objects {
		if _, annotated := object.GetAnnotations()[annotation]; annotated || kind != "" && object.GetKind() == kind {
			return true
		}
	}
	return false
}
