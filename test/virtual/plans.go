package virtual

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/planned"
)

// plans check that plans name the writes of the managers of a scenario. A story is a sequence of steps: each change by the test, and each
// start of a manager, begins one. Before the first write of a step the rest of the step is planned. Managers may then make planned writes
// only, and when the step ends all of them have been made, or a plan still has those that are left.
type plans struct {
	scenario *Scenario
	options  server.Options
	test     string
	// off means that nothing is planned, sampled that only some steps are.
	off, sampled bool
	// faulty means that steps with faults are compared.
	faulty bool
	// turn has a value while nothing plans. A mutex would stop the time of the bubble.
	turn chan struct{}

	// step is the current one; nil if nothing was planned since the last change.
	step *step
	// before are the states before the last change, and between the changes of its moment. It is empty if nothing was planned soon before.
	before []earlier
	// sent are writes that Azure has not answered.
	sent []planned.Write
	// changing is how many changes are under way, and free is closed when there are none.
	changing int
	free     chan struct{}
	// afterFault is set if the next step begins because of a fault.
	afterFault bool
	// changed is when the step began. unseen is set if Azure was changed then: managers see that at their next reconciliation.
	changed time.Time
	unseen  bool
	// touching is set while an object is changed without effect.
	touching bool
	// running is how many managers run.
	running int

	problems []string
	// known are the plans so far, by the state for which they were computed.
	known map[[sha256.Size]byte][]planned.Write
	// catalogs are the SKU catalogs of all plans.
	catalogs *facts.Catalogs
	// counts are how many steps ended in which way.
	counts map[string]int
}

// step is a step with the faults of Azure when it was planned.
type step struct {
	planned.Step
	// disturbed is set if it cannot be planned, and skipped if it is not in the sample.
	disturbed, skipped bool
	// afterFault is set if it began because of a fault.
	afterFault bool
	faults     faults
	// began is when it was planned.
	began time.Time
}

// The ways in which steps end.
const (
	stepEqual       = "equal"
	stepInterrupted = "interrupted"
	stepQuiet       = "quiet"
	stepDisturbed   = "disturbed"
	stepSkipped     = "skipped"
	// stepFault is one that ended because of a fault of Azure.
	stepFault = "fault"
	// stepLate is one that was over before a write of it was made.
	stepLate = "late"
)

// planTimeout is the time within which a manager that was not interrupted has to make the planned writes.
const planTimeout = 2 * time.Hour

func newPlans(s *Scenario, test string, options server.Options) *plans {
	p := &plans{scenario: s, options: options, test: test, faulty: findTest(faulty, testFolder(), test) != "", off: FindUnplanned(testFolder(), test) != "",
		sampled: FindSampled(testFolder(), test) != "", turn: make(chan struct{}, 1), changed: time.Now(), counts: map[string]int{},
		known: map[[sha256.Size]byte][]planned.Write{}, catalogs: facts.NewCatalogs(planned.CatalogLifetime, time.Now)}
	p.turn <- struct{}{}
	return p
}

// lock returns the function that unlocks.
func (p *plans) lock() func() {
	<-p.turn
	return func() { p.turn <- struct{}{} }
}

// plan returns the writes that a manager would make now; ok is false while an operation of Azure is under way, unless busy allows that.
func (p *plans) plan(busy bool) (writes []planned.Write, ok bool) {
	if p.scenario.Observe {
		return nil, true // A plan does not know this flag of the manager.
	}
	moment, ok := p.take(busy)
	if !ok {
		return nil, false
	}
	defer moment.Close()
	return p.planMoment(moment), true
}

// take returns the state now; ok is false while an operation of Azure is under way, unless busy allows that. A write that Azure has not
// answered, such as the last one of a manager that was killed, may begin an operation at any time, so the copy of the state decides.
func (p *plans) take(busy bool) (moment *planned.Moment, ok bool) {
	if !busy && !p.isIdle() {
		return nil, false
	}
	moment, err := p.world().Take(context.Background(), p.scenario.Azure.SubscriptionID)
	if err != nil {
		p.problems = append(p.problems, err.Error())
		return nil, false
	}
	if !busy && !moment.IsIdle() {
		moment.Close()
		return nil, false
	}
	return moment, true
}

// planMoment returns the writes that a manager would have made at the moment.
func (p *plans) planMoment(moment *planned.Moment) []planned.Write {
	writes, err := moment.Plan(context.Background())
	if err != nil {
		p.problems = append(p.problems, err.Error())
	}
	return writes
}

