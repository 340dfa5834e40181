package webhook

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestCarry(t *testing.T) {
	stored := map[string]string{infrav1.InventoryAnnotation: "i", infrav1.OwnerIDAnnotation: "o", "team": "a"}
	tests := map[string]struct {
		reason    string
		operation admissionv1.Operation
		sent      map[string]string
		want      map[string]string
	}{
		"left out": {"a manifest has none of ours", admissionv1.Update, nil, map[string]string{infrav1.InventoryAnnotation: "i", infrav1.OwnerIDAnnotation: "o"}},
		"said":     {"whoever says something means it", admissionv1.Update, map[string]string{infrav1.InventoryAnnotation: "", "x": "y"}, map[string]string{infrav1.InventoryAnnotation: "", infrav1.OwnerIDAnnotation: "o", "x": "y"}},
		"new":      {"a new object has no old one", admissionv1.Create, map[string]string{"x": "y"}, map[string]string{"x": "y"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			old := &infrav1.AzureManagedCluster{}
			old.Annotations = stored
			raw, err := json.Marshal(old)
			if err != nil {
				t.Fatal(err)
			}
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: test.operation, OldObject: runtime.RawExtension{Raw: raw}}}
			obj := &infrav1.AzureManagedCluster{}
			obj.Annotations = test.sent
			carryAnnotations(admission.NewContextWithRequest(context.Background(), request), obj)
			if diff := cmp.Diff(test.want, obj.Annotations); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
