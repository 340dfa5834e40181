package azurejson

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/storetest"
)

func TestWrite(t *testing.T) {
	owner := &infrav1.AzureMachineTemplate{ObjectMeta: storetest.Meta("t")}
	owner.UID = "template"
	cluster := storetest.Cluster("c1", "AzureCluster", "c1")
	secret := func(label, value string, owners ...metav1.OwnerReference) *corev1.Secret {
		object := &corev1.Secret{ObjectMeta: storetest.Meta("t-azure-json"), Data: map[string][]byte{"azure.json": []byte(value)}}
		object.Labels, object.OwnerReferences = map[string]string{"c1": label}, owners
		return object
	}
	ours := metav1.OwnerReference{APIVersion: infrav1.GroupVersion.String(), Kind: "AzureMachineTemplate", Name: "t", UID: "template", Controller: new(true), BlockOwnerDeletion: new(true)}
	tests := map[string]struct {
		reason string
		before *corev1.Secret
		want   string
		owned  bool
		writes bool
	}{
		"none":              {"machines boot with it", nil, "new", true, true},
		"ours, old":         {"a new credential must reach it", secret(owned, "old", ours), "new", true, true},
		"ours, current":     {"what is right is not written", secret(owned, "new", ours), "new", true, false},
		"ours, nobody owns": {"clusterctl move and backups lose owners", secret(owned, "new"), "new", true, true},
		"the user's":        {"a Secret without the label is left alone", secret("", "theirs"), "theirs", false, false},
		"another cluster's": {"the label's value says whether the cluster owns it", secret("shared", "theirs"), "theirs", false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{owner.DeepCopy()}
			if test.before != nil {
				objects = append(objects, test.before)
			}
			store := storetest.New(t, objects...)
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
			if err := r.write(t.Context(), cluster, owner, map[string][]byte{"azure.json": []byte("new")}); err != nil {
				t.Fatal(err)
			}
			stored, after := version()
			if got := string(stored.Data["azure.json"]); got != test.want || metav1.IsControlledBy(stored, owner) != test.owned || (before != after) != test.writes {
				t.Errorf("%s: has %q, owners %v, written %t", test.reason, got, stored.OwnerReferences, before != after)
			}
		})
	}
}

// TestWhatGetsNoSecret has objects that nobody boots from or that are not this controller's: the identity is not even opened,
// for which the reconciler has no gate here.
func TestWhatGetsNoSecret(t *testing.T) {
	template := func(change func(*infrav1.AzureMachineTemplate)) *infrav1.AzureMachineTemplate {
		object := &infrav1.AzureMachineTemplate{ObjectMeta: storetest.Owned("t", "c1")}
		if change != nil {
			change(object)
		}
		return object
	}
	machine := func(annotations, labels map[string]string) *infrav1.AzureMachine {
		object := &infrav1.AzureMachine{ObjectMeta: storetest.Meta("m")}
		object.Annotations, object.Labels = annotations, labels
		return object
	}
	ofCluster := map[string]string{clusterv1.ClusterNameLabel: "c1"}
	cloned := map[string]string{clusterv1.TemplateClonedFromGroupKindAnnotation: "AzureMachineTemplate.infrastructure.cluster.x-k8s.io"}
	azureCluster := &infrav1.AzureCluster{ObjectMeta: storetest.Meta("c1")}
	own := storetest.Cluster("c1", "AzureCluster", "c1")
	paused := own.DeepCopy()
	paused.Spec.Paused = new(true)
	tests := map[string]struct {
		reason string
		object client.Object
		others []client.Object
	}{
		"template without a cluster":         {"ClusterClass's own templates belong to none", template(func(t *infrav1.AzureMachineTemplate) { t.OwnerReferences = nil }), nil},
		"template of a cluster that is gone": {"there is nobody to ask for", template(nil), nil},
		"template of an AKS cluster":         {"AKS configures its nodes itself", template(nil), []client.Object{storetest.Cluster("c1", "AzureManagedCluster", "c1")}},
		"template of a paused cluster":       {"nothing is written", template(nil), []client.Object{paused, azureCluster}},
		"template before its network":        {"objects come in any order", template(nil), []client.Object{own}},
		"template that goes":                 {"its Secret goes with it", storetest.Deleting(template(nil)), []client.Object{own, azureCluster}},
		"machine of a template":              {"it boots with the template's", machine(cloned, ofCluster), []client.Object{own, azureCluster}},
		"machine without a cluster":          {"there is nobody to ask for", machine(nil, nil), nil},
		"machine of a cluster that is gone":  {"there is nobody to ask for", machine(nil, ofCluster), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := storetest.New(t, append(test.others, test.object)...)
			r := &Reconciler{Client: store}
			reconcile := r.reconcileTemplate
			if _, ok := test.object.(*infrav1.AzureMachine); ok {
				reconcile = r.reconcileMachine
			}
			if result, err := reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(test.object)}); err != nil || result.RequeueAfter > 0 {
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
