package kubernetes

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestPatchWithoutEffect patches an object and its status with what they already have: nothing is announced, and the resource version stays, as
// with an API server.
func TestPatchWithoutEffect(t *testing.T) {
	changes := 0
	server, err := New(func(context.Context, client.Object, client.Object) { changes++ })
	if err != nil {
		t.Fatal(err)
	}
	machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m", Labels: map[string]string{"a": "b"}}}
	if err := server.Create(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name, patch       string
		status, unchanged bool
	}{
		{name: "metadata as it is", patch: `{"metadata":{"labels":{"a":"b"}}}`, unchanged: true},
		{name: "status as it is", patch: `{"status":{"ready":false}}`, status: true, unchanged: true},
		{name: "another label", patch: `{"metadata":{"labels":{"c":"d"}}}`},
		{name: "another status", patch: `{"status":{"ready":true}}`, status: true},
	} {
		stored := &infrav1.AzureMachine{}
		if err := server.Get(t.Context(), client.ObjectKeyFromObject(machine), stored); err != nil {
			t.Fatal(err)
		}
		announced, patched := changes, stored.DeepCopy()
		patch := client.RawPatch("application/merge-patch+json", []byte(step.patch))
		write := func() error { return server.Patch(t.Context(), patched, patch) }
		if step.status {
			write = func() error { return server.Status().Patch(t.Context(), patched, patch) }
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
		now := &infrav1.AzureMachine{}
		if err := server.Get(t.Context(), client.ObjectKeyFromObject(machine), now); err != nil {
			t.Fatal(err)
		}
		same := now.ResourceVersion == stored.ResourceVersion
		if same != step.unchanged || same != (changes == announced) || patched.ResourceVersion != now.ResourceVersion {
			t.Errorf("%s: version %s, before %s, in the answer %s; %d announcements", step.name, now.ResourceVersion, stored.ResourceVersion,
				patched.ResourceVersion, changes-announced)
		}
	}
}
