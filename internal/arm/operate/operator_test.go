package operate

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/go-logr/logr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// answer is Azure's answer to one request.
type answer struct {
	status int
	header map[string]string
	body   string
}

// script answers requests by "METHOD last-segment": each answer once, and the last one repeatedly.
type script struct {
	mu      sync.Mutex
	answers map[string][]answer
	asked   map[string]int
}

func (s *script) Do(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := request.Method + " " + request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:]
	s.asked[key]++
	answers := s.answers[key]
	if request.URL.Host != "azure.example" {
		s.asked["another host"]++
		answers = []answer{withStatus("Succeeded")}
	}
	if len(answers) == 0 {
		return nil, errors.New("there is no answer for " + key)
	}
	if len(answers) > 1 {
		s.answers[key] = answers[1:]
	}
	response := &http.Response{StatusCode: answers[0].status, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(answers[0].body)), Request: request}
	for name, value := range answers[0].header {
		response.Header.Set(name, value)
	}
	return response, nil
}

func (s *script) newClient(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(credential.Token("t"), cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: "https://azure.example", Audience: "a"}}}, client.Options{Principal: "p", Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const (
	operationURL = "https://azure.example/operations/op"
	resource     = `{"id":"x","properties":{"provisioningState":"STATE"}}`
)

func withProvisioningState(state string) answer {
	return answer{status: 200, body: strings.ReplaceAll(resource, "STATE", state)}
}

func withOperationLink(status int, body string) answer {
	return answer{status: status, body: body, header: map[string]string{"Azure-AsyncOperation": operationURL, "Retry-After": "10"}}
}

// linkedAway names an operation on another host, which would get the bearer token.
func linkedAway(status int, header, body string) answer {
	return answer{status: status, body: body,
		header: map[string]string{header: "https://attacker.example/operations/op", "Retry-After": "10"}}
}

func withStatus(status string) answer {
	return answer{status: 200, body: `{"status":"` + status + `"}`}
}

// TestFollow sends a write or an action (POST) and follows it to its end, for all kinds of answers.
func TestFollow(t *testing.T) {
	gone := answer{status: 404, body: `{"error":{"code":"ResourceNotFound"}}`}
	quota := answer{status: 200, body: `{"status":"Failed","error":{"code":"QuotaExceeded","message":"no cores"}}`}
	for name, test := range map[string]struct {
		reason string
		verb   string
		state  arm.State
		put    answer
		// looks are answers for the machine, polls for the operation.
		looks, polls []answer
		// ended is the result and its latest time: "" is success, "-" means that OnEnd was not called.
		ended  string
		within time.Duration
	}{
		"done at once": {"the answer has the final state", "PUT", arm.Updating, withProvisioningState("Succeeded"), nil, nil, "", 0},
		"done, with a link": {"a body with Succeeded is final, as with load balancers", "PUT", arm.Updating,
			withOperationLink(201, withProvisioningState("Succeeded").body), nil, nil, "", 0},
		"no state, with a link": {"the URL has the state", "PUT", arm.Creating, withOperationLink(201, `{"id":"x"}`), []answer{gone},
			[]answer{withStatus("InProgress"), withStatus("Succeeded")}, "", 30 * time.Second},
		"faster than on Azure": {"milliseconds are when the operation can be over, whatever it takes on Azure", "PUT", arm.Creating,
			answer{status: 201, body: withProvisioningState("Creating").body, header: map[string]string{
				"Azure-AsyncOperation": operationURL, "Retry-After": "2", "retry-after-ms": "1200"}},
			[]answer{withProvisioningState("Succeeded")}, []answer{withStatus("Succeeded")}, "", 1200 * time.Millisecond},
		"seen before the URL shows it": {"once it can be over, the resource is read more often than the URL", "PUT", arm.Creating,
			withOperationLink(201, withProvisioningState("Creating").body), []answer{withProvisioningState("Creating"),
				withProvisioningState("Succeeded")}, []answer{withStatus("InProgress")}, "",
			31 * time.Second},
		"refused": {"the answer is the error", "PUT", arm.Creating,
			answer{status: 409, body: `{"error":{"code":"QuotaExceeded"}}`}, nil, nil, "QuotaExceeded", 0},
		"failed later": {"only the operation has the reason", "PUT", arm.Creating, withOperationLink(201, withProvisioningState("Creating").body),
			[]answer{withProvisioningState("Creating"), withProvisioningState("Failed")}, []answer{quota}, "QuotaExceeded", 10 * time.Second},
		"failed, without a reason": {"there is no URL", "PUT", arm.Creating, answer{status: 201, body: withProvisioningState("Creating").body},
			[]answer{withProvisioningState("Failed")}, nil, CodeProvisioningFailed, 10 * time.Second},
		"forgotten": {"Azure keeps operations for some days; after that the resource shows the end", "PUT", arm.Updating,
			withOperationLink(201, withProvisioningState("Updating").body), []answer{withProvisioningState("Updating"),
				withProvisioningState("Updating"), withProvisioningState("Updating"), withProvisioningState("Succeeded")}, []answer{gone},
			"", 11 * time.Second},
		"vanished": {"the new resource is gone, and no URL has the reason", "PUT", arm.Creating,
			answer{status: 201, body: withProvisioningState("Creating").body}, []answer{gone}, nil, "-", time.Minute},
		"throttled": {"it is polled again at Azure's Retry-After", "PUT", arm.Creating, withOperationLink(201, `{"id":"x"}`),
			[]answer{gone}, []answer{{status: 429, header: map[string]string{"Retry-After": "20"},
				body: `{"error":{"code":"TooManyRequests"}}`}, withStatus("Succeeded")}, "", 40 * time.Second},
		"URL of another host": {"the resource shows the end", "PUT", arm.Creating,
			linkedAway(201, "Azure-AsyncOperation", withProvisioningState("Creating").body), []answer{withProvisioningState("Creating"),
				withProvisioningState("Succeeded")}, nil, "",
			31 * time.Second},
		"failed, at another host": {"there is no reason", "PUT", arm.Creating,
			linkedAway(201, "Azure-AsyncOperation", withProvisioningState("Creating").body), []answer{withProvisioningState("Creating"),
				withProvisioningState("Failed")}, nil,
			CodeProvisioningFailed, 31 * time.Second},
		"deleted, at another host": {"the resource is absent in the end", "DELETE", arm.Deleting, linkedAway(202, "Location", ""),
			[]answer{withProvisioningState("Deleting"), withProvisioningState("Deleting"), gone}, nil, "", time.Minute},
		"deleted at once": {"", "DELETE", arm.Deleting, answer{status: 204}, nil, nil, "", 0},
		"deleted before":  {"the goal is reached", "DELETE", arm.Deleting, gone, nil, nil, "", 0},
		"deleted": {"the resource is read", "DELETE", arm.Deleting, withOperationLink(202, ""),
			[]answer{withProvisioningState("Deleting"), withProvisioningState("Deleting"),
				gone}, []answer{withStatus("InProgress")}, "", 28 * time.Second},
		"deletion failed": {"it exists, and its operation has the reason", "DELETE", arm.Deleting, withOperationLink(202, ""),
			[]answer{withProvisioningState("Deleting"), withProvisioningState("Failed")}, []answer{quota}, "QuotaExceeded", 30 * time.Second},
		"deletion forgotten, failed": {"no URL has the reason", "DELETE", arm.Deleting, withOperationLink(202, ""),
			[]answer{withProvisioningState("Deleting"), withProvisioningState("Failed")}, []answer{gone}, CodeProvisioningFailed, time.Minute},
		"deletion forgotten, exists again": {"it did not take place", "DELETE", arm.Deleting, withOperationLink(202, ""),
			[]answer{withProvisioningState("Deleting"), withProvisioningState("Succeeded")}, []answer{gone}, CodeDeletionIneffective, time.Minute},
		"deletion forgotten, not shown yet": {"Azure shows the state before the deletion for some seconds", "DELETE", arm.Deleting, withOperationLink(202, ""),
			[]answer{withProvisioningState("Failed"), withProvisioningState("Succeeded"), withProvisioningState("Deleting"), gone}, []answer{gone}, "",
			time.Minute},
		"deletion forgotten, updated meanwhile": {"another client writes the resource", "DELETE", arm.Deleting, withOperationLink(202, ""),
			slices.Concat(slices.Repeat([]answer{withProvisioningState("Updating")}, 12), []answer{gone}), []answer{gone}, "", 10 * time.Minute},
		"deletion without a URL, exists again": {"it did not take place", "DELETE", arm.Deleting, answer{status: 202},
			[]answer{withProvisioningState("Deleting"), withProvisioningState("Succeeded")}, nil, CodeDeletionIneffective, time.Minute},
		"deletion failed, at another host": {"there is no reason", "DELETE", arm.Deleting, linkedAway(202, "Location", ""),
			[]answer{withProvisioningState("Deleting"), withProvisioningState("Failed")}, nil, CodeProvisioningFailed, time.Minute},
		"action": {"only its URL shows the end", "POST", arm.Updating, withOperationLink(202, ""), nil,
			[]answer{withStatus("InProgress"), withStatus("Succeeded")}, "", 20 * time.Second},
		"action, failed": {"", "POST", arm.Updating, withOperationLink(202, ""), nil, []answer{withStatus("InProgress"), quota},
			"QuotaExceeded", 20 * time.Second},
		"action, without a URL": {"its object reads the result, and does not repeat it at once", "POST", arm.Updating, answer{status: 202},
			nil, nil, "", 10 * time.Second},
		"action, without a URL, and a delay": {"Azure names the time", "POST", arm.Updating,
			answer{status: 202, header: map[string]string{"Retry-After": "30"}}, nil, nil, "", 30 * time.Second},
		"action, with a URL that is too long": {"it is not used", "POST", arm.Updating,
			answer{status: 202, header: map[string]string{"Location": operationURL + "?" + strings.Repeat("t", 8<<10)}}, nil, nil, "",
			10 * time.Second},
		"action, at another host": {"its URL is not used", "POST", arm.Updating, linkedAway(202, "Location", ""), nil, nil,
			client.CodeForeignURL, 10 * time.Second},
		"action, without content at the URL": {"it is over", "POST", arm.Updating, withOperationLink(202, ""), nil,
			[]answer{withStatus("InProgress"), {status: 204}}, "", 20 * time.Second},
		"action, without a status at last": {"one answer may lack it", "POST", arm.Updating, withOperationLink(202, ""), nil,
			[]answer{{status: 200, body: `{"id":"x"}`}, withStatus("InProgress"), {status: 200}, {status: 200}, withStatus("Succeeded")}, "",
			50 * time.Second},
		"action, never with a status": {"its end cannot be seen", "POST", arm.Updating, withOperationLink(202, ""), nil,
			[]answer{{status: 200, body: `{"id":"x","properties":{}}`}}, client.CodeInvalidAnswer, 30 * time.Second},
		"action, accepted at the URL": {"the HTTP status means that it continues", "POST", arm.Updating, withOperationLink(202, ""), nil,
			[]answer{{status: 202}, {status: 202}, {status: 202}, {status: 202}, withStatus("Succeeded")}, "", 50 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				azure := &script{asked: map[string]int{},
					answers: map[string][]answer{test.verb + " vm": {test.put}, "GET vm": test.looks, "GET op": test.polls}}
				c := azure.newClient(t)
				cache := observe.NewCache(systemClock{}, 10*time.Second, 0)
				o := New(Options{Clock: systemClock{}, Log: logr.Discard(), Reader: &observe.Reader{Cache: cache, MaxParallel: 4}})
				defer o.Stop()
				before := cache.NewObservation(observe.Observed{ID: machine}, false)
				woken, ended := make(chan struct{}), "-"
				op := operationOn(machine)
				op.Client, op.State, op.Method, op.Context = c, test.state, test.verb, o.BackgroundContext(t.Context())
				op.Action = test.verb == "POST"
				op.OnEnd = func(_ time.Duration, err error) {
					if cache.IsCurrent(before) {
						t.Error("an outdated read is returned when waiting objects are woken")
					}
					ended = ""
					var answer *arm.Error
					if errors.As(err, &answer) {
						ended = answer.Code
					}
				}
				op.AddWaiter("object", func() { close(woken) })
				o.Begin(op, false)
				begun := time.Now()
				o.Send(op, func() (*client.Response, error) {
					return c.Do(t.Context(), client.Request{Method: test.verb, ID: machine, APIVersion: "1"})
				})
				select {
				case <-woken:
				case <-time.After(time.Hour):
				}
				if took := time.Since(begun); ended != test.ended || took > test.within {
					t.Errorf("%s: ended with %q after %s, want %q within %s; requests %v", test.reason, ended, took, test.ended,
						test.within, azure.asked)
				}
				if o.FindOperation(op.Key) != nil {
					t.Error("it is still running")
				}
				if op.Action && test.polls == nil && ended == "" && time.Since(begun) < test.within {
					t.Errorf("%s: ended after %s", test.reason, time.Since(begun))
				}
				if azure.asked["another host"] > 0 {
					t.Errorf("%s: another host got a request with the token", test.reason)
				}
			})
		})
	}
}

