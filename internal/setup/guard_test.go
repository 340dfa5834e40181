package setup

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
)

func TestGuard(t *testing.T) {
	const sane, huge = `{"spec":{"spotVMOptions":{"maxPrice":"0.25"}}}`,
		`{"spec":{"spotVMOptions":{"maxPrice":"12345678901234567890123e999999999"}}}`
	tests := map[string]struct {
		reason, object, old string
		asked, allowed      bool
	}{
		"made":       {"the webhooks decide", sane, "null", true, false},
		"made, huge": {"to read it takes all memory", huge, "null", false, false},
		"changed":    {"the new one counts", huge, sane, false, false},
		"corrected":  {"it was stored without a check", sane, huge, false, true},
		"deleted":    {"as it is corrected", "null", huge, false, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			asked := false
			hook := newGuarded(nil).limitRequests(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
			body := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","object":` + test.object + `,"oldObject":` + test.old + `}}`
			recorder := httptest.NewRecorder()
			hook.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body)))
			if asked != test.asked {
				t.Fatalf("%s: the webhook was asked: %t", test.reason, asked)
			}
			if test.asked {
				return
			}
			var answer admissionv1.AdmissionReview
			if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil || answer.Kind != "AdmissionReview" || answer.Response == nil ||
				answer.Response.UID != "u" {
				t.Fatalf("%s: %v %s", test.reason, err, recorder.Body)
			}
			if answer.Response.Allowed != test.allowed || !test.allowed && !strings.Contains(answer.Response.Result.Message, "maxPrice") {
				t.Errorf("%s: %s", test.reason, recorder.Body)
			}
		})
	}
}
