package patch

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// TestWriteReturnsFailures lets the API server refuse the patch of the annotation that a reconciliation stores before it creates something;
// it expects the error.
func TestWriteReturnsFailures(t *testing.T) {
	machines := schema.GroupResource{Group: infrav1.GroupVersion.Group, Resource: "azuremachines"}
	conflict := apierrors.NewConflict(machines, "m", errors.New("changed"))
	gone := apierrors.NewNotFound(machines, "m")
	tests := map[string]struct {
		reason   string
		answer   error
		deleting bool
		want     error
	}{
		"conflict":     {reason: "a failed write must not count as stored", answer: conflict, want: conflict},
		"gone":         {reason: "resources of an object that does not exist would be lost", answer: gone, want: gone},
		"gone at last": {reason: "the end of an object that is being deleted is no failure", answer: gone, deleting: true},
		"late conflict": {reason: "a finalizer that could not be removed has to be removed later", answer: conflict, deleting: true,
			want: conflict},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
			if test.deleting {
				machine.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
			}
			c := fake.NewClientBuilder().WithScheme(testScheme(t)).WithInterceptorFuncs(interceptor.Funcs{
				Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
					return test.answer
				},
			}).Build()
			changes := TrackChanges(c, machine)
			machine.Annotations = map[string]string{"planned": "b"}
			if err := changes.Write(t.Context()); !errors.Is(err, test.want) {
				t.Errorf("%s: got %v", test.reason, err)
			}
		})
	}
}

// TestStoredStatusIsConverted checks the patch for objects that were stored by contract v1beta1.
func TestStoredStatusIsConverted(t *testing.T) {
	const at = `"lastTransitionTime":"2024-05-01T00:00:00Z"`
	long := strings.Repeat("ä", maxMessage)
	tests := map[string]struct {
		reason string
		obj    client.Object
		stored string
		// want is the patch, "" for none.
		want string
	}{
		"condition without a reason": {
			reason: "the status stays, and conditions with a reason are as they were",
			obj:    &infrav1.AzureMachine{},
			stored: `{"conditions":[{"type":"Ready","status":"True",` + at + `},{"type":"VMRunning","status":"False","severity":"Info","reason":"Creating","message":"m",` + at + `}]}`,
			want:   `{"status":{"conditions":[{` + at + `,"message":"","reason":"NotCheckedYet","status":"True","type":"Ready"},{` + at + `,"message":"m","reason":"Creating","status":"False","type":"VMRunning"}]}}`,
		},
		"reason that is no word": {
			reason: "reasons were any text",
			obj:    &infrav1.AzureClusterIdentity{},
			stored: `{"conditions":[{"type":"Ready","status":"False","reason":"not a word","message":"m",` + at + `}]}`,
			want:   `{"status":{"conditions":[{` + at + `,"message":"m","reason":"NotCheckedYet","status":"False","type":"Ready"}]}}`,
		},
		"endless message": {
			reason: "messages had no bound, and are cut between characters",
			obj:    &infrav1.AzureManagedControlPlane{},
			stored: `{"conditions":[{"type":"Ready","status":"False","reason":"Failed","message":"x` + long + `",` + at + `}]}`,
			want:   `{"status":{"conditions":[{` + at + `,"message":"x` + long[:maxMessage-2] + `","reason":"Failed","status":"False","type":"Ready"}]}}`,
		},
		"map of failure domains": {
			reason: "Cluster API reads the list, also if the map has the same content",
			obj:    &infrav1.AzureCluster{},
			stored: `{"failureDomains":{"2":{"controlPlane":true},"1":{}}}`,
			want:   `{"status":{"failureDomains":[{"name":"1"},{"controlPlane":true,"name":"2"}]}}`,
		},
		"empty map": {
			reason: "a map without entries is no list either",
			obj:    &infrav1.AzureCluster{},
			stored: `{"ready":true,"failureDomains":{}}`,
			want:   `{"status":{"failureDomains":null}}`,
		},
		"today's form": {
			reason: "nothing is written for nothing",
			obj:    &infrav1.AzureCluster{},
			stored: `{"failureDomains":[{"name":"1"}],"conditions":[{"type":"Ready","status":"True","reason":"Ready",` + at + `}]}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(`{"metadata":{"name":"o"},"status":`+test.stored+`}`), test.obj); err != nil {
				t.Fatal(err)
			}
			sent := ""
			c := fake.NewClientBuilder().WithScheme(testScheme(t)).WithInterceptorFuncs(interceptor.Funcs{
				SubResourcePatch: func(_ context.Context, _ client.Client, _ string, obj client.Object, patch client.Patch,
					_ ...client.SubResourcePatchOption) error {
					raw, err := patch.Data(obj)
					sent += string(raw)
					return err
				},
			}).Build()
			renewed, err := WriteCurrentFormat(t.Context(), c, test.obj)
			if err != nil || renewed != (test.want != "") {
				t.Errorf("%s: renewed %t, %v", test.reason, renewed, err)
			}
			if diff := cmp.Diff(test.want, sent); diff != "" {
				t.Errorf("%s (-want +sent):\n%.2000s", test.reason, diff)
			}
			if again, err := WriteCurrentFormat(t.Context(), c, test.obj); err != nil || again {
				t.Errorf("it is renewed once, and again %t, %v", again, err)
			}
		})
	}
}

// TestFailureDomainsAreReplaced lets a reconciliation compute the failure domains that the stored status has as a map; it expects a write
// of the status.
func TestFailureDomainsAreReplaced(t *testing.T) {
	cluster := &infrav1.AzureCluster{}
	if err := json.Unmarshal([]byte(`{"status":{"failureDomains":{"1":{"controlPlane":true}}}}`), cluster); err != nil {
		t.Fatal(err)
	}
	changes := TrackChanges(nil, cluster)
	cluster.Status.FailureDomains = infrav1.FailureDomains{Domains: []clusterv1.FailureDomain{{Name: "1", ControlPlane: new(true)}}}
	if status, rest, err := compareObjects(changes.before, cluster); !status || rest || err != nil {
		t.Errorf("status changed %t, the rest %t, %v", status, rest, err)
	}
}

// TestUnchangedObjectsAreNotCopied writes an object without changes, as most reconciliations do, and with one.
func TestUnchangedObjectsAreNotCopied(t *testing.T) {
	machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
	c := fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(machine).WithStatusSubresource(machine).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(machine), machine); err != nil {
		t.Fatal(err)
	}
	changes := TrackChanges(c, machine)
	if err := changes.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := changes.before
	if err := changes.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if changes.before != before {
		t.Error("an object without changes was copied")
	}
	machine.Labels = map[string]string{"a": "b"}
	if err := changes.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if changes.before == before || changes.before.GetLabels()["a"] != "b" {
		t.Error("the written object is not the one that later changes are compared with")
	}
}

// TestWriteWithoutStatus writes an annotation and leaves the changed status to a later write.
func TestWriteWithoutStatus(t *testing.T) {
	machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
	c := fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(machine).WithStatusSubresource(machine).Build()
	read := func() *infrav1.AzureMachine {
		t.Helper()
		out := &infrav1.AzureMachine{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(machine), out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	machine = read()
	changes := TrackChanges(c, machine)
	machine.Annotations, machine.Status.Ready = map[string]string{"a": "b"}, true
	if err := changes.WriteWithoutStatus(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stored := read(); stored.Annotations["a"] != "b" || stored.Status.Ready {
		t.Errorf("annotations %v, ready %t", stored.Annotations, stored.Status.Ready)
	}
	if err := changes.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !read().Status.Ready {
		t.Error("the status is not stored")
	}
}