// TestFollowedOperationIsReadWithoutReadOptions: reads that syncs share must not answer for a followed operation.
func TestFollowedOperationIsReadWithoutReadOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := answer{status: 404, body: `{"error":{"code":"ResourceNotFound"}}`}
		azure := &script{asked: map[string]int{},
			answers: map[string][]answer{"PUT vm": {withOperationLink(200, strings.ReplaceAll(resource, "STATE", "Updating"))},
				"GET vm": {withProvisioningState("Succeeded")}, "GET op": {withStatus("InProgress")}, "GET resources": {gone}}}
		c := azure.newClient(t)
		o := New(Options{Clock: systemClock{}, Log: logr.Discard(),
			Reader: &observe.Reader{Cache: observe.NewCache(systemClock{}, 10*time.Second, time.Hour), MaxParallel: 4}})
		defer o.Stop()
		woken, op := make(chan struct{}), operationOn(machine)
		op.Client, op.State, op.Method = c, arm.Updating, "PUT"
		op.Context = o.BackgroundContext(t.Context())
		op.AddWaiter("object", func() { close(woken) })
		o.Begin(op, false)
		begun := time.Now()
		o.Send(op, func() (*client.Response, error) {
			return c.Do(t.Context(), client.Request{Method: "PUT", ID: machine, APIVersion: "1"})
		})
		<-woken
		if took := time.Since(begun); took > 12*time.Second {
			t.Errorf("the end of an update at 12 s is noticed after %s; requests %v", took, azure.asked)
		}
	})
}

