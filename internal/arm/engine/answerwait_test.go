package engine_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// slowTransport answers reads with 404 and writes after a delay.
type slowTransport time.Duration

func (s slowTransport) Do(request *http.Request) (*http.Response, error) {
	answer := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: request}, nil
	}
	if request.Method == http.MethodGet {
		return answer(http.StatusNotFound, `{"error":{"code":"ResourceNotFound","message":"not there"}}`)
	}
	<-time.After(time.Duration(s))
	return answer(http.StatusOK,
		fmt.Sprintf(`{"id":%q,"location":"eastus","tags":{%q:%q},"properties":{"provisioningState":"Succeeded"}}`, request.URL.Path, owner.TagKey,
			owner.TagValue))
}

// TestFewConvergencesWaitForAnswers runs ten convergences at the same time: some wait for the answer and continue, the others return at
// once, which frees the worker, and are woken by the answer.
func TestFewConvergencesWaitForAnswers(t *testing.T) {
	configuration := newWorld(t).cloud
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(engine.Options{MaxWaiting: 4})
		c, err := client.New(credential.Token("t"), configuration, client.Options{Principal: "p", Transport: slowTransport(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		var passes sync.WaitGroup
		var waited, returned, woken atomic.Int64
		for i := range 10 {
			graph := &arm.Graph{}
			graph.Add(arm.Node{ID: arm.ResourceGroupID(sub, fmt.Sprintf("rg-%d", i)), Policy: arm.Repair,
				Body: object{"location": "eastus", "tags": ownerTags()}})
			passes.Go(func() {
				begun := time.Now()
				outcome, err := e.Converge(t.Context(),
					engine.Request{Object: fmt.Sprint(i), Client: c, Owner: owner, Graph: graph, Wake: func() { woken.Add(1) }})
				switch took := time.Since(begun); {
				case err != nil:
					t.Error(err)
				case outcome.IsDone() && took >= time.Second:
					waited.Add(1)
				case !outcome.IsDone() && took == 0 && outcome.RetryAfter > 0:
					returned.Add(1)
				default:
					t.Errorf("a convergence took %s: %+v", took, outcome)
				}
			})
		}
		passes.Wait()
		synctest.Wait()
		if waited.Load() != 4 || returned.Load() != 6 {
			t.Errorf("%d convergences waited and %d returned at once, want 4 and 6", waited.Load(), returned.Load())
		}
		if woken.Load() < 6 {
			t.Errorf("%d of the 6 that returned were woken by the answer", woken.Load())
		}
	})
}

// TestSupersededConvergenceReturnsAtOnce: when a newer graph exists, the convergence waits for no answer. Its writes continue and wake
// the object.
func TestSupersededConvergenceReturnsAtOnce(t *testing.T) {
	configuration := newWorld(t).cloud
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(engine.Options{})
		c, err := client.New(credential.Token("t"), configuration, client.Options{Principal: "p", Transport: slowTransport(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		graph := &arm.Graph{}
		graph.Add(arm.Node{ID: arm.ResourceGroupID(sub, "rg"), Policy: arm.Repair, Body: object{"location": "eastus", "tags": ownerTags()}})
		outdated, woken, begun := make(chan struct{}), make(chan time.Duration, 1), time.Now()
		time.AfterFunc(100*time.Millisecond, func() { close(outdated) })
		outcome, err := e.Converge(t.Context(), engine.Request{Object: "o", Client: c, Owner: owner, Graph: graph, Superseded: outdated,
			Wake: func() { woken <- time.Since(begun) }})
		if took := time.Since(begun); err != nil || outcome.IsDone() || took != 100*time.Millisecond {
			t.Errorf("the convergence took %s: %+v, %v", took, outcome, err)
		}
		if at := <-woken; at != time.Second {
			t.Errorf("the object was woken after %s, want 1s", at)
		}
	})
}

// TestExpiredReadsAreDropped: an idle engine drops its reads.
func TestExpiredReadsAreDropped(t *testing.T) {
	configuration := newWorld(t).cloud
	synctest.Test(t, func(t *testing.T) {
		e := engine.New(engine.Options{})
		c, err := client.New(credential.Token("t"), configuration, client.Options{Principal: "p", Transport: slowTransport(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		ctx, stop := context.WithCancel(t.Context())
		go func() { ended <- e.Start(ctx) }()
		group := arm.ResourceGroupID(sub, "rg")
		if _, err := e.Observe(t.Context(), c, []arm.ID{group}, false, engine.ReadOptions{}); err != nil {
			t.Fatal(err)
		}
		if kept := e.StateCounts()["entries"]; kept != 1 {
			t.Errorf("%d reads are kept, want 1", kept)
		}
		<-time.After(5 * time.Minute)
		if kept := e.StateCounts()["entries"]; kept != 0 {
			t.Errorf("%d reads are kept after five minutes", kept)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
