package engine_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// gateway answers requests in place of Azure while it is broken.
type gateway struct {
	policy.Transporter
	method, body string
	status       int
	broken       atomic.Bool
}

func (g *gateway) Do(request *http.Request) (*http.Response, error) {
	if !g.broken.Load() || request.Method != g.method {
		return g.Transporter.Do(request)
	}
	return &http.Response{StatusCode: g.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte(g.body))), Request: request,
		ContentLength: int64(len(g.body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}

// TestForeignAnswersEndNoDeletion deletes a group and a single resource through a gateway that answers in place of Azure. The deletion waits,
// and continues once Azure answers again.
func TestForeignAnswersEndNoDeletion(t *testing.T) {
	const page = "<html>Our services aren't available right now</html>"
	for name, g := range map[string]*gateway{
		"reads answered 404":                {method: "GET", status: 404, body: page},
		"reads answered 404 without a body": {method: "GET", status: 404},
		"reads answered 200":                {method: "GET", status: 200, body: page},
		"reads answered 200 without a body": {method: "GET", status: 200},
		"deletions answered 404":            {method: "DELETE", status: 404, body: page},
		"deletions answered 200":            {method: "DELETE", status: 200, body: page},
	} {
		for _, whole := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", the group as a whole", false: ", one resource"}[whole], func(t *testing.T) {
				nodes := []arm.Node{groupNode(), nsgNode()}
				w, request := worldWith(t, nodes...)
				if !whole {
					request = w.newRequest(nsgNode())
				}
				request.DeleteWholeGroups = whole
				broken := &gateway{Transporter: w.options.Transport, method: g.method, status: g.status, body: g.body}
				broken.broken.Store(true)
				w.options.Transport = broken
				request.Client = w.newClientWith(credential.Token(w.sim.Token("")), "other")
				for range 5 {
					if gone, err := w.engine.DeletesGroupWhole(t.Context(), request, group); g.method == "GET" && (gone || err == nil) {
						t.Fatalf("the group goes as a whole: %t, %v", gone, err)
					}
					outcome := w.deleteOnce(request)
					for _, result := range outcome.Results {
						if result.State == arm.Gone || result.State == arm.Foreign || !arm.IsTransient(result.Err) && result.Err != nil {
							t.Fatalf("%+v", result)
						}
					}
					if outcome.IsDeleted() {
						t.Fatal("the deletion is over")
					}
					w.advanceClock(max(outcome.RetryAfter, 10*time.Second))
				}
				if w.getResource(nsg) == nil {
					t.Fatal("Azure has deleted the resource")
				}
				broken.broken.Store(false)
				if outcome := w.deleteUntilDone(request, 10*time.Minute); !outcome.IsDeleted() || w.getResource(nsg) != nil {
					t.Errorf("not deleted once Azure answers: %+v", outcome.Results)
				}
			})
		}
	}
}

// TestForeignAnswersShowNoAbsence converges through such a gateway. No resource counts as absent, so none is created again.
func TestForeignAnswersShowNoAbsence(t *testing.T) {
	w, request := worldWith(t, groupNode(), nsgNode())
	broken := &gateway{Transporter: w.options.Transport, method: "GET", status: 404, body: "<html>"}
	broken.broken.Store(true)
	w.options.Transport = broken
	request.Client = w.newClientWith(credential.Token(w.sim.Token("")), "other")
	outcome := w.convergeOnce(request)
	for _, result := range outcome.Results {
		if result.State != arm.Waiting && result.State != arm.Blocked || result.Err != nil && !strings.Contains(result.Err.Error(), "not from Azure Resource Manager") {
			t.Errorf("%+v", result)
		}
	}
	if writes := w.listWrites(); len(writes) > 0 {
		t.Errorf("writes: %v", writes)
	}
}
