package virtual

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// ReadManifests returns the objects of manifests that the played API server knows.
func ReadManifests(t testing.TB, raw []byte) (out []client.Object) {
	t.Helper()
	documents, err := manifests.Files{Input: bytes.NewReader(raw)}.Read([]string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	scheme, err := kubernetes.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		object, err := manifests.ToObject(scheme, document)
		if err != nil {
			t.Fatal(err)
		}
		if object != nil {
			out = append(out, object)
		}
	}
	return out
}

// ApplyManifests creates objects in the namespace of the stage, with admission, and has Cluster API played from then on.
func (s *Scenario) ApplyManifests(objects []client.Object) {
	s.T.Helper()
	admission, err := preview.NewAdmission(s.Kubernetes, s.Features)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, object := range objects {
		object.SetNamespace(s.Namespace)
		stored, err := admission.Admit(s.T.Context(), nil, object)
		if err == nil {
			err = s.Kubernetes.Create(s.T.Context(), stored)
		}
		if err != nil {
			s.T.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
	s.Meanwhile = func() {
		if err := clusterapi.PlayRound(context.Background(), s.Client); err != nil {
			s.T.Fatal(err)
		}
	}
}

// ListAzureObjects returns all objects of the kinds that show on their conditions how their resources in Azure are.
func (s *Scenario) ListAzureObjects() (out []harness.Conditioned) {
	s.T.Helper()
	for _, list := range []client.ObjectList{&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{},
		&infrav1.AzureMachinePoolMachineList{}, &infrav1.AzureManagedClusterList{}, &infrav1.AzureManagedControlPlaneList{},
		&infrav1.AzureManagedMachinePoolList{},
		&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{}} {
		if err := s.Kubernetes.List(s.T.Context(), list, client.InNamespace(s.Namespace)); err != nil {
			s.T.Fatal(err)
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			out = append(out, item.(harness.Conditioned))
			return nil
		}); err != nil {
			s.T.Fatal(err)
		}
	}
	return out
}

// WaitAllReady waits until there are objects of ListAzureObjects, all are Ready and no others come.
func (s *Scenario) WaitAllReady() {
	s.T.Helper()
	calm, before := 0, -1
	s.WaitUntil("all objects are Ready", func() bool {
		objects := s.ListAzureObjects()
		ready := !slices.ContainsFunc(objects, func(o harness.Conditioned) bool { return !harness.IsReady(o) })
		if calm++; !ready || len(objects) == 0 || len(objects) != before {
			calm, before = 0, len(objects)
		}
		return calm > 30
	}, func() string { return fmt.Sprintf("%d objects\n%s", max(before, 0), s.DescribeUnready()) })
}

// DescribeUnready returns a line for each object of ListAzureObjects that is not Ready.
func (s *Scenario) DescribeUnready() string {
	var out []string
	for _, object := range s.ListAzureObjects() {
		if !harness.IsReady(object) {
			out = append(out, fmt.Sprintf("%T %s: %+v", object, object.GetName(), harness.FindCondition(object, infrav1.ReadyCondition)))
		}
	}
	return strings.Join(out, "\n")
}
