package watch_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/event"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// wakes are those whom a change wakes.
type wakes struct{ Own, Spec, Identity bool }

func TestOnlyRelevantUpdatesCount(t *testing.T) {
	condition := func(conditionType, reason, message string) func(*infrav1.AzureClusterIdentity) {
		return func(o *infrav1.AzureClusterIdentity) {
			conditions.Set(o, metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: reason, Message: message})
		}
	}
	for name, test := range map[string]struct {
		reason string
		change func(*infrav1.AzureClusterIdentity)
		want   wakes
	}{
		"nothing": {"an informer's resync is no change", func(*infrav1.AzureClusterIdentity) {}, wakes{}},
		"version": {"a write without changes wakes no object", func(o *infrav1.AzureClusterIdentity) { o.ResourceVersion = "8" }, wakes{}},
		"status":  {"the condition that a reconciliation sets leads to no reconciliation", condition("SomethingReady", "Failed", "no"), wakes{}},
		"spec":    {"a correction counts at once", func(o *infrav1.AzureClusterIdentity) { o.Generation++ }, wakes{true, true, true}},
		"label": {"labels name the owner", func(o *infrav1.AzureClusterIdentity) { o.Labels = map[string]string{"a": "b"} },
			wakes{true, true, true}},
		"annotation": {"annotations pause and ask for a retry",
			func(o *infrav1.AzureClusterIdentity) { o.Annotations = map[string]string{"a": "b"} }, wakes{true, true, true}},
		"deletion": {"an object that is being deleted has to go",
			func(o *infrav1.AzureClusterIdentity) { o.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, wakes{true, true, true}},
		"finalizer": {"only the object itself continues with its finalizer; the users of an identity concern no other object",
			func(o *infrav1.AzureClusterIdentity) { o.Finalizers = []string{"a/b"} }, wakes{Own: true}},
		"owner": {"Cluster API sets the owner that a reconciliation waits for",
			func(o *infrav1.AzureClusterIdentity) { o.OwnerReferences = []metav1.OwnerReference{{Name: "c"}} }, wakes{Own: true}},
		"paused": {"the reconciliation that stores the condition has seen the pause or its end",
			condition(clusterv1.PausedCondition, "NotPaused", ""), wakes{}},
		"ready": {"an object that waits for a credential continues", condition(infrav1.ReadyCondition, "SecretNotFound", "gone"),
			wakes{Identity: true}},
		"another identity": {"one of the same name that was made anew", func(o *infrav1.AzureClusterIdentity) { o.UID = "2" },
			wakes{true, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			before := &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: "7", Generation: 1}}
			condition(infrav1.ReadyCondition, "SecretKeyMissing", "no key")(before)
			after := before.DeepCopy()
			test.change(after)
			update := event.UpdateEvent{ObjectOld: before, ObjectNew: after}
			got := wakes{watch.OwnChanges().Update(update), watch.SpecChanges().Update(update), watch.IdentityChanges().Update(update)}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestInfrastructureChanges changes an AzureCluster; it expects that machines are woken by what they read of it.
func TestInfrastructureChanges(t *testing.T) {
	content := func(text string) func(*infrav1.AzureCluster) {
		return func(c *infrav1.AzureCluster) { c.Annotations[infrav1.AppliedAnnotation] = text }
	}
	for name, test := range map[string]struct {
		reason string
		change func(*infrav1.AzureCluster)
		want   bool
	}{
		"nothing": {"an informer's resync is no change", func(*infrav1.AzureCluster) {}, false},
		"spec":    {"machines are built from it", func(c *infrav1.AzureCluster) { c.Generation++ }, true},
		"failure domains": {"machines are spread over them",
			func(c *infrav1.AzureCluster) {
				c.Status.FailureDomains = infrav1.FailureDomains{Domains: []clusterv1.FailureDomain{{Name: "2"}}}
			}, true},
		"condition": {"no machine reads it",
			func(c *infrav1.AzureCluster) {
				conditions.Set(c, metav1.Condition{Type: "A", Status: metav1.ConditionTrue, Reason: "A"})
			}, false},
		"label":           {"it names the Cluster", func(c *infrav1.AzureCluster) { c.Labels = map[string]string{"a": "b"} }, true},
		"deletion":        {"machines see it", func(c *infrav1.AzureCluster) { c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, true},
		"annotation":      {"machines read none of other programs", func(c *infrav1.AzureCluster) { c.Annotations["a"] = "b" }, false},
		"recorded plan":   {"each changed plan is recorded", content(`{"applied":{"g/v":["/tags"]},"ownerID":"1","subscription":"s"}`), false},
		"owner ID":        {"it is in the tags of machines", content(`{"ownerID":"2","subscription":"s"}`), true},
		"subscription":    {"machines in another one are refused", content(`{"ownerID":"1","subscription":"t"}`), true},
		"another cluster": {"one of the same name that was made anew", func(c *infrav1.AzureCluster) { c.UID = "2" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 1,
				Annotations: map[string]string{infrav1.AppliedAnnotation: `{"ownerID":"1","subscription":"s"}`}}}
			after := before.DeepCopy()
			test.change(after)
			network := watch.InfrastructureChanges(func(c *infrav1.AzureCluster) any { return c.Status.FailureDomains })
			if got := network.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
				t.Errorf("%s: wakes machines: %t", test.reason, got)
			}
		})
	}
}

func TestCreationsAndDeletionsCount(t *testing.T) {
	identity := &infrav1.AzureClusterIdentity{}
	for name, predicate := range map[string]interface {
		Create(event.CreateEvent) bool
		Delete(event.DeleteEvent) bool
		Generic(event.GenericEvent) bool
	}{"own": watch.OwnChanges(), "spec": watch.SpecChanges(), "identity": watch.IdentityChanges()} {
		if !predicate.Create(event.CreateEvent{Object: identity}) || !predicate.Delete(event.DeleteEvent{Object: identity}) ||
			!predicate.Generic(event.GenericEvent{Object: identity}) {
			t.Errorf("%s: an object that comes or goes counts", name)
		}
	}
}
