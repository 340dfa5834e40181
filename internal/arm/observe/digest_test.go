package observe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// subscription has two tables and a network with a subnet. Its list of all resources shows them unless it is refused.
type subscription struct {
	mu      sync.Mutex
	now     time.Time
	rows    map[arm.ID]map[string]any
	refuses []string
	// connection is the state of the connection of the private endpoint.
	connection string
	asked      []string
}

func (s *subscription) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(time.Millisecond)
	return s.now
}

func (s *subscription) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/subscriptions/s")
	s.asked = append(s.asked, r.URL.Path[strings.LastIndex(r.URL.Path[:strings.LastIndex(r.URL.Path, "/")], "/")+1:])
	id := arm.ID(r.URL.Path)
	switch {
	case slices.Contains(s.refuses, path):
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"error":{"code":"AuthorizationFailed"}}`)
	case strings.HasSuffix(path, "/resources"):
		var rows []any
		for _, id := range []arm.ID{table, table2, network, endpoint} {
			if row := s.rows[id]; row != nil {
				rows = append(rows, row)
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"value": rows})
	case id.Equal(network):
		_, _ = fmt.Fprintf(w,
			`{"id":%q,"name":"vnet","properties":{"provisioningState":"Succeeded","subnets":[{"id":%q,"name":"nodes","properties":{}}]}}`, id, id.Child("subnets", "nodes"))
	case id.Equal(endpoint):
		_, _ = fmt.Fprintf(w, `{"id":%q,"name":"pe","properties":{"provisioningState":"Succeeded","manualPrivateLinkServiceConnections":[{"properties":{"privateLinkServiceConnectionState":{"status":%q}}}]}}`,
			id, s.connection)
	case s.rows[id] != nil || id.Equal(nodes):
		_, _ = fmt.Fprintf(w, `{"id":%q,"name":%q,"properties":{"provisioningState":"Succeeded"}}`, id, id.Name())
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"error":{"code":"ResourceNotFound"}}`)
	}
}

var (
	table   = arm.NewID("s", "one", types.RouteTable, "table")
	table2  = arm.NewID("s", "two", types.RouteTable, "table2")
	network = arm.NewID("s", "one", types.VirtualNetwork, "vnet")
	nodes   = network.Child("subnets", "nodes")
	machine = arm.NewID("s", "one", types.VirtualMachine, "vm")
	// endpoint has a connection that the owner of another resource approves.
	endpoint = arm.NewID("s", "one", types.PrivateEndpoint, "pe")
)

