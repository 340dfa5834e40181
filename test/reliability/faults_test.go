package reliability_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// lasts is the duration of a fault from its first effect on.
const lasts = 10 * time.Minute

// Bounds of the requests for one resource while a fault lasts. Requests that can succeed by themselves later are
// repeated within 30 s, as while others write the resource, or within two minutes. Requests that need a change by a
// user are repeated after 30 s, a minute and so on. Every reconciliation of every object that needs a read sends it.
const (
	waitingBound = 60
	retriedBound = 45
	stalledBound = 20
	readBound    = 120
)

// disturbance is a fault of the matrix.
type disturbance struct {
	reason string
	rule   fault.Rule
	// methods are those it is tried with, of resource types that begin so.
	methods, types string
	// conditionText is a part of the message of a condition, with alternatives separated by bars, when the fault keeps a stage
	// from its end. It is "" if Azure's answers show no failure.
	conditionText string
	// bound is how many requests of one resource it may strike.
	bound int
}

const (
	writes = "PUT PATCH DELETE POST"
	all    = "GET " + writes
)

func answerRule(status int, code string) fault.Rule {
	return fault.Rule{Kind: fault.Status, Status: status, Code: code, Message: "Injected.", Count: -1}
}

// disturbances are the faults of the matrix.
var disturbances = map[string]disturbance{
	"throttled for a time": {"Azure's answer has the time to wait", fault.Rule{Kind: fault.Throttle, RetryAfter: 20, Count: -1}, all, "",
		"TooManyRequests|throttle", waitingBound},
	"throttled": {"Azure does not set the time to wait", answerRule(429, "TooManyRequests"), all, "",
		"TooManyRequests|throttle", waitingBound},
	"retryable": {"another operation is in the way", answerRule(429, "RetryableErrorDueToAnotherOperation"), writes, "",
		"RetryableErrorDueToAnotherOperation", waitingBound},
	"another operation": {"another operation is in the way", answerRule(409, "AnotherOperationInProgress"), writes, "",
		"AnotherOperationInProgress", waitingBound},
	"precondition": {"another client always writes first", answerRule(412, "PreconditionFailed"), writes, "", "PreconditionFailed",
		waitingBound},
	"500": {"a failure of Azure", answerRule(500, "InternalServerError"), all, "", "InternalServerError", retriedBound},
	"502": {"a failure of Azure", answerRule(502, "BadGateway"), all, "", "BadGateway", retriedBound},
	"503": {"a failure of Azure", answerRule(503, "ServiceUnavailable"), all, "", "ServiceUnavailable", retriedBound},
	"reset before acceptance": {"the connection is cut, nothing is done", fault.Rule{Kind: fault.Reset, Count: -1}, all, "", "onnection",
		retriedBound},
	"reset after acceptance": {"it is done, the answer is lost", fault.Rule{Kind: fault.Lost, Count: -1}, all, "", "onnection",
		retriedBound},
	"slow body": {"the answer takes longer than all timeouts", fault.Rule{Kind: fault.SlowBody, Seconds: 90, Count: -1}, all,
		"", "onnection", retriedBound},
	"truncated body": {"the answer breaks off", fault.Rule{Kind: fault.Truncate, Count: -1}, all, "", "onnection", retriedBound},
	"operation Failed": {"accepted, and fails", fault.Rule{Kind: fault.Fail, Code: "InternalExecutionError", Count: -1}, writes, "",
		"InternalExecutionError", retriedBound},
	"operation stuck": {"accepted, and does not end", fault.Rule{Kind: fault.Stuck, Count: -1}, writes, "", "", waitingBound},
	"operation Canceled": {"accepted, and given up", fault.Rule{Kind: fault.Cancel, Count: -1}, writes, "",
		"OperationPreempted|CanceledAndSuperseded", waitingBound},
	"404 after 201": {"the new resource is not seen yet", fault.Rule{Kind: fault.Unseen, Seconds: 20, Count: -1}, "PUT", "", "",
		waitingBound},
	"stale reads":        {"reads show the state of up to a minute ago", fault.Rule{Kind: fault.Stale, Count: -1}, "GET", "", "", readBound},
	"token refused once": {"the next request has a token", fault.Rule{Kind: fault.Token}, all, "", "", 1},
	"token expires on its way": {"the next request has a token", fault.Rule{Kind: fault.Token, Code: "ExpiredAuthenticationToken"}, all, "",
		"", 1},
	"token refused": {"no token is taken", fault.Rule{Kind: fault.Token, Count: -1}, all, "", "InvalidAuthenticationToken",
		stalledBound},
	"quota": {"the quota is used up", answerRule(409, "QuotaExceeded"), "PUT", "", "QuotaExceeded", stalledBound},
	"size": {"the size is not offered", answerRule(409, "SkuNotAvailable"), "PUT", "Microsoft.C", "SkuNotAvailable",
		stalledBound},
	"allocation": {"the zone has no machine left", fault.Rule{Kind: fault.Allocate, Code: "ZonalAllocationFailed", Count: -1},
		"PUT", "Microsoft.C", "ZonalAllocationFailed", stalledBound},
	"lock": {"a lock forbids it", answerRule(409, "ScopeLocked"), writes, "", "ScopeLocked", stalledBound},
	"policy": {"a policy of the company forbids it", answerRule(403, "RequestDisallowedByPolicy"), "PUT PATCH", "",
		"RequestDisallowedByPolicy", stalledBound},
}

