package azureclusteridentity

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
)

func TestInUseMessageNamesUsers(t *testing.T) {
	users := map[string][]string{}
	key := func(name string) string { return identity.FinalizerKey(infrav1.ClusterFinalizer, "ns", name) }
	for _, name := range []string{"c1", "c2"} {
		addFinalizerNames(users, infrav1.ClusterFinalizer, "AzureCluster",
			&infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
	}
	const way = ". To unblock the deletion, delete their Clusters, or refer to another identity in spec.identityRef"
	stale := func(left string) string {
		return "waits for users that do not exist or that this manager cannot see. Once nothing uses it, run: " +
			"kubectl patch -n ns azureclusteridentity/id --type=merge -p '{\"metadata\":{\"finalizers\":[" + left + "]}}'"
	}
	for _, of := range access.UsersOfAllKinds(nil) {
		addFinalizerNames(users, of.Finalizer, of.Kind, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "of", Name: "each-kind"}})
	}
	keyOf := func(prefix string) string { return identity.FinalizerKey(prefix, "of", "each-kind") }
	tests := map[string]struct {
		reason     string
		finalizers []string
		want       string
	}{
		"unused": {"there is nothing to report", nil, ""},
		"others": {"the condition is not about finalizers of other programs", []string{"others.example.com/a"}, ""},
		"users": {"in the order of their names", []string{key("c2"), key("c1")},
			"waits for its users to be gone: AzureCluster ns/c1, AzureCluster ns/c2" + way},
		"all kinds": {"an identity of any kind of user", []string{keyOf(infrav1.ClusterFinalizer), keyOf(infrav1.ManagedControlPlaneFinalizer),
			keyOf(infrav1.ASOManagedFinalizer)}, "waits for its users to be gone: AzureASOManagedCluster of/each-kind, AzureCluster of/each-kind, " +
			"AzureManagedControlPlane of/each-kind" + way},
		"old form": {"a cluster may have both forms", []string{identity.LegacyFinalizerKey(infrav1.ClusterFinalizer, "ns", "c1"), key("c1")},
			"waits for its users to be gone: AzureCluster ns/c1" + way},
		"unknown": {"a cluster that is gone does not release it", []string{key("gone")}, stale("")},
		"both": {"finalizers of existing users stay", []string{key("c1"), key("gone"), "others.example.com/a"},
			"waits for its users to be gone: AzureCluster ns/c1" + way + "; " + stale(`"`+key("c1")+`","others.example.com/a"`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			condition, ok := inUseCondition(&infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "id",
				Finalizers: test.finalizers}}, users)
			if condition.Message != test.want || ok != (test.want != "") {
				t.Errorf("%s:\n got %s\nwant %s", test.reason, condition.Message, test.want)
			}
		})
	}
}
