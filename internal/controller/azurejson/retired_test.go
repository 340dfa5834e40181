package azurejson

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// newTemplate returns a template of a topology, as Cluster API labels it.
func newTemplate(name, deployment string, age time.Duration) *infrav1.AzureMachineTemplate {
	template := &infrav1.AzureMachineTemplate{ObjectMeta: storetest.NewMeta(name)}
	template.UID, template.CreationTimestamp = types.UID(name), metav1.NewTime(time.Now().Add(-age))
	template.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.ClusterTopologyOwnedLabel: ""}
	if deployment != "" {
		template.Labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel] = deployment
	}
	return template
}

// TestOwnersOfTopologySecrets checks which Secrets stay when their template is deleted, because the Cluster owns them, too.
func TestOwnersOfTopologySecrets(t *testing.T) {
	cluster := storetest.NewCluster("c1", "AzureCluster", "c1")
	cluster.UID = "cluster"
	byHand := newTemplate("by-hand", "", 0)
	byHand.Labels = nil
	tests := map[string]struct {
		reason string
		owner  client.Object
		want   []string
	}{
		"control plane": {"Cluster API deletes its template while a machine still needs the Secret", newTemplate("cp", "", 0), []string{"AzureMachineTemplate", "Cluster"}},
		"workers":       {"Cluster API keeps the template until no machine uses it", newTemplate("md", "md-0", 0), []string{"AzureMachineTemplate"}},
		"no topology":   {"users delete templates when they want to", byHand, []string{"AzureMachineTemplate"}},
		"pool":          {"a pool is not replaced", &infrav1.AzureMachinePool{ObjectMeta: newTemplate("mp", "", 0).ObjectMeta}, []string{"AzureMachinePool"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := storetest.NewClient(t)
			r := &Reconciler{Client: store}
			for range 2 {
				if err := r.writeSecret(t.Context(), cluster, test.owner, nil); err != nil {
					t.Fatal(err)
				}
			}
			stored := &corev1.Secret{}
			if err := store.Get(t.Context(), secretKey(client.ObjectKeyFromObject(test.owner)), stored); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range stored.OwnerReferences {
				got = append(got, o.Kind)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: owners (-want +got):\n%s", test.reason, diff)
			}
			if controller := metav1.GetControllerOf(stored); controller == nil || controller.Kind != test.want[0] {
				t.Errorf("the controller is %v", controller)
			}
		})
	}
}

// TestDeleteRetired deletes the Secrets of former templates of a control plane an hour after their successor was created, and no other.
func TestDeleteRetired(t *testing.T) {
	cluster := storetest.NewCluster("c1", "AzureCluster", "c1")
	cluster.UID = "cluster"
	secret := func(name string, label string, owner types.UID) *corev1.Secret {
		object := &corev1.Secret{ObjectMeta: storetest.NewMeta(name)}
		object.UID, object.Labels = types.UID(name), map[string]string{"c1": label}
		object.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: owner}}
		return object
	}
	tests := map[string]struct {
		reason  string
		current *infrav1.AzureMachineTemplate
		again   bool
		want    []string
	}{
		"new":     {"a machine may still read the former Secret", newTemplate("now", "", time.Minute), true, []string{"theirs", "label", "former", "now", "other", "text"}},
		"old":     {"no machine needs it any more", newTemplate("now", "", 2*time.Hour), false, []string{"theirs", "label", "now", "other", "text"}},
		"workers": {"templates of workers have no such Secrets", newTemplate("now", "md-0", 2*time.Hour), false, []string{"theirs", "label", "former", "now", "other", "text"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			other := newTemplate("other", "", 3*time.Hour) // It exists, so it may be in use.
			store := storetest.NewClient(t, test.current, other, secret("former-azure-json", ownedLabelValue, "cluster"),
				secret("now-azure-json", ownedLabelValue, "cluster"), secret("other-azure-json", ownedLabelValue, "cluster"),
				secret("theirs-azure-json", ownedLabelValue, "another cluster"), secret("label-azure-json", "", "cluster"), secret("text", ownedLabelValue, "cluster"))
			r := &Reconciler{Client: store, Secrets: store, Now: time.Now}
			again, err := r.deleteRetired(t.Context(), cluster, test.current)
			if err != nil || (again > 0) != test.again || again > retiredFor {
				t.Errorf("%s: again after %s, %v", test.reason, again, err)
			}
			list := &corev1.SecretList{}
			if err := store.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, s := range list.Items {
				got[strings.TrimSuffix(s.Name, nameSuffix)] = true
			}
			want := map[string]bool{}
			for _, s := range test.want {
				want[s] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: Secrets (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