// PlanOptions returns the options of a plan of all objects, as kubectl capz plan --all-namespaces has them. subscription is the default one.
func (s *Scenario) PlanOptions(subscription string) preview.Options {
	s.T.Helper()
	options, done, err := s.plans.world().NewOptions(s.T.Context(), subscription)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(done)
	return options
}

func (p *plans) world() planned.World {
	return planned.World{Kubernetes: p.scenario.Kubernetes, Azure: p.scenario.Sim, Options: p.options, Endpoint: harness.VirtualEndpoint,
		Features: p.scenario.Features, Known: p.known, Catalogs: p.catalogs}
}

// begin plans the rest of the current step, unless that was done, and returns the step. A write is sent then.
func (p *plans) begin(request *http.Request, body []byte) *step {
	if p.off {
		return nil
	}
	unlock := p.lock()
	for p.changing > 0 {
		free := p.free
		unlock()
		<-free
		unlock = p.lock()
	}
	defer unlock()
	write := planned.NewWrite(request.Method, request.URL.Path, body)
	if p.step != nil && p.isOutdated(p.step, &write) {
		p.interruptStep()
	}
	if p.step == nil {
		p.step = p.newStep()
	}
	p.sent = append(p.sent, write)
	return p.step
}

func (p *plans) newStep() *step {
	out := &step{faults: p.readFaults(), afterFault: p.afterFault, began: time.Now()}
	p.afterFault = false
	// While a plan is computed Azure does not change: operations under way do not end, and nothing that comes after them is planned.
	if out.disturbed = out.faults.hidden || !p.isIdle(); out.disturbed {
		return out
	}
	if out.skipped = !p.isSampled(); out.skipped {
		return out
	}
	plan, ok := p.plan(false)
	out.disturbed, out.Step = !ok, planned.NewStep(plan)
	return out
}

// end adds a write that Azure has answered.
func (p *plans) end(of *step, request *http.Request, body []byte, accepted bool) {
	if p.off {
		return
	}
	defer p.lock()()
	write := planned.NewWrite(request.Method, request.URL.Path, body)
	if at := slices.IndexFunc(p.sent, write.Equal); at >= 0 {
		p.sent = slices.Delete(p.sent, at, at+1)
	}
	switch {
	case !accepted || p.step == nil:
	case p.step == of && !p.step.isPlanned():
	case p.step == of && !p.step.Knows(write) && time.Since(p.changed) < soon && p.knewBefore(write):
		// The manager has read the objects before they were changed. What it does then is planned when it does it.
		p.counts[stepLate]++
		p.step = nil
	case p.step == of:
		p.step.Add(write)
	default:
		p.step.Drop(write)
	}
}

// touch does something that has the managers reconcile an object and changes nothing else.
func (p *plans) touch(do func()) {
	set := func(touching bool) {
		defer p.lock()()
		p.touching, p.unseen = touching, false
	}
	set(true)
	defer set(false)
	do()
}

// change ends the step before something is changed, in Azure or in Kubernetes. Managers write nothing until the returned function is called.
func (p *plans) change(azure bool) (done func()) {
	if p.off {
		return func() {}
	}
	defer p.lock()()
	if p.touching {
		return func() {}
	}
	p.rememberState()
	p.endStep()
	// The moment counts from the beginning of the change: another change may follow before the write of this one has returned.
	p.unseen, p.changed = azure, time.Now()
	if p.changing++; p.changing == 1 {
		p.free = make(chan struct{})
	}
	return func() {
		defer p.lock()()
		p.changed = time.Now()
		if p.changing--; p.changing == 0 {
			close(p.free)
		}
	}
}

// start plans what a manager that starts will do.
func (p *plans) start() {
	if p.off {
		return
	}
	defer p.lock()()
	p.endStep()
	p.changed, p.unseen = time.Now(), false
	p.running++
	p.step = p.newStep()
}

func (p *plans) stop() {
	defer p.lock()()
	p.running--
}

