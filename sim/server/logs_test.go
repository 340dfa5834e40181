package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// lockedText keeps what a simulator writes in the background.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(raw []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(raw)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// readLog decodes the lines of a log.
func readLog[T any](t *testing.T, log string) (out []T) {
	t.Helper()
	for line := range strings.Lines(log) {
		var record T
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out = append(out, record)
	}
	return out
}

// TestLogsOfWrites finds the changes of a route table in the log of changes, and in the log of requests the one PUT that repeats a body.
func TestLogsOfWrites(t *testing.T) {
	var requests, changes strings.Builder
	a := newAzure(t, func(o *server.Options) { o.RequestLog, o.ChangeLog = &requests, &changes })
	a.createGroup()
	put := func(path, value string) {
		a.sendRequest("PUT", net+path, obj{"location": "westus3", "tags": obj{"a": value}})
		a.sim.Settle()
	}
	put("/routeTables/x", "1")
	put("/ROUTETABLES/x", "1")
	put("/routeTables/y", "1")
	put("/routeTables/x", "2")
	put("/routeTables/x", "1")
	a.sendRequest("DELETE", net+"/routeTables/x", nil)
	a.sim.Settle()

	var repeats []int
	for i, record := range readLog[server.RequestRecord](t, requests.String()) {
		if record.Repeats {
			repeats = append(repeats, i)
		}
	}
	if log := a.sim.Requests(); len(repeats) != 1 || !strings.Contains(log[repeats[0]].URL, "ROUTETABLES") {
		t.Errorf("requests %v repeat a body, want the second PUT of x in\n%s", repeats, requests.String())
	}

	var values []string
	for _, record := range readLog[server.ChangeRecord](t, changes.String()) {
		if record.ID != strings.ToLower(net+"/routeTables/x") {
			continue
		}
		if record.Time.IsZero() {
			t.Errorf("a change of %s has no time", record.ID)
		}
		value := "gone"
		if record.Body != nil {
			value = fmt.Sprint(record.Body["tags"])
		}
		if len(values) == 0 || values[len(values)-1] != value {
			values = append(values, value)
		}
	}
	if diff := cmp.Diff([]string{"map[a:1]", "map[a:2]", "map[a:1]", "gone"}, values); diff != "" {
		t.Errorf("states of x: -want +got:\n%s", diff)
	}
}

// TestAnswersFollowChanges creates resources in wall time. No answer in the log of requests is before the change that its request made.
func TestAnswersFollowChanges(t *testing.T) {
	var requests, changes lockedText
	a := newAzure(t, func(o *server.Options) {
		o.RequestLog, o.ChangeLog, o.TimeScale, o.Clock = &requests, &changes, 0, store.Real{}
	})
	a.createGroup()
	for i := range 20 {
		a.sendRequest("PUT", net+fmt.Sprintf("/routeTables/x%d", i), obj{"location": "westus3"})
	}
	changed := map[string]time.Time{}
	for _, record := range readLog[server.ChangeRecord](t, changes.String()) {
		if _, known := changed[record.ID]; !known {
			changed[record.ID] = record.Time
		}
	}
	compared := 0
	for _, record := range readLog[server.RequestRecord](t, requests.String()) {
		path, _, _ := strings.Cut(strings.ToLower(record.URL), "?")
		at, known := changed[path]
		if !known || record.Method != "PUT" {
			continue
		}
		compared++
		if at.Before(record.Time) || record.Answered.Before(at) {
			t.Errorf("%s was sent at %s, changed at %s and answered at %s", path, record.Time, at, record.Answered)
		}
	}
	if compared < 20 {
		t.Errorf("%d requests have a change, want those of 20 route tables at least", compared)
	}
}

// TestChangeLogHasNoSecrets creates a VM with a password and bootstrap data, which Azure never shows.
func TestChangeLogHasNoSecrets(t *testing.T) {
	var changes strings.Builder
	a := newAzure(t, func(o *server.Options) { o.ChangeLog = &changes })
	a.createBase()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("cp", nil))
	a.mustSucceed("PUT", comp+"/virtualMachines/vm0", newVM("nic0", func(p obj) { p["osProfile"].(obj)["adminPassword"] = goodPassword }))
	if log := changes.String(); !strings.Contains(log, `"adminUsername":"capi"`) || strings.Contains(log, goodPassword) || strings.Contains(log, cloudInit) {
		t.Errorf("a log without the VM, or with a secret:\n%s", log)
	}
}

// TestClientsInRequestLog sends requests with the tokens of two processes, the last one by a client that gives up before the answer.
func TestClientsInRequestLog(t *testing.T) {
	var requests lockedText
	a := newAzure(t, func(o *server.Options) { o.RequestLog = &requests })
	gone, giveUp := context.WithCancel(t.Context())
	giveUp()
	first, second := a.sim.Token(""), a.sim.Token("")
	for _, each := range []struct {
		ctx   context.Context
		token string
	}{{t.Context(), first}, {t.Context(), first}, {t.Context(), second}, {gone, second}} {
		request := httptest.NewRequestWithContext(each.ctx, http.MethodGet, "https://azure.example/subscriptions/"+sub+"?api-version=2022-12-01", nil)
		request.Header.Set("Authorization", "Bearer "+each.token)
		a.sim.Handler().ServeHTTP(httptest.NewRecorder(), request)
	}
	records := readLog[server.RequestRecord](t, requests.String())
	if len(records) != 4 {
		t.Fatalf("%d requests, want 4:\n%s", len(records), requests.String())
	}
	if one, other := records[0].TokenID, records[2].TokenID; one == "" || one == other || records[1].TokenID != one || records[3].TokenID != other {
		t.Errorf("two requests of each of two processes have the tokens %q, %q, %q and %q", one, records[1].TokenID, other, records[3].TokenID)
	}
	for i, record := range records {
		if record.Status != http.StatusOK || record.Unread != (i == 3) {
			t.Errorf("request %d: status %d, unread %v", i, record.Status, record.Unread)
		}
	}
}
