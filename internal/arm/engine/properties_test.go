package engine_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/properties"
)

// engineProperties are the named properties that depend on the engine alone. Others need the objects of Kubernetes. ReadsAreBounded is not one
// of them, because tests repeat failing operations, each of which is polled closely near its expected end.
var engineProperties = []string{"DeleteHasProof", "OneWritePerResource", "WritesAreBounded", "RetryAfterIsKept", "RequestHasVersion"}

// history records the requests of the engine and the changes in Azure.
type history struct {
	policy.Transporter
	now func() time.Time

	mu       sync.Mutex
	recorded properties.History
}

func (h *history) add(step properties.Step) {
	step.At = h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recorded.Steps = append(h.recorded.Steps, step)
}

// addChanges records what the simulated Azure has changed.
func (h *history) addChanges(changes []server.Change) {
	for _, change := range changes {
		step := &properties.Resource{ID: strings.ToLower(change.ID)}
		if change.Body != nil {
			raw, err := json.Marshal(change.Body)
			if err != nil || json.Unmarshal(raw, &step.Body) != nil {
				panic("a resource of the simulator is no JSON object")
			}
		}
		h.add(properties.Step{Resource: step})
	}
}

// Do implements policy.Transporter.
func (h *history) Do(request *http.Request) (*http.Response, error) {
	h.mu.Lock()
	sent := len(h.recorded.Steps)
	h.mu.Unlock()
	step := &properties.Request{Sent: sent, Begun: sent, SentAt: h.now(), Method: request.Method, Path: strings.ToLower(request.URL.Path),
		Query: request.URL.RawQuery}
	response, err := h.Transporter.Do(request)
	if response != nil {
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // Without it, there is nothing to wait for.
		step.Status, step.RetryAfter = response.StatusCode, time.Duration(seconds)*time.Second
	}
	step.Lost = err != nil
	h.add(properties.Step{Request: step})
	return response, err
}

// check fails the test for each property that the history violates.
func (h *history) check(t *testing.T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, property := range properties.Always() {
		if !slices.Contains(engineProperties, property.Name) {
			continue
		}
		for _, violation := range property.Find(&h.recorded) {
			t.Error(violation)
		}
	}
}
