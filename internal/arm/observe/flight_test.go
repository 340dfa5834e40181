package observe_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// roundTripper is a function as the transport of a client.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) Do(request *http.Request) (*http.Response, error) { return f(request) }

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

// TestOutageBlocksReadersOnce lets Azure answer no request about a group and its networks. All readers end within the timeouts of the few
// requests that one reader sends, and not one reader after the other.
func TestOutageBlocksReadersOnce(t *testing.T) {
	network := func(name string) arm.ID { return arm.NewID("s", "rg", types.VirtualNetwork, name) }
	var many []arm.ID
	for _, name := range strings.Split("abcdefghijklmnopqrst", "") {
		many = append(many, network(name))
	}
	for name, test := range map[string]struct {
		reason  string
		readers int
		read    []arm.ID
		// wantTimeouts and wantRequests bound the duration and the requests.
		wantTimeouts int
		wantRequests int32
	}{
		"one resource": {reason: "one request serves all", readers: 30, read: []arm.ID{network("a")}, wantTimeouts: 1, wantRequests: 1},
		"a collection": {reason: "a list and single reads, of which three show that Azure does not answer", readers: 30, read: many,
			wantTimeouts: 4, wantRequests: 30 + 1},
		"one reader of a collection": {reason: "it stops after three requests without an answer", readers: 1, read: many, wantTimeouts: 4,
			wantRequests: 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var requests atomic.Int32
				c, err := client.New(credential.Token("t"), cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
					cloud.ResourceManager: {Endpoint: "https://azure.example", Audience: "a"}}},
					client.Options{Principal: "p", Timeout: time.Minute, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
						if strings.HasSuffix(r.URL.Path, "/rg") {
							return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"name":"rg"}`)),
								Request: r}, nil
						}
						requests.Add(1)
						<-r.Context().Done()
						return nil, r.Context().Err()
					})})
				if err != nil {
					t.Fatal(err)
				}
				reader := &observe.Reader{Cache: observe.NewCache(realClock{}, time.Minute, 0), MaxParallel: 1}
				start := time.Now()
				var done sync.WaitGroup
				for range test.readers {
					done.Go(func() {
						for id, found := range reader.Read(t.Context(), c, test.read, 10*time.Second, observe.ReadOptions{}) {
							if found.Err == nil {
								t.Errorf("%s was read", id)
							}
						}
					})
				}
				done.Wait()
				took := time.Since(start)
				if limit := time.Duration(test.wantTimeouts) * time.Minute; took > limit || requests.Load() > test.wantRequests {
					t.Errorf("%s: %d requests took %s, want %d and %s at most", test.reason, requests.Load(), took, test.wantRequests, limit)
				}
			})
		})
	}
}
