package operate

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// TestLongOperationIsLogged follows operations that do not end. Each has one line after an hour, with the IDs of the answer that accepted it, and
// without the URL that it is polled at. An operation that another party began has no IDs. One that ends has no such line.
func TestLongOperationIsLogged(t *testing.T) {
	accepted := func(status int, body string) answer {
		out := withOperationLink(status, body)
		out.header["X-Ms-Request-Id"], out.header["X-Ms-Correlation-Request-Id"] = "request-1", "correlation-1"
		return out
	}
	for name, test := range map[string]struct {
		reason, method string
		state          arm.State
		answer         answer
		polls          []answer
		want           []string
	}{
		"creation": {"the ID is that of the PUT, not that of a poll", http.MethodPut, arm.Creating, accepted(201, withProvisioningState("Creating").body),
			[]answer{accepted(200, withStatus("InProgress").body)},
			[]string{`"method"="PUT"`, `"requestID"="request-1" "correlationID"="correlation-1"`}},
		"deletion": {"it is read rarely", http.MethodDelete, arm.Deleting, accepted(202, ""), []answer{withStatus("InProgress")},
			[]string{`"method"="DELETE"`, `"requestID"="request-1" "correlationID"="correlation-1"`}},
		"action": {"no resource shows it", http.MethodPost, arm.Updating, accepted(202, ""), []answer{withStatus("InProgress")},
			[]string{`"method"="POST"`, `"requestID"="request-1" "correlationID"="correlation-1"`, `"action"="restart"`}},
		"without IDs": {"Azure may leave them out", http.MethodPut, arm.Creating, withOperationLink(201, withProvisioningState("Creating").body),
			[]answer{withStatus("InProgress")}, []string{`"method"="PUT"`}},
		"of another party": {"its request is not known", "", arm.Updating, answer{}, nil, []string{`"method"=""`}},
		"short":            {"it ends", http.MethodPut, arm.Creating, accepted(201, withProvisioningState("Creating").body), []answer{withStatus("InProgress"), withStatus("Succeeded")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				looks := map[arm.State]string{arm.Creating: "Creating", arm.Deleting: "Deleting", arm.Updating: "Updating"}[test.state]
				azure := &script{asked: map[string]int{}, answers: map[string][]answer{test.method + " vm": {test.answer}, "GET vm": {withProvisioningState(looks)}, "GET op": test.polls}}
				if name == "short" {
					azure.answers["GET vm"] = append(azure.answers["GET vm"], withProvisioningState("Succeeded"))
				}
				var mu sync.Mutex
				var lines []string
				begun := time.Now()
				log := funcr.New(func(_, line string) {
					mu.Lock()
					defer mu.Unlock()
					if strings.Contains(line, "takes long") {
						if age := time.Since(begun); age < time.Hour || age > 62*time.Minute {
							t.Errorf("logged after %s", age)
						}
						lines = append(lines, line)
					}
				}, funcr.Options{})
				o := New(Options{Clock: systemClock{}, Log: log, Reader: &observe.Reader{Cache: observe.NewCache(systemClock{}, 10*time.Second, 0), MaxParallel: 4}})
				defer o.Stop()
				op := operationOn(machine)
				op.Client, op.State, op.Method, op.Context, op.Object = azure.newClient(t), test.state, test.method, o.BackgroundContext(t.Context()), "AzureMachine/default/vm"
				if op.Action = test.method == http.MethodPost; op.Action {
					op.LogValues = []any{"action", "restart"}
				}
				if test.method == "" {
					o.FollowExisting(op, nil)
				} else {
					o.Begin(op, false)
					o.Send(op, func() (*client.Response, error) {
						return op.Client.Do(t.Context(), client.Request{Method: test.method, ID: machine, APIVersion: "1"})
					})
				}
				<-time.After(5 * time.Hour)
				mu.Lock()
				defer mu.Unlock()
				if test.want == nil {
					if len(lines) > 0 {
						t.Errorf("%s: %v", test.reason, lines)
					}
					return
				}
				if len(lines) != 1 {
					t.Fatalf("%s: %d lines: %v", test.reason, len(lines), lines)
				}
				for _, part := range append(test.want, string(machine), `"object"="AzureMachine/default/vm"`) {
					if !strings.Contains(lines[0], part) {
						t.Errorf("%s: the line lacks %s: %s", test.reason, part, lines[0])
					}
				}
				if strings.Contains(lines[0], "azure.example") || len(test.want) == 1 && strings.Contains(lines[0], "ID") {
					t.Errorf("%s: %s", test.reason, lines[0])
				}
			})
		})
	}
}
