package proof

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// ReadOnly is a transport that sends nothing but what reads.
type ReadOnly struct {
	// Next sends what reads.
	Next policy.Transporter

	mu      sync.Mutex
	refused []string
}

// Do implements policy.Transporter.
func (r *ReadOnly) Do(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet || request.Method == http.MethodHead {
		return r.Next.Do(request)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = append(r.refused, request.Method+" "+request.URL.Path)
	return nil, fmt.Errorf("%s is not sent: this only looks", request.Method)
}

// Refused are the requests that were not sent.
func (r *ReadOnly) Refused() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.refused)
}
