package facts

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestFailedRequestsAreRetriedWithBackOff puts a question that Azure answers with an error, and looks when it is put again.
func TestFailedRequestsAreRetriedWithBackOff(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		answer string
		until  time.Duration
	}{
		"refused":   {"a fault that users have to correct in Azure is checked once a minute", "403 AuthorizationFailed", time.Minute},
		"transient": {"a failure of Azure ends by itself", "500 InternalServerError", 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			a, clock := newFakeAzure(map[string]string{skusPath: test.answer, vnetPath: test.answer, locationsPath: regionBodies[locationsPath]}),
				newClock()
			facts, caller, in := New(Options{Now: clock.Now}), newCaller(t, a, "p"), clusterInput(nil)
			ask := func(caller Caller, want int, why string) {
				t.Helper()
				if _, err := facts.clusterCatalog(t.Context(), caller, in); err == nil {
					t.Errorf("%s: %v", why, err)
				}
				if _, err := facts.ReadClusterVNet(t.Context(), caller, in); err == nil {
					t.Errorf("%s: no error", why)
				}
				if catalog, network := a.countRequests(skusPath), a.countRequests(vnetPath); catalog != want || network != want {
					t.Errorf("%s: the catalog was asked for %d times and the network %d times, want %d", why, catalog, network, want)
				}
			}
			machine := func(name, input string) Caller { return Caller{Client: caller.Client, Name: name, Input: input} }
			ask(machine("a", "1"), 1, "the answer is not known yet")
			ask(machine("a", "1"), 1, test.reason)
			ask(machine("b", "1"), 1, "a hundred machines of a network need not all be refused")
			ask(caller, 1, "for every caller")
			clock.advanceTime(test.until - time.Second)
			ask(machine("a", "1"), 1, test.reason)
			clock.advanceTime(time.Second)
			ask(machine("a", "1"), 2, "the next try is due")
			ask(machine("b", "1"), 2, "the next try was that of all")
			ask(machine("b", "2"), 3, "a correction counts at once")
			ask(machine("b", "2"), 3, "and once")
			if _, err := facts.ReadClusterVNet(context.Background(), newCaller(t, a, "q"), in); err == nil || a.countRequests(vnetPath) != 4 {
				t.Errorf("another principal may be allowed to: asked %d times, %v", a.countRequests(vnetPath), err)
			}
		})
	}
}

func TestCatalogIsReadAfterAnOutage(t *testing.T) {
	a, clock := newFakeAzure(map[string]string{skusPath: "500 InternalServerError"}), newClock()
	facts, caller, in := New(Options{Now: clock.Now}), newCaller(t, a, "p"), clusterInput(nil)
	if _, err := facts.clusterCatalog(context.Background(), caller, in); err == nil {
		t.Fatal("no error")
	}
	a.setBody(skusPath, regionBodies[skusPath])
	clock.advanceTime(15 * time.Second)
	if catalog, err := facts.clusterCatalog(context.Background(), caller, in); err != nil || len(catalog.sizes) != 3 {
		t.Errorf("after Azure recovered: %v, %v", catalog, err)
	}
}

// TestFailedCatalogWakesOnce lets a catalog fail for which a reconciliation does not wait; it expects that the failure wakes the object
// once, and that the next reconciliation gets the failure without another request.
func TestFailedCatalogWakesOnce(t *testing.T) {
	a, clock := newFakeAzure(map[string]string{skusPath: "403 AuthorizationFailed", locationsPath: regionBodies[locationsPath]}), newClock()
	facts, caller, in := New(Options{Now: clock.Now}), newCaller(t, a, "p"), clusterInput(nil)
	woken := make(chan struct{}, 10)
	readFacts := func() (plan.ClusterFacts, error) {
		return facts.ClusterFacts(context.Background(), caller, in, func() { woken <- struct{}{} })
	}
	if got, err := readFacts(); err != nil || !got.ZonesPending {
		t.Fatalf("%+v, %v", got, err)
	}
	<-woken
	for range 3 {
		if _, err := readFacts(); arm.Classify(err) != arm.ClassStalled {
			t.Errorf("the reconciliation after it gets the error: %v", err)
		}
	}
	if len(woken) > 0 || a.countRequests(skusPath) != 1 {
		t.Errorf("woken %d times more, asked %d times", len(woken), a.countRequests(skusPath))
	}
	clock.advanceTime(time.Hour)
	got, err := readFacts()
	<-woken
	if err != nil || !got.ZonesPending || arm.Classify(got.ZonesError) != arm.ClassStalled || a.countRequests(skusPath) != 2 {
		t.Errorf("the next try reports the result of the last one: %+v, %v", got, err)
	}
}

// TestFailedStepsAreRetriedWithBackOff runs steps that send requests besides questions.
func TestFailedStepsAreRetriedWithBackOff(t *testing.T) {
	clock, caller := newClock(), newCaller(t, newFakeAzure(nil), "p")
	facts, runs := New(Options{Now: clock.Now}), 0
	refused := &arm.Error{Status: 403, Code: "AuthorizationFailed"}
	for _, step := range []struct {
		reason string
		later  time.Duration
		caller Caller
		result error
		runs   int
		want   error
	}{
		{"Azure refuses it", 0, caller, refused, 1, refused},
		{"it is not due again yet", time.Minute - 1, caller, nil, 1, refused},
		{"another identity may be allowed to", 0, newCaller(t, newFakeAzure(nil), "q"), nil, 2, nil},
		{"the next try is due", 1, caller, refused, 3, refused},
		{"and succeeds", time.Minute, caller, nil, 4, nil},
		{"a success is no reason to wait", 0, caller, nil, 5, nil},
		{"neither is a failure that is no answer of Azure", 0, caller, context.Canceled, 6, context.Canceled},
		{"it runs again at once", 0, caller, nil, 7, nil},
	} {
		clock.advanceTime(step.later)
		err := facts.RunUnlessFailed(t.Context(), step.caller, "step", func(context.Context) error {
			runs++
			return step.result
		})
		if runs != step.runs || !errors.Is(err, step.want) {
			t.Errorf("%s: %d runs and %v, want %d and %v", step.reason, runs, err, step.runs, step.want)
		}
	}
}

// TestOldFailuresAreForgotten lets queries fail that no object repeats, as those with a secret that was rotated; it expects that their
// failures are forgotten.
func TestOldFailuresAreForgotten(t *testing.T) {
	clock := newClock()
	f := newFailures(clock.Now)
	refused := &arm.Error{Status: 403, Code: "AuthorizationFailed"}
	for _, step := range []struct {
		reason, key string
		after       time.Duration
		want        int
	}{
		{"a failure is kept", "a", 0, 1},
		{"its next try is due, and may be in progress", "b", 30 * time.Minute, 2},
		{"after an hour it is forgotten", "c", 40 * time.Minute, 2},
		{"all others are, too", "d", 3 * time.Hour, 1},
	} {
		clock.advanceTime(step.after)
		f.recordAnswer(Caller{}, step.key, refused)
		if got := len(f.byQuestion); got != step.want {
			t.Errorf("%s: %d failures, want %d", step.reason, got, step.want)
		}
	}
}
