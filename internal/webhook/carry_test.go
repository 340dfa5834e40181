package webhook

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestCarry(t *testing.T) {
	const former = "sigs.k8s.io/cluster-api-provider-azure-owner-id"
	today := map[string]string{infrav1.AppliedAnnotation: "a", infrav1.EndpointAnnotation: "e", "team": "a"}
	earlier := map[string]string{former: "o", infrav1.EndpointAnnotation: "e"}
	tests := map[string]struct {
		reason    string
		operation admissionv1.Operation
		stored    map[string]string
		sent      map[string]string
		want      map[string]string
	}{
		"left out": {"a manifest has none of them", admissionv1.Update, today, nil,
			map[string]string{infrav1.AppliedAnnotation: "a", infrav1.EndpointAnnotation: "e"}},
		"emptied": {"an empty value removes the stored one", admissionv1.Update, today,
			map[string]string{infrav1.AppliedAnnotation: "", "x": "y"},
			map[string]string{infrav1.AppliedAnnotation: "", infrav1.EndpointAnnotation: "e", "x": "y"}},
		"new": {"a new object has no old one", admissionv1.Create, today, map[string]string{"x": "y"},
			map[string]string{"x": "y"}},
		"of v2.0.0-alpha, left out": {"the object is not upgraded yet", admissionv1.Update, earlier, nil, earlier},
		"of v2.0.0-alpha, upgraded": {"the first write of the provider removes them", admissionv1.Update, earlier,
			map[string]string{infrav1.AppliedAnnotation: "a"}, map[string]string{infrav1.AppliedAnnotation: "a", infrav1.EndpointAnnotation: "e"}},
		"of v2.0.0-alpha and of now": {"a user applies a manifest in between: neither is lost", admissionv1.Update,
			map[string]string{former: "o", infrav1.AppliedAnnotation: "a"}, nil, map[string]string{former: "o", infrav1.AppliedAnnotation: "a"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			old := &infrav1.AzureManagedCluster{}
			old.Annotations = test.stored
			raw, err := json.Marshal(old)
			if err != nil {
				t.Fatal(err)
			}
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: test.operation,
				OldObject: runtime.RawExtension{Raw: raw}}}
			obj := &infrav1.AzureManagedCluster{}
			obj.Annotations = test.sent
			carryMetadata(admission.NewContextWithRequest(context.Background(), request), obj)
			if diff := cmp.Diff(test.want, obj.Annotations); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestReplace replaces a stored object of each kind by its manifest, which has neither the label with the name of the Cluster nor the values that
// are filled in. The update is admitted, and the label stays.
func TestReplace(t *testing.T) {
	for _, k := range listAdmitted(t) {
		t.Run(k.plural, func(t *testing.T) {
			labels, err := k.replace(t)
			if err != nil {
				t.Errorf("the replacement is refused: %v", err)
			}
			if labels != nil && labels[clusterv1.ClusterNameLabel] != "c1" {
				t.Errorf("the replacement has the labels %v", labels)
			}
		})
	}
}