// endStep compares the writes of the step.
func (p *plans) endStep() {
	ended, lasted, now := p.step, time.Since(p.changed), p.readFaults()
	p.step, p.afterFault = nil, false
	switch {
	case now.hidden || ended != nil && (ended.disturbed || !p.faulty && ended.faults.acted != now.acted):
		p.counts[stepDisturbed]++
	case ended != nil && ended.skipped:
		p.counts[stepSkipped]++
	case ended == nil && (p.running == 0 || p.unseen || lasted < time.Minute || now.pending):
		return
	case ended == nil && !p.isSampled():
		p.counts[stepSkipped]++
	case ended == nil:
		p.counts[stepQuiet]++
		if plan, ok := p.plan(true); ok {
			p.compare(&planned.Step{}, plan, false, "nothing was written")
		}
	case ended.faults.isChanged(now):
		p.counts[stepFault]++
		p.report(&planned.Step{Unplanned: ended.Unplanned}, "before a fault")
	case len(ended.Unplanned) > 0 || len(ended.Left) == 0:
		p.counts[stepEqual]++
		p.report(&ended.Step, "at the end of a step")
	default:
		p.counts[stepInterrupted]++
		if lasted == 0 {
			return
		}
		if plan, ok := p.plan(false); ok {
			p.compare(&ended.Step, plan, now.pending || ended.faults.acted != now.acted, "the step was interrupted")
		}
	}
}

func (s *step) isPlanned() bool { return !s.disturbed && !s.skipped }

// isIdle reports whether no operation of Azure is under way.
func (p *plans) isIdle() bool {
	return !slices.ContainsFunc(p.scenario.Sim.Operations(), func(op *store.Operation) bool { return op.Ended.IsZero() })
}

// isUnderWay reports whether an operation of Azure does an action on a resource.
func (p *plans) isUnderWay(w planned.Write) bool {
	return w.Method == http.MethodPost && slices.ContainsFunc(p.scenario.Sim.Operations(), func(op *store.Operation) bool {
		return op.Ended.IsZero() && w.Path == strings.ToLower(op.ResourceID)+"/"+strings.ToLower(op.Verb)
	})
}

// soon is how long a manager may take from the decision about a write to the write. A write that is planned for later comes with the time, as
// those of a schedule do.
const soon = time.Minute

// compare checks that a plan has the writes that are left of a step. refused is set if Azure has refused something meanwhile.
func (p *plans) compare(ended *planned.Step, now []planned.Write, refused bool, what string) {
	now = slices.DeleteFunc(now, func(w planned.Write) bool { return w.After > soon && !planned.Has(ended.Left, w) })
	// Azure may have made a write that it has not answered. It shows the effect of an action only when its operation has ended.
	isSent := func(w planned.Write) bool { return planned.Has(p.sent, w) || p.isUnderWay(w) }
	// A manager may give up a write that Azure refuses, such as that of an object that is being deleted.
	isGivenUp := func(w planned.Write) bool { return refused && !planned.Has(now, w) }
	left := slices.DeleteFunc(slices.Clone(ended.Left), func(w planned.Write) bool { return isSent(w) || isGivenUp(w) })
	now = slices.DeleteFunc(slices.Clone(now), isSent)
	if diff := planned.Compare(left, now); diff != "" {
		p.problems = append(p.problems, fmt.Sprintf("%s, and a plan differs from what is left (-left +plan):\n%s", what, diff))
	}
}

func (p *plans) report(ended *planned.Step, what string) {
	if diff := ended.Describe(); diff != "" {
		p.problems = append(p.problems, what+": "+diff)
	}
}

// finish lets a manager that still runs make the planned writes, and reports the problems.
func (p *plans) finish() {
	if p.off {
		return
	}
	for end := time.Now().Add(planTimeout); p.isUnfinished() && time.Now().Before(end); {
		WaitForSignal(nil, 10*time.Second)
	}
	defer p.lock()()
	switch {
	case p.step == nil || p.running == 0:
	case p.isHindered(p.step):
		p.endStep()
	case !p.step.isPlanned():
		p.counts[stepDisturbed]++
	default:
		p.counts[stepEqual]++
		p.report(&p.step.Step, "at the end of the story")
	}
	p.step = nil
}

// isHindered reports whether faults of Azure, or rights, may keep managers from what is left of a step.
func (p *plans) isHindered(of *step) bool {
	now := p.readFaults()
	return now.hidden || now.pending || of.faults.isChanged(now) || of.faults.acted != now.acted && !p.faulty
}

func (p *plans) isUnfinished() bool {
	defer p.lock()()
	return p.step != nil && p.running > 0 && len(p.step.Left) > 0 && !p.isHindered(p.step) && len(p.problems) == 0 && !p.scenario.T.Failed()
}

// flush reports the problems so far.
func (p *plans) flush() {
	p.scenario.T.Helper()
	defer p.lock()()
	if !p.off {
		p.scenario.T.Logf("steps by how they compare with their plan: %v", p.counts)
	}
	for _, each := range p.problems {
		p.scenario.T.Errorf("plan: %s", each)
	}
	p.problems = nil
}
