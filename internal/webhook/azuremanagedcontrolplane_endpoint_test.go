package webhook

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestFillEndpoint(t *testing.T) {
	placeholder := infrav1.APIEndpoint{Host: "placeholder", Port: 443}
	aks := infrav1.APIEndpoint{Host: "c1.hcp.eastus.azmk8s.io", Port: 443}
	fromAKS := map[string]string{infrav1.EndpointAnnotation: "c1.hcp.eastus.azmk8s.io:443"}
	for name, tc := range map[string]struct {
		reason      string
		operation   admissionv1.Operation
		stored      infrav1.APIEndpoint
		annotations map[string]string
		given, want infrav1.APIEndpoint
	}{
		"made with one": {"charts give a placeholder", admissionv1.Create, infrav1.APIEndpoint{}, nil, placeholder, infrav1.APIEndpoint{}},
		"moved here":    {"the annotation comes along", admissionv1.Create, infrav1.APIEndpoint{}, fromAKS, aks, aks},
		"placeholder moved": {"the annotation is that of another endpoint", admissionv1.Create, infrav1.APIEndpoint{}, fromAKS, placeholder,
			infrav1.APIEndpoint{}},
		"applied early":       {"AKS has no endpoint yet", admissionv1.Update, infrav1.APIEndpoint{}, nil, placeholder, infrav1.APIEndpoint{}},
		"applied again":       {"the endpoint of AKS stays", admissionv1.Update, aks, fromAKS, placeholder, aks},
		"left out":            {"the endpoint of AKS stays", admissionv1.Update, aks, fromAKS, infrav1.APIEndpoint{}, aks},
		"of a former manager": {"the established provider writes no annotation", admissionv1.Update, aks, nil, placeholder, aks},
		"written by us":       {"the annotation is written with the endpoint", admissionv1.Update, infrav1.APIEndpoint{}, fromAKS, aks, aks},
		"written by its manager": {"others who manage the object know where it is", admissionv1.Update, infrav1.APIEndpoint{},
			map[string]string{clusterv1.ManagedByAnnotation: "others"},
			placeholder, placeholder},
	} {
		t.Run(name, func(t *testing.T) {
			old := &infrav1.AzureManagedControlPlane{}
			old.Spec.ControlPlaneEndpoint = tc.stored
			request := admissionv1.AdmissionRequest{Operation: tc.operation}
			if tc.operation == admissionv1.Update {
				request.OldObject = runtime.RawExtension{Raw: []byte(mustJSON(t, old))}
			}
			c := &infrav1.AzureManagedControlPlane{}
			c.Annotations, c.Spec.ControlPlaneEndpoint = tc.annotations, tc.given
			fillEndpoint(admission.NewContextWithRequest(t.Context(), admission.Request{AdmissionRequest: request}), c)
			if got := c.Spec.ControlPlaneEndpoint; got != tc.want {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
