package azuremachinetemplate

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestTemplatesWithoutRequests reconciles templates for which no request to Azure is needed: the reconciler of the test has no Azure
// client.
func TestTemplatesWithoutRequests(t *testing.T) {
	template := func(change func(*infrav1.AzureMachineTemplate)) *infrav1.AzureMachineTemplate {
		object := &infrav1.AzureMachineTemplate{ObjectMeta: storetest.NewOwnedMeta("t", "c1")}
		if change != nil {
			change(object)
		}
		return object
	}
	own := storetest.NewCluster("c1", "AzureCluster", "c1")
	paused := own.DeepCopy()
	paused.Spec.Paused = new(true)
	azureCluster := &infrav1.AzureCluster{ObjectMeta: storetest.NewMeta("c1")}
	tests := map[string]struct {
		reason   string
		template *infrav1.AzureMachineTemplate
		others   []client.Object
		// want is the condition Ready, "" for none.
		want string
	}{
		"capacity known": {"the spec of a template does not change", template(func(t *infrav1.AzureMachineTemplate) {
			t.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
			t.Status.NodeInfo = &infrav1.NodeInfo{}
			setReady(t, "")
		}), []client.Object{own, azureCluster}, "True Ready"},
		"leaving": {"no autoscaler needs its capacity any more", storetest.MarkDeleting(template(nil)), []client.Object{own, azureCluster}, ""},
		"of no cluster": {"templates of a ClusterClass are copied for each cluster",
			template(func(t *infrav1.AzureMachineTemplate) { t.OwnerReferences = nil }), nil, "True Ready"},
		"of a cluster that is gone": {"there is no identity to ask as", template(nil), nil, "True Ready"},
		"of an AKS cluster": {"its pools are of another kind", template(nil),
			[]client.Object{storetest.NewCluster("c1", "AzureManagedCluster", "c1")}, "True Ready"},
		"of a paused cluster": {"Azure is not asked", template(nil), []client.Object{paused, azureCluster}, "Unknown Paused"},
		"of a cluster that is not paused any more": {"the pause is over", template(func(t *infrav1.AzureMachineTemplate) {
			t.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
			t.Status.NodeInfo = &infrav1.NodeInfo{}
			setReady(t, "")
			t.Status.Conditions[0].Reason, t.Status.Conditions[0].Message = clusterv1.PausedReason, "Cluster spec.paused is set to true"
		}), []client.Object{own, azureCluster}, "True Ready"},
		"before its network": {"objects come in any order", template(nil), []client.Object{own}, "False AzureClusterNotFound"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := storetest.NewClient(t, append(test.others, test.template)...)
			r := &Reconciler{Client: store}
			key := client.ObjectKeyFromObject(test.template)
			before, after := &infrav1.AzureMachineTemplate{}, &infrav1.AzureMachineTemplate{}
			if err := store.Get(t.Context(), key, before); err != nil {
				t.Fatal(err)
			}
			if result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil || result.RequeueAfter > 0 {
				t.Errorf("%s: %v %v", test.reason, result, err)
			}
			if err := store.Get(t.Context(), key, after); err != nil {
				t.Fatal(err)
			}
			got := ""
			if ready := conditions.Get(after, infrav1.ReadyCondition); ready != nil {
				got = string(ready.Status) + " " + ready.Reason
			}
			if got != test.want || got != "" && !conditions.IsTrue(after, clusterv1.PausedCondition) && after.Status.ObservedGeneration != after.Generation {
				t.Errorf("%s: Ready is %q, want %q, of generation %d", test.reason, got, test.want, after.Status.ObservedGeneration)
			}
			if len(after.Status.Capacity) != len(before.Status.Capacity) {
				t.Errorf("%s: has capacity %v", test.reason, after.Status.Capacity)
			}
		})
	}
}

// TestRefusedStatus has the API server refuse the status of a template three times. The log and a metric show it, and no event.
func TestRefusedStatus(t *testing.T) {
	template := &infrav1.AzureMachineTemplate{ObjectMeta: storetest.NewMeta("t")}
	refused := errors.New("a webhook refuses it")
	store := interceptor.NewClient(storetest.NewClient(t, template), interceptor.Funcs{
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return refused
		}})
	recorder := events.NewFakeRecorder(10)
	r := &Reconciler{Client: store, eventLog: eventlog.NewRecorder(recorder)}
	for range 3 {
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(template)}); !errors.Is(err, refused) {
			t.Errorf("the error is %v", err)
		}
	}
	if len(recorder.Events) > 0 {
		t.Errorf("%d events, the first: %s", len(recorder.Events), <-recorder.Events)
	}
}

// TestNeverChecked lets an identity fail for a template that belonged to no Cluster before; it expects that the template is not Ready as
// last seen, because it was never seen.
func TestNeverChecked(t *testing.T) {
	missing := &identity.Error{Code: identity.SecretNotFound, Message: "no Secret"}
	for name, test := range map[string]struct {
		message string
		want    metav1.Condition
	}{
		"checked":     {"", metav1.Condition{Status: metav1.ConditionTrue, Reason: infrav1.LastSeenReason}},
		"not checked": {notChecked, metav1.Condition{Status: metav1.ConditionFalse, Reason: string(identity.SecretNotFound)}},
	} {
		t.Run(name, func(t *testing.T) {
			template := &infrav1.AzureMachineTemplate{ObjectMeta: storetest.NewMeta("t")}
			setReady(template, test.message)
			store := storetest.NewClient(t, template)
			r := &Reconciler{Client: store, eventLog: eventlog.NewRecorder(events.NewFakeRecorder(10))}
			if _, err := r.reportFailure(t.Context(), template, patch.TrackChanges(store, template), missing); err != nil {
				t.Fatal(err)
			}
			got := conditions.Get(template, infrav1.ReadyCondition)
			if got.Status != test.want.Status || got.Reason != test.want.Reason || strings.Contains(got.Message, notChecked) {
				t.Errorf("Ready is %s %s %q, want %s %s", got.Status, got.Reason, got.Message, test.want.Status, test.want.Reason)
			}
		})
	}
}
