package reliability_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestRevokedNamespace takes the right to use an identity away from the namespace of a cluster of each kind, and gives it back. Meanwhile all
// objects that ask Azure show that, none of them as Ready, and Azure takes no write.
func TestRevokedNamespace(t *testing.T) {
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &failing{family: family, Scenario: virtual.New(t), warnings: map[string]map[string]int{}, problems: map[string]bool{}}
				w.EventRecorded = w.recordEvent
				w.StartManager(w.registerKinds)
				w.createObjects()
				w.playPools(25 * time.Minute)
				shown := w.readyConditions()
				if len(shown) < 3 {
					t.Fatalf("only %v have Ready", shown)
				}
				for name, ready := range shown {
					if ready.Status != metav1.ConditionTrue {
						t.Fatalf("%s is not Ready: %s, %s", name, ready.Reason, ready.Message)
					}
				}
				mark := w.Azure.MarkRequests()
				allow := func(namespaces *infrav1.AllowedNamespaces) {
					owned := &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}
					harness.ChangeObject(w.Stage, owned, func(i *infrav1.AzureClusterIdentity) { i.Spec.AllowedNamespaces = namespaces })
				}
				allow(&infrav1.AllowedNamespaces{NamespaceList: []string{"other"}})
				w.playPools(15 * time.Minute)
				for name, ready := range w.readyConditions() {
					// The AzureManagedCluster and the identity do not ask Azure, and the pool does for its AzureMachinePoolMachines.
					kind, _, _ := strings.Cut(name, " ")
					if asks := !slices.Contains([]string{"AzureManagedCluster", "AzureClusterIdentity", "AzureMachinePoolMachine"}, kind); asks &&
						(ready.Status != metav1.ConditionUnknown || ready.Reason != string(identity.NamespaceNotAllowedByIdentity)) {
						t.Errorf("%s shows %s, %s, %q", name, ready.Status, ready.Reason, ready.Message)
					}
				}
				if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
					t.Errorf("Azure took %v", writes)
				}
				allow(&infrav1.AllowedNamespaces{})
				w.playPools(15 * time.Minute)
				for name, ready := range w.readyConditions() {
					if ready.Status != metav1.ConditionTrue || ready.Reason != infrav1.ReadyReason {
						t.Errorf("%s shows %s, %s, %q after the right was given back", name, ready.Status, ready.Reason, ready.Message)
					}
				}
			})
		})
	}
}

// readyConditions returns Ready of all objects that have it, by kind and name.
func (w *failing) readyConditions() map[string]metav1.Condition {
	w.T.Helper()
	out := map[string]metav1.Condition{}
	for _, list := range []client.ObjectList{
		&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{}, &infrav1.AzureMachinePoolMachineList{},
		&infrav1.AzureClusterIdentityList{},
		&infrav1.AzureManagedClusterList{}, &infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{},
		&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{},
	} {
		if err := w.Kubernetes.List(w.T.Context(), list); err != nil {
			w.T.Fatal(err)
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			gvk, err := w.Kubernetes.GroupVersionKindFor(item)
			if err != nil {
				w.T.Fatal(err)
			}
			out[gvk.Kind+" "+item.(client.Object).GetName()] = harness.FindCondition(item.(harness.Conditioned),
				infrav1.ReadyCondition)
			return nil
		})
	}
	return out
}