// TestDigest reads resources in order twice, with ten minutes and possible changes in between.
func TestDigest(t *testing.T) {
	const whole, one = "s/resources", "one/resources"
	all := func(*subscription, *observe.Reader) {}
	for name, test := range map[string]struct {
		reason string
		ids    []arm.ID
		// before runs before the first read, between before the second one, which sends the requests in want.
		before, between func(*subscription, *observe.Reader)
		later           time.Duration
		want            []string
	}{
		"nothing": {"the list of all resources shows no write", []arm.ID{table, network, nodes}, all, all, 10 * time.Minute,
			[]string{whole}},
		"within a minute": {"one list serves all concurrent readers", []arm.ID{table, network}, all, all, 30 * time.Second, nil},
		"written": {"a written resource is read", []arm.ID{table, network}, all,
			func(s *subscription, _ *observe.Reader) { s.rows[table]["changedTime"] = "2" }, 10 * time.Minute,
			[]string{whole, "routeTables/table"}},
		"tagged": {"Azure lists other tags, whatever changedTime is", []arm.ID{table}, all,
			func(s *subscription, _ *observe.Reader) { s.rows[table]["tags"] = map[string]any{"a": "b"} }, 10 * time.Minute,
			[]string{whole, "routeTables/table"}},
		"failed": {"only the state Succeeded is in order", []arm.ID{table}, all,
			func(s *subscription, _ *observe.Reader) { s.rows[table]["provisioningState"] = "Failed" }, 10 * time.Minute,
			[]string{whole, "routeTables/table"}},
		"not shown": {"the list may lag, and never proves an absence", []arm.ID{table}, all,
			func(s *subscription, _ *observe.Reader) { delete(s.rows, table) }, 10 * time.Minute, []string{whole, "routeTables/table"}},
		"no time": {"an entry without a time confirms no read", []arm.ID{table},
			func(s *subscription, _ *observe.Reader) { delete(s.rows[table], "changedTime") }, all, 10 * time.Minute,
			[]string{whole, "routeTables/table"}},
		"written by this process": {"a list from before the write does not cover it", []arm.ID{table}, all,
			func(_ *subscription, r *observe.Reader) {
				r.Cache.Invalidate(observe.Change{ID: table, Extent: observe.ExtentResource})
			}, 10 * time.Minute, []string{whole, "routeTables/table"}},
		"child written by this process": {"the list shows its parent unchanged", []arm.ID{network, nodes}, all,
			func(_ *subscription, r *observe.Reader) {
				r.Cache.Invalidate(observe.Change{ID: nodes, Extent: observe.ExtentResource, Document: network})
			}, 10 * time.Minute, []string{whole, "subnets/nodes"}},
		"full": {"children are in no list of all resources", []arm.ID{table, nodes, network}, all, all, time.Hour,
			[]string{whole, "routeTables/table", "virtualNetworks/vnet"}},
		"a machine": {"no list of all resources has the power state", []arm.ID{machine},
			func(s *subscription, _ *observe.Reader) { s.rows[machine] = s.rows[table] }, all, 10 * time.Minute,
			[]string{"virtualMachines/vm"}},
		"a connection that waits": {"no list shows that the owner of the service approves it", []arm.ID{endpoint},
			func(s *subscription, _ *observe.Reader) { s.connection = "Pending" }, all, 10 * time.Minute,
			[]string{whole, "privateEndpoints/pe"}},
		"an approved connection": {"it stays as it is until the full sync", []arm.ID{endpoint},
			func(s *subscription, _ *observe.Reader) { s.connection = "Approved" }, all, 10 * time.Minute, []string{whole}},
		"refused": {"the group can be listed, and the subscription is not listed again", []arm.ID{table},
			func(s *subscription, _ *observe.Reader) { s.refuses = []string{"/resources"} }, all, 10 * time.Minute, []string{one}},
		"refused altogether": {"all resources are read as without digests, and no list is tried again", []arm.ID{table},
			func(s *subscription, _ *observe.Reader) {
				s.refuses = []string{"/resources", "/resourceGroups/one/resources"}
			}, all, 10 * time.Minute, []string{"routeTables/table"}},
		"group of another one": {"a digest of a group does not cover others", []arm.ID{table2}, func(s *subscription, _ *observe.Reader) {
			s.refuses = []string{"/resources", "/resourceGroups/two/resources"}
		}, all, 10 * time.Minute, []string{"routeTables/table2"}},
	} {
		t.Run(name, func(t *testing.T) {
			service := &subscription{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), rows: map[arm.ID]map[string]any{}}
			for _, id := range []arm.ID{table, table2, network, endpoint} {
				service.rows[id] = map[string]any{"id": id, "changedTime": "1", "provisioningState": "Succeeded"}
			}
			reader := &observe.Reader{Cache: observe.NewCache(service, 10*time.Second, time.Hour), MaxParallel: 4}
			c := service.newClient(t, "p")
			look := func() (asked []string) {
				service.asked = nil
				for key, found := range reader.Read(t.Context(), c, test.ids, 10*time.Second, observe.ReadOptions{MaxAge: time.Minute}) {
					if found.Err != nil || !found.Exists && name != "not shown" {
						t.Errorf("%s: %+v", key, found.Observed)
					}
				}
				slices.Sort(service.asked)
				return service.asked
			}
			test.before(service, reader)
			look()
			test.between(service, reader)
			service.now = service.now.Add(test.later)
			want := slices.Sorted(slices.Values(test.want))
			if diff := cmp.Diff(want, look()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestDigestsAreSeparateByIdentity reads with two identities: the digest of one does not confirm reads of the other.
func TestDigestsAreSeparateByIdentity(t *testing.T) {
	service := &subscription{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		rows: map[arm.ID]map[string]any{table: {"id": table, "changedTime": "1"}}}
	reader := &observe.Reader{Cache: observe.NewCache(service, 10*time.Second, time.Hour), MaxParallel: 4}
	sync := observe.ReadOptions{MaxAge: time.Minute}
	reader.Read(t.Context(), service.newClient(t, "one"), []arm.ID{table}, 10*time.Second, sync)
	service.asked = nil
	reader.Read(t.Context(), service.newClient(t, "other"), []arm.ID{table}, 10*time.Second, sync)
	if diff := cmp.Diff([]string{"s/resources", "routeTables/table"}, service.asked); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func (s *subscription) newClient(t *testing.T, principal string) *client.Client {
	t.Helper()
	listener := httptest.NewTLSServer(s)
	t.Cleanup(listener.Close)
	return clientOf(t, listener, principal)
}
