package deletion_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// TestInterruptedReleaseContinues ends the process while it releases the identity: the stored object is enough to continue without an identity.
func TestInterruptedReleaseContinues(t *testing.T) {
	ctx := context.Background()
	scheme := runtime.NewScheme()
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	const others = "others.example.com/hold"
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(&infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "c", UID: "u", Finalizers: []string{infrav1.ClusterFinalizer, others},
		DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)},
	}}).Build()
	stored := func() *infrav1.AzureCluster {
		t.Helper()
		azureCluster := &infrav1.AzureCluster{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "ns", Name: "c"}, azureCluster); err != nil {
			t.Fatal(err)
		}
		return azureCluster
	}
	// reconcile reconciles the stored object once, and writes the changes at the end.
	reconcile := func(release func() error) error {
		t.Helper()
		azureCluster := stored()
		changes := patch.TrackChanges(c, azureCluster)
		failure := deletion.CompleteDeletion(ctx, changes, azureCluster, release, infrav1.ClusterFinalizer)
		if err := changes.Write(ctx); err != nil {
			t.Fatal(err)
		}
		return failure
	}
	ended := errors.New("the process ended")
	err := reconcile(func() error {
		if !deletion.NothingLeft(stored()) {
			t.Error("the identity is released before it is stored that nothing is left")
		}
		return ended
	})
	if !errors.Is(err, ended) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{infrav1.ClusterFinalizer, others}, stored().Finalizers); diff != "" || !deletion.NothingLeft(stored()) {
		t.Errorf("the object must not go before the identity is free:\n%s", diff)
	}
	if err := reconcile(func() error { return nil }); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{others}, stored().Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
}

// TestNothingLeftOfOneObject reads the mark of an ended deletion on objects for which it was not set.
func TestNothingLeftOfOneObject(t *testing.T) {
	const key = "sigs.k8s.io/cluster-api-provider-azure-nothing-left"
	deleted := &metav1.Time{Time: time.Unix(1, 0)}
	for name, test := range map[string]struct {
		reason string
		uid    types.UID
		at     *metav1.Time
		marked string
		want   bool
	}{
		"marked":                 {"its deletion is complete in Azure", "one", deleted, "one", true},
		"restored from a backup": {"it has another UID and was created in Azure again", "two", deleted, "one", false},
		"of a pre-release":       {"v2.0.0-alpha wrote true, which a backup may have: Azure is asked once more", "one", deleted, "true", false},
		"not being deleted":      {"only a deletion can be complete", "one", nil, "one", false},
		"not marked":             {"its deletion goes on", "one", deleted, "", false},
		"empty mark":             {"users may remove the value", "", deleted, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{UID: test.uid, DeletionTimestamp: test.at,
				Annotations: map[string]string{key: test.marked}}}
			if got := deletion.NothingLeft(object); got != test.want {
				t.Errorf("%s: got %t", test.reason, got)
			}
		})
	}
}
