package azurejson

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

func TestWriteSecret(t *testing.T) {
	owner := &infrav1.AzureMachineTemplate{ObjectMeta: storetest.NewMeta("t")}
	owner.UID = "template"
	cluster := storetest.NewCluster("c1", "AzureCluster", "c1")
	secret := func(label, value string, owners ...metav1.OwnerReference) *corev1.Secret {
		object := &corev1.Secret{ObjectMeta: storetest.NewMeta("t-azure-json"), Data: map[string][]byte{"azure.json": []byte(value)}}
		object.Labels, object.OwnerReferences = map[string]string{"c1": label}, owners
		return object
	}
	ours := metav1.OwnerReference{APIVersion: infrav1.GroupVersion.String(), Kind: "AzureMachineTemplate", Name: "t", UID: "template",
		Controller: new(true), BlockOwnerDeletion: new(true)}
	former := ours
	former.APIVersion = infrav1.GroupVersion.Group + "/v1alpha1"
	tests := map[string]struct {
		reason string
		before *corev1.Secret
		want   string
		owned  bool
		writes bool
	}{
		"none":                {"machines boot with it", nil, "new", true, true},
		"ours, old":           {"a new credential must reach it", secret(ownedLabelValue, "old", ours), "new", true, true},
		"ours, current":       {"a correct Secret is not written", secret(ownedLabelValue, "new", ours), "new", true, false},
		"ours, old version":   {"an owner reference names the API version of today", secret(ownedLabelValue, "new", former), "new", true, true},
		"ours, without owner": {"clusterctl move and backups lose owners", secret(ownedLabelValue, "new"), "new", true, true},
		"the user's":          {"a Secret without the label is left alone", secret("", "theirs"), "theirs", false, false},
		"another cluster's":   {"the value of the label decides whether the cluster owns it", secret("shared", "theirs"), "theirs", false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{owner.DeepCopy()}
			if test.before != nil {
				objects = append(objects, test.before)
			}
			store := storetest.NewClient(t, objects...)
			key := client.ObjectKey{Namespace: storetest.Namespace, Name: "t-azure-json"}
			version := func() (*corev1.Secret, string) {
				stored := &corev1.Secret{}
				if err := store.Get(t.Context(), key, stored); client.IgnoreNotFound(err) != nil {
					t.Fatal(err)
				}
				return stored, stored.ResourceVersion
			}
			_, before := version()
			r := &Reconciler{Client: store}
			if err := r.writeSecret(t.Context(), cluster, owner, map[string][]byte{"azure.json": []byte("new")}); err != nil {
				t.Fatal(err)
			}
			stored, after := version()
			if got := string(stored.Data["azure.json"]); got != test.want || metav1.IsControlledBy(stored, owner) != test.owned ||
				(before != after) != test.writes {
				t.Errorf("%s: has %q, owners %v, written %t", test.reason, got, stored.OwnerReferences, before != after)
			}
			if diff := cmp.Diff([]metav1.OwnerReference{ours}, stored.OwnerReferences); test.owned && diff != "" {
				t.Errorf("%s: owners (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestWatchLabelIsInherited checks that the Secret has the watch label of its owner and so belongs to the same manager, also if the owner
// got the label later.
func TestWatchLabelIsInherited(t *testing.T) {
	owner := &infrav1.AzureMachineTemplate{ObjectMeta: storetest.NewMeta("t")}
	owner.UID = "template"
	cluster := storetest.NewCluster("c1", "AzureCluster", "c1")
	r := &Reconciler{Client: storetest.NewClient(t, owner)}
	data := map[string][]byte{"azure.json": []byte("new")}
	for _, want := range []string{"", "red", "blue"} {
		if want != "" {
			owner.Labels = map[string]string{clusterv1.WatchLabel: want, "team": "a"}
		}
		if err := r.writeSecret(t.Context(), cluster, owner, data); err != nil {
			t.Fatal(err)
		}
		stored := &corev1.Secret{}
		if err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: storetest.Namespace, Name: "t-azure-json"}, stored); err != nil {
			t.Fatal(err)
		}
		if stored.Labels[clusterv1.WatchLabel] != want || stored.Labels["team"] != "" || stored.Labels["c1"] != ownedLabelValue {
			t.Errorf("the Secret has the labels %v, want the watch label %q", stored.Labels, want)
		}
	}
}

// TestUnchangedSecretIsReadOnce counts how often a Secret is read that is watched.
func TestUnchangedSecretIsReadOnce(t *testing.T) {
	owner := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
	owner.UID = "machine"
	cluster := storetest.NewCluster("c1", "AzureCluster", "c1")
	key := client.ObjectKey{Namespace: storetest.Namespace, Name: "m-azure-json"}
	store, reads := storetest.NewClient(t, owner.DeepCopy()), 0
	r := &Reconciler{Secrets: store, Client: interceptor.NewClient(store, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			reads++
			return c.Get(ctx, key, object, options...)
		},
	})}
	steps := []struct {
		reason string
		do     func(stored *corev1.Secret) error
		data   string
		reads  int
	}{
		{"an absent Secret is read once", nil, "a", 1},
		{"another credential is compared with the stored one", nil, "b", 1},
		{"a change by others is repaired, and then known", func(stored *corev1.Secret) error {
			stored.Data["azure.json"] = []byte("theirs")
			return store.Update(t.Context(), stored)
		}, "b", 1},
		{"a Secret that others deleted is created again", func(stored *corev1.Secret) error { return store.Delete(t.Context(), stored) }, "b", 1},
		{"nothing has changed", nil, "b", 0},
	}
	for _, step := range steps {
		stored := &corev1.Secret{}
		if step.do != nil {
			if err := store.Get(t.Context(), key, stored); err != nil {
				t.Fatal(err)
			}
			if err := step.do(stored); err != nil {
				t.Fatal(err)
			}
		}
		reads = 0
		for range 3 {
			if err := r.writeSecret(t.Context(), cluster, owner, map[string][]byte{"azure.json": []byte(step.data)}); err != nil {
				t.Fatal(err)
			}
		}
		stored = &corev1.Secret{}
		if err := store.Get(t.Context(), key, stored); err != nil || string(stored.Data["azure.json"]) != step.data || reads != step.reads {
			t.Errorf("%s: has %q after %d reads in three reconciliations, want %d, %v", step.reason, stored.Data["azure.json"], reads, step.reads,
				err)
		}
	}
	r.eventLog, r.WatchFilter = eventlog.NewRecorder(nil), "another"
	if ok, err := r.readOwner(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(owner)}, owner); ok || err != nil ||
		len(r.verified.versions) > 0 {
		t.Errorf("the machine of another manager: %t, %v, remembered %v", ok, err, r.verified.versions)
	}
	r.WatchFilter = ""
	if err := r.writeSecret(t.Context(), cluster, owner, map[string][]byte{"azure.json": []byte("b")}); err != nil || len(r.verified.versions) == 0 {
		t.Fatalf("the machine is back: remembered %v, %v", r.verified.versions, err)
	}
	if err := store.Delete(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.readOwner(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(owner)}, owner); ok || err != nil ||
		len(r.verified.versions) > 0 {
		t.Errorf("the machine that is gone: %t, %v, remembered %v", ok, err, r.verified.versions)
	}
}

