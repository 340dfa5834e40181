package patch_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// TestLongMessages stores conditions of each kind that are longer than the API server takes; it expects that the beginning is stored, and
// that the second write of the same has nothing to write.
func TestLongMessages(t *testing.T) {
	kinds := 0
	scheme := storetest.NewClient(t).Scheme()
	for name := range scheme.KnownTypes(infrav1.GroupVersion) {
		made, err := scheme.New(infrav1.GroupVersion.WithKind(name))
		if err != nil {
			t.Fatal(err)
		}
		object, ok := made.(interface {
			client.Object
			conditions.Setter
		})
		if !ok {
			continue
		}
		kinds++
		t.Run(name, func(t *testing.T) {
			object.SetNamespace(storetest.Namespace)
			object.SetName("o")
			store := storetest.NewClient(t, object)
			for range 2 {
				changes := patch.TrackChanges(store, object)
				for _, conditionType := range []string{infrav1.ReadyCondition, "OtherReady"} {
					conditions.Set(object, metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: "Failed",
						Message: strings.Repeat("ä✔", 100_000)})
				}
				if err := changes.Finish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			conditions.Delete(object, infrav1.StalledCondition) // It has the beginning of the message of Ready.
			for _, condition := range object.GetConditions() {
				if len(condition.Message) > text.MaxCondition || len(condition.Message) < text.MaxCondition-10 ||
					!strings.HasSuffix(condition.Message, "...") {
					t.Errorf("%s has a message of %d bytes", condition.Type, len(condition.Message))
				}
			}
			if len(object.GetConditions()) != 2 {
				t.Errorf("%d conditions are stored", len(object.GetConditions()))
			}
		})
	}
	if kinds < 11 {
		t.Errorf("only %d kinds have conditions", kinds)
	}
}