// TestUnansweredCreationIsAbsent reads a resource while the PUT of its creation has no answer yet: no request is needed.
func TestUnansweredCreationIsAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		azure := &script{asked: map[string]int{},
			answers: map[string][]answer{"PUT vm": {withOperationLink(201, strings.ReplaceAll(resource, "STATE", "Creating"))},
				"GET vm": {withProvisioningState("Creating")}}}
		c := azure.newClient(t)
		reader := &observe.Reader{Cache: observe.NewCache(systemClock{}, 10*time.Second, 0), MaxParallel: 4}
		o := New(Options{Clock: systemClock{}, Log: logr.Discard(), Reader: reader})
		defer o.Stop()
		look := func() bool {
			return reader.Read(t.Context(), c, []arm.ID{machine}, 10*time.Second, observe.ReadOptions{})[machine.Key()].Exists
		}
		op := operationOn(machine)
		op.Client, op.State, op.Method, op.Context = c, arm.Creating, "PUT", o.BackgroundContext(t.Context())
		o.Begin(op, false)
		o.Send(op, func() (*client.Response, error) {
			if look() {
				t.Error("it exists before Azure's answer")
			}
			return c.Do(t.Context(), client.Request{Method: "PUT", ID: machine, APIVersion: "1"})
		})
		if !look() {
			t.Error("it is absent after Azure has accepted its creation")
		}
		if asked := azure.asked["GET vm"]; asked != 0 {
			t.Errorf("it was read %d times", asked)
		}
	})
}

