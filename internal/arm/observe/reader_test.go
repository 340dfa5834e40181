package observe_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

type fixed struct{}

func (fixed) Now() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// azure has the group "rg" with the networks "a" and "b", and refuses requests as configured.
type azure struct {
	mu      sync.Mutex
	refuses map[string]string // code by last segment
	asked   []string
}

func (a *azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	a.asked = append(a.asked, name)
	switch code := a.refuses[name]; {
	case code != "":
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"error":{"code":%q}}`, code)
	case name == "virtualNetworks":
		_, _ = w.Write([]byte(`{"value":[{"name":"a","etag":"1"},{"name":"b","etag":"2"}]}`))
	case name == "rg" || name == "a" || name == "b":
		_, _ = fmt.Fprintf(w, `{"name":%q,"etag":"3"}`, name)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error":{"code":"ResourceNotFound"}}`))
	}
}

// clientOf returns a client of a test server.
func clientOf(t *testing.T, server *httptest.Server, principal string) *client.Client {
	t.Helper()
	c, err := client.New(credential.Token("t"), cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: server.URL, Audience: "a"}}}, client.Options{Principal: principal, Transport: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRead reads resources and counts requests and cache lookups.
func TestRead(t *testing.T) {
	const share, fresh = 10 * time.Second, -1
	group, noGroup := arm.ResourceGroupID("s", "rg"), arm.ResourceGroupID("s", "none")
	in := func(group arm.ID, names ...string) (out []arm.ID) {
		for _, name := range names {
			out = append(out, arm.NewID("s", group.Name(), types.VirtualNetwork, name))
		}
		return out
	}
	for name, test := range map[string]struct {
		reason  string
		refuses map[string]string
		// before are read first.
		before, ids []arm.ID
		maxAge      time.Duration
		asked       []string
		looks       map[observe.CacheResult]int
		// exist and fail are the names of the resources found and of those that could not be read.
		exist, fail []string
	}{
		"one": {"a single GET", nil, nil, in(group, "a"), share, []string{"a"},
			map[observe.CacheResult]int{observe.CacheMiss: 1}, []string{"a"}, nil},
		"again": {"it is shared", nil, in(group, "a"), in(group, "a"), share, nil,
			map[observe.CacheResult]int{observe.CacheHit: 1}, []string{"a"}, nil},
		"again, twice": {"each resource is read once", nil, in(group, "a"), in(group, "a", "a"), share, nil,
			map[observe.CacheResult]int{observe.CacheHit: 1}, []string{"a"}, nil},
		"again, fresh": {"the caller wants a new read", nil, in(group, "a"), in(group, "a"), fresh, []string{"a"},
			map[observe.CacheResult]int{observe.CacheBypass: 1}, []string{"a"}, nil},
		"several": {"one list for a whole collection, and unlisted resources are absent", nil, nil,
			in(group, "a", "b", "c"), share, []string{"virtualNetworks"}, map[observe.CacheResult]int{observe.CacheMiss: 3},
			[]string{"a", "b"}, nil},
		"one after a list": {"the list has it", nil, in(group, "a", "c"), in(group, "b"), share, nil,
			map[observe.CacheResult]int{observe.CacheHit: 1}, []string{"b"}, nil},
		"list refused": {"a role may be on single resources only",
			map[string]string{"virtualNetworks": "AuthorizationFailed"}, nil, in(group, "a", "c"), share,
			[]string{"a", "c", "virtualNetworks"}, map[observe.CacheResult]int{observe.CacheMiss: 2}, []string{"a"}, nil},
		"one refused": {"the error is about that resource", map[string]string{"a": "AuthorizationFailed"}, nil,
			append(in(group, "a"), group), share, []string{"a", "rg"}, map[observe.CacheResult]int{observe.CacheMiss: 2},
			[]string{"rg"}, []string{"a"}},
		"all refused": {"each request would fail with the same error",
			map[string]string{"rg": "InvalidAuthenticationToken"}, nil, append(in(group, "a", "b"), group), share, []string{"rg"},
			map[observe.CacheResult]int{observe.CacheMiss: 3}, nil, []string{"a", "b", "rg"}},
		"in no group": {"an absent group has no resources", nil, nil, append(in(noGroup, "a", "b"), noGroup), share,
			[]string{"none"}, map[observe.CacheResult]int{observe.CacheMiss: 1}, nil, nil},
		"in no group, as seen before": {"it is still absent", nil, []arm.ID{noGroup}, in(noGroup, "a"), share, nil,
			map[observe.CacheResult]int{}, nil, nil},
		"in no group, fresh": {"both may have been created since", nil, []arm.ID{noGroup}, in(noGroup, "c"), fresh, []string{"c"},
			map[observe.CacheResult]int{observe.CacheBypass: 1}, nil, nil},
		"refused, not kept": {"a failed read is repeated", map[string]string{"a": "AuthorizationFailed"}, in(group, "a"),
			in(group, "a"), share, []string{"a"}, map[observe.CacheResult]int{observe.CacheMiss: 1}, nil, []string{"a"}},
		"type is not known": {"its api-version is unknown", nil, nil, []arm.ID{arm.NewID("s", "rg", "Banana.Split/bananas", "x")},
			share, nil, map[observe.CacheResult]int{observe.CacheMiss: 1}, nil, []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			service := &azure{refuses: test.refuses}
			listener := httptest.NewTLSServer(service)
			t.Cleanup(listener.Close)
			c := clientOf(t, listener, "p")
			looks := map[observe.CacheResult]int{}
			reader := &observe.Reader{Cache: observe.NewCache(fixed{}, share, 0), MaxParallel: 4,
				OnCacheRead: func(look observe.CacheResult) { looks[look]++ }}
			reader.Read(t.Context(), c, test.before, share, observe.ReadOptions{})
			clear(looks)
			service.asked = nil

			var exist, fail []string
			for _, found := range reader.Read(t.Context(), c, test.ids, test.maxAge, observe.ReadOptions{}) {
				switch {
				case found.Err != nil:
					fail = append(fail, found.ID.Name())
				case found.Exists && found.ETag != "" && found.Body != nil:
					exist = append(exist, found.ID.Name())
				}
			}
			for _, names := range [][]string{exist, fail, service.asked} {
				slices.Sort(names)
			}
			if diff := cmp.Diff([]any{test.asked, test.looks, test.exist, test.fail},
				[]any{service.asked, looks, exist, fail}); diff != "" {
				t.Errorf("%s: requests, lookups, existing and failed resources (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