// operation is a type of requests: to resources of a type and lists of them, or to something else that Azure serves.
type operation struct{ method, resourceType string }

// countOperations returns the requests since a mark by operation, each with how many resources they were for.
func (w *world) countOperations(from int) map[operation]int {
	out, seen := map[operation]int{}, map[string]bool{}
	for _, request := range w.Azure.Requests()[from:] {
		path, _, _ := strings.Cut(request.URL, "?")
		id, err := store.ParseID(path)
		if err != nil || id.Type() == "" {
			continue
		}
		if request.Method == http.MethodPost && id.IsCollection() {
			id = id.Parent() // an action
		}
		if key := strings.ToLower(request.Method + id.String()); !seen[key] {
			seen[key] = true
			out[operation{request.Method, id.Type()}]++
		}
	}
	return out
}

// faultRule returns the fault for an operation. What Azure serves without keeping it has a path and no type.
func (o operation) faultRule(of fault.Rule, kept map[string]bool) fault.Rule {
	of.Method = o.method
	if kept[o.resourceType] {
		of.Type = o.resourceType
		return of
	}
	of.ID = "*/" + strings.ReplaceAll(o.resourceType, "/", "*/") + "*"
	return of
}

// cell is a fault at an operation, in the first stage of a story that has it.
type cell struct {
	name, story string
	stages      []stage
	// want is the end of the last stage.
	want virtual.State
	fault.Rule
	conditionText string
	// bound is how many requests it may strike.
	bound int
}

// learnOperations returns the operations of a story, and how its stages end.
func learnOperations(t *testing.T, story string, stages []stage) (cells []cell) {
	synctest.Test(t, func(t *testing.T) {
		w, known, kept := newWorld(t, 0), map[operation]bool{}, map[string]bool{}
		for i, stage := range stages {
			mark := len(w.Azure.Requests())
			stage.play(w)
			w.waitUntilStable()
			found, want := w.countOperations(mark), w.ReadState()
			for o := range found {
				kept[o.resourceType] = kept[o.resourceType] || o.method == http.MethodPut
			}
			for o, resources := range found {
				if known[o] {
					continue
				}
				known[o] = true
				for name, d := range disturbances {
					if !slices.Contains(strings.Fields(d.methods), o.method) || !strings.HasPrefix(o.resourceType, d.types) ||
						d.rule.Kind == fault.Unseen && !kept[o.resourceType] {
						continue
					}
					bound := d.bound
					if o.method == http.MethodGet {
						bound = max(bound, readBound)
					}
					if d.rule.Count >= 0 {
						bound = 1
					} else {
						bound *= resources
					}
					cells = append(cells, cell{
						name: fmt.Sprintf("%s %s %s", o.method, o.resourceType, name), story: story,
						stages: stages[:i+1], want: want, Rule: o.faultRule(d.rule, kept), conditionText: d.conditionText, bound: bound,
					})
				}
			}
		}
	})
	return cells
}

