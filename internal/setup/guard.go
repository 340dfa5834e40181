package setup

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
)

// guarded is a webhook server that answers for its webhooks where to read the object would take all memory.
type guarded struct{ webhook.Server }

// Register implements webhook.Server.
func (g guarded) Register(path string, hook http.Handler) { g.Server.Register(path, guard(hook)) }

// largest is what the API server sends at most: an object, and what it was, of 3 MiB each.
const largest = 7 << 20

// guard refuses objects with quantities that cannot be read.
func guard(hook http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
		if err != nil {
			http.Error(w, "read the request: "+err.Error(), http.StatusBadRequest)
			return
		}
		if maxima.Quantity(body) == "" {
			r.Body = io.NopCloser(bytes.NewReader(body))
			hook.ServeHTTP(w, r)
			return
		}
		// The objects stay as they are.
		var review admissionv1.AdmissionReview
		if err := json.Unmarshal(body, &review); err != nil || review.Request == nil {
			http.Error(w, "this is no admission review", http.StatusBadRequest)
			return
		}
		answer := admissionv1.AdmissionReview{TypeMeta: review.TypeMeta, Response: &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}}
		// Who corrects an object, or deletes it, may.
		if name := maxima.Quantity(review.Request.Object.Raw); name != "" {
			answer.Response.Allowed = false
			answer.Response.Result = &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
				Message: name + ": Invalid value: a quantity has at most 32 digits, and an exponent of at most 2",
			}
		}
		w.Header().Set("Content-Type", "application/json")
		// A client that has gone gets no answer.
		_ = json.NewEncoder(w).Encode(answer)
	})
}