// TestIdleOperationIsNotChecked begins an operation that usually takes 40 s; it expects that it is not polled while no dependant can
// continue.
func TestIdleOperationIsNotChecked(t *testing.T) {
	const s = time.Second
	for name, test := range map[string]struct {
		reason string
		// at lists the times of SetIdleUntil, idle the ends, counted from the beginning.
		at, idle []time.Duration
		// The first check is between after and before, counted from the beginning.
		after, before time.Duration
	}{
		"nothing":  {"it is checked when it can be over", nil, nil, 27 * s, 29 * s},
		"idle":     {"", []time.Duration{0}, []time.Duration{33 * s}, 32 * s, 34 * s},
		"for long": {"failures have to be noticed", []time.Duration{0}, []time.Duration{3600 * s}, 37 * s, 39 * s},
		"longer":   {"the awaited operation takes longer", []time.Duration{0, 20 * s}, []time.Duration{30 * s, 34 * s}, 33 * s, 35 * s},
		"over":     {"the awaited operation ends early", []time.Duration{0, 20 * s}, []time.Duration{35 * s, 20 * s}, 27 * s, 29 * s},
		"over now": {"", []time.Duration{0, 31 * s}, []time.Duration{36 * s, 31 * s}, 31 * s, 34 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				azure := &script{asked: map[string]int{},
					answers: map[string][]answer{"PUT vm": {withOperationLink(201, withProvisioningState("Creating").body)},
						"GET vm": {withProvisioningState("Creating")},
						"GET op": {withStatus("InProgress")}}}
				o := New(Options{Clock: systemClock{}, Log: logr.Discard(),
					Reader: &observe.Reader{Cache: observe.NewCache(systemClock{}, 10*time.Second, 0), MaxParallel: 4}})
				defer o.Stop()
				op := operationOn(machine)
				op.Client, op.State, op.Method, op.Context = azure.newClient(t), arm.Creating, "PUT", o.BackgroundContext(t.Context())
				begun := time.Now()
				o.Begin(op, false)
				o.Send(op, func() (*client.Response, error) {
					return op.Client.Do(t.Context(), client.Request{Method: "PUT", ID: machine, APIVersion: "1"})
				})
				for i, at := range test.at {
					<-time.After(at - time.Since(begun))
					o.SetIdleUntil(op, begun.Add(test.idle[i]), 0)
				}
				asked := func() int {
					azure.mu.Lock()
					defer azure.mu.Unlock()
					return azure.asked["GET vm"]
				}
				<-time.After(test.after - time.Since(begun))
				if asked() != 0 {
					t.Errorf("%s: it was checked within %s", test.reason, test.after)
				}
				<-time.After(test.before - time.Since(begun))
				if asked() == 0 {
					t.Errorf("%s: it was not checked within %s", test.reason, test.before)
				}
			})
		})
	}
}