// TestFaultMatrix plays stories in which every type of request meets every fault, for ten minutes. Meanwhile a
// condition names Azure's code or the cause where the fault prevents the cluster from matching its spec, and requests
// are few. After the fault, Kubernetes and Azure reach the same state as without it.
//
//	go test ./test/reliability -run FaultMatrix -v -every 1
func TestFaultMatrix(t *testing.T) {
	cells := map[string]cell{}
	for name, story := range allStories() {
		if !story.sample && !isWide() {
			continue
		}
		for _, c := range learnOperations(t, name, story.stages) {
			// The story that comes to it first is the cheapest.
			if other, has := cells[c.name]; !has ||
				cmp.Or(cmp.Compare(len(c.stages), len(other.stages)), strings.Compare(c.story, other.story)) < 0 {
				cells[c.name] = c
			}
		}
	}
	names := slices.Sorted(maps.Keys(cells))
	var tried, passed, missed atomic.Int64
	for _, name := range names {
		// Which reads there are depends a little on which answer comes first. The sample does not.
		if !isDrawn(name) {
			continue
		}
		c := cells[name]
		t.Run(strings.ReplaceAll(c.name, "/", "."), func(t *testing.T) {
			t.Parallel()
			tried.Add(1)
			struck := false
			synctest.Test(t, func(t *testing.T) { struck = c.playCell(t) })
			switch {
			case t.Failed():
			case !struck:
				missed.Add(1)
			default:
				passed.Add(1)
			}
		})
	}
	t.Cleanup(func() {
		t.Logf("%d cells: %d tried, %d passed, %d never struck", len(names), tried.Load(), passed.Load(), missed.Load())
	})
}

// playCell plays a cell. struck reports whether the fault hit a request.
func (c cell) playCell(t *testing.T) (struck bool) {
	w := newWorld(t, 0)
	last := len(c.stages) - 1
	for _, stage := range c.stages[:last] {
		stage.play(w)
		w.waitUntilStable()
	}
	if err := w.Sim.AddFault(c.Rule); err != nil {
		t.Fatal(err)
	}
	var since time.Time
	over, strikes, look := false, 0, w.Meanwhile
	end := func() {
		if uses := w.Sim.Faults(); !over && len(uses) > 0 {
			strikes = uses[0].Done
		}
		over = true
		w.Sim.ClearFaults()
		w.clearFailed()
	}
	w.Meanwhile = func() {
		look()
		if over {
			return
		}
		if since.IsZero() {
			if w.Sim.Faults()[0].Done > 0 {
				since = time.Now()
			}
			return
		}
		if time.Since(since) < lasts {
			return
		}
		if messages := w.wrongConditions(); c.conditionText != "" && c.Count < 0 &&
			!slices.ContainsFunc(strings.Split(c.conditionText, "|"), func(part string) bool { return strings.Contains(messages, part) }) {
			t.Errorf("after %s no condition names %q:\n%s", lasts, c.conditionText, messages)
		}
		end()
	}
	c.stages[last].play(w)
	end()
	w.waitUntilStable()
	if strikes > c.bound {
		t.Errorf("%d requests met the fault, want %d at most", strikes, c.bound)
	}
	for i, difference := range listDifferences(c.want, w.ReadState()) {
		if i == 10 {
			t.Error("and more")
			break
		}
		t.Errorf("%s: %s", c.story, difference)
	}
	return strikes > 0
}

// clearFailed deletes VMs that have failed, like a user: they are created only once.
func (w *world) clearFailed() {
	for _, short := range w.editableResources() {
		state := harness.FindString(w.readResource(short), "properties.provisioningState")
		if strings.HasSuffix(path.Dir(short), "/Microsoft.Compute/virtualMachines") && (state == store.Failed || state == "Canceled") {
			w.sendAsUser(http.MethodDelete, short, nil)
		}
	}
}

// wrongConditions returns the conditions about differences from the spec.
func (w *world) wrongConditions() string {
	var out []string
	for _, list := range []client.ObjectList{
		&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{}, &infrav1.AzureMachinePoolMachineList{},
		&infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{},
		&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{},
	} {
		if err := w.Kubernetes.List(w.T.Context(), list); err != nil {
			w.T.Fatal(err)
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(harness.Conditioned)
			for _, condition := range object.GetConditions() {
				// What worked and cannot be changed now stays True, with a message.
				if condition.Status != metav1.ConditionTrue || condition.Message != "" {
					out = append(out, fmt.Sprintf("%T %s %s: %s: %s", object, object.GetName(), condition.Type, condition.Reason, condition.Message))
				}
			}
			return nil
		})
	}
	return strings.Join(out, "\n")
}
