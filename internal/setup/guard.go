package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
)

// Limits of admission requests. The API server calls mutating webhooks before it checks the maxima of a schema, and any pod that
// reaches the port can send a request.
const (
	// maxReview is the largest size of a request in bytes: an object of 3 MiB, the API server's limit for a request body, and a
	// stored one of 1.5 MiB, etcd's limit.
	maxReview = 5 << 20
	// maxReading is the largest number of request bytes in memory at once.
	maxReading = 2 * maxReview
	// readReview is the time limit for a client to send a request.
	readReview = 5 * time.Second
	// Requests up to these sizes are decoded concurrently without limit, larger ones one at a time.
	smallReview  = 64 << 10 // bytes
	smallObjects = 1000
)

// guarded is a webhook server that limits the requests that its webhooks decode.
type guarded struct {
	webhook.Server
	reading  *semaphore.Weighted // bytes
	decoding *semaphore.Weighted // large requests
}

func newGuarded(server webhook.Server) guarded {
	return guarded{Server: server, reading: semaphore.NewWeighted(maxReading), decoding: semaphore.NewWeighted(1)}
}

// Register implements webhook.Server.
func (g guarded) Register(path string, hook http.Handler) {
	g.Server.Register(path, g.limitRequests(hook))
}

// limitRequests refuses requests whose objects would need too much memory or time for decoding and defaulting. It handles one large request
// at a time.
func (g guarded) limitRequests(hook http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, status, err := g.readBody(w, r)
		if err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		size := maxima.MeasureJSON(body)
		if len(body) > smallReview || size.Objects > smallObjects {
			if err := g.decoding.Acquire(r.Context(), 1); err != nil {
				http.Error(w, "too many large requests; try again", http.StatusTooManyRequests)
				return
			}
			defer g.decoding.Release(1)
		}
		suspicious := maxima.FindHugeQuantity(body) != "" || size.ExcessReason() != ""
		if !suspicious && len(body) <= smallReview && size.Objects <= smallObjects {
			serveBody(hook, w, r, body)
			return
		}
		var review admissionv1.AdmissionReview // Its objects stay JSON.
		if err := json.Unmarshal(body, &review); err != nil || review.Request == nil {
			http.Error(w, "the body is not an admission review", http.StatusBadRequest)
			return
		}
		request := review.Request
		answer := admissionv1.AdmissionReview{TypeMeta: review.TypeMeta,
			Response: &admissionv1.AdmissionResponse{UID: request.UID, Allowed: true}}
		message := excessMessage(request.Object.Raw)
		switch {
		case message != "":
			answer.Response.Allowed = false
			answer.Response.Result = &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: message,
			}
		case suspicious || exceedsMaxima(request.Kind.Kind, request.Object.Raw) || exceedsMaxima(request.Kind.Kind, request.OldObject.Raw):
			// The request is allowed: the API server refuses the object by its schema, with the field's name. Updates that correct
			// a stored object, and deletions, must pass.
		default:
			serveBody(hook, w, r, body)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// Writing fails only if the client has gone.
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// serveBody passes a request whose body was read to a webhook.
func serveBody(hook http.Handler, w http.ResponseWriter, r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	hook.ServeHTTP(w, r)
}

// exceedsMaxima returns true if an object exceeds a maximum of the schema of its kind.
func exceedsMaxima(kind string, object []byte) bool {
	var decoded any
	return json.Unmarshal(object, &decoded) == nil && len(maxima.FindExceeded(kind, decoded)) > 0
}

// reviewSize returns the size of a request in bytes, or the largest size if the client does not send it.
func reviewSize(r *http.Request) int64 {
	if r.ContentLength < 0 || r.ContentLength > maxReview {
		return maxReview
	}
	return r.ContentLength
}

// readBody reads a request within the limits of size and time. status is the HTTP status of the response if err is not nil.
func (g guarded) readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	size := reviewSize(r)
	if err := g.reading.Acquire(r.Context(), size); err != nil {
		return nil, http.StatusTooManyRequests, errors.New("too many large requests; try again")
	}
	defer g.reading.Release(size)
	// Response writers of tests do not support deadlines.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readReview))
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxReview))
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the request is larger than %d bytes; split the object", int64(maxReview))
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("read the request: %w", err)
	}
	return body, http.StatusOK, nil
}

// excessMessage returns the error message for an object that must not be decoded, or "".
func excessMessage(object []byte) string {
	if message := maxima.MeasureJSON(object).ExcessReason(); message != "" {
		return message
	}
	if name := maxima.FindHugeQuantity(object); name != "" {
		return name + ": Invalid value: a quantity has at most 32 digits, and an exponent of at most 2"
	}
	return ""
}