// TestObjectsWithoutSecret reconciles templates and machines that need no Secret or belong to another controller. The reconciler of the
// test has no gate, so opening an identity would fail.
func TestObjectsWithoutSecret(t *testing.T) {
	template := func(change func(*infrav1.AzureMachineTemplate)) *infrav1.AzureMachineTemplate {
		object := &infrav1.AzureMachineTemplate{ObjectMeta: storetest.NewOwnedMeta("t", "c1")}
		if change != nil {
			change(object)
		}
		return object
	}
	machine := func(annotations, labels map[string]string) *infrav1.AzureMachine {
		object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
		object.Annotations, object.Labels = annotations, labels
		return object
	}
	ofCluster := map[string]string{clusterv1.ClusterNameLabel: "c1"}
	cloned := map[string]string{clusterv1.TemplateClonedFromGroupKindAnnotation: "AzureMachineTemplate.infrastructure.cluster.x-k8s.io"}
	azureCluster := &infrav1.AzureCluster{ObjectMeta: storetest.NewMeta("c1")}
	own := storetest.NewCluster("c1", "AzureCluster", "c1")
	paused := own.DeepCopy()
	paused.Spec.Paused = new(true)
	tests := map[string]struct {
		reason string
		object client.Object
		others []client.Object
	}{
		"template without a cluster": {"ClusterClass's own templates belong to none",
			template(func(t *infrav1.AzureMachineTemplate) { t.OwnerReferences = nil }), nil},
		"template of a cluster that is gone": {"no cluster and so no identity is known", template(nil), nil},
		"template of an AKS cluster": {"AKS configures its nodes itself", template(nil),
			[]client.Object{storetest.NewCluster("c1", "AzureManagedCluster", "c1")}},
		"template of a paused cluster": {"nothing is written", template(nil), []client.Object{paused, azureCluster}},
		"template before its network":  {"objects come in any order", template(nil), []client.Object{own}},
		"template that goes": {"its Secret goes with it", storetest.MarkDeleting(template(nil)),
			[]client.Object{own, azureCluster}},
		"machine of a template":             {"it boots with the template's", machine(cloned, ofCluster), []client.Object{own, azureCluster}},
		"machine without a cluster":         {"no cluster and so no identity is known", machine(nil, nil), nil},
		"machine of a cluster that is gone": {"no cluster and so no identity is known", machine(nil, ofCluster), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := storetest.NewClient(t, append(test.others, test.object)...)
			r := &Reconciler{Client: store}
			reconcile := r.reconcileTemplate
			if _, ok := test.object.(*infrav1.AzureMachine); ok {
				reconcile = r.reconcileMachine
			}
			if result, err := reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(test.object)}); err != nil ||
				result.RequeueAfter > 0 {
				t.Errorf("%s: %v %v", test.reason, result, err)
			}
			secrets := &corev1.SecretList{}
			if err := store.List(t.Context(), secrets); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(0, len(secrets.Items)); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}
