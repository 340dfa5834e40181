package virtual

import (
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/planned"
)

// earlier is a state before a change: a step that was planned, or a moment that is planned if a write needs it.
type earlier struct {
	step   *step
	moment *planned.Moment
	// between is set for a state between two changes of one moment.
	between bool
}

// maxEarlier bounds the states that are kept of one moment.
const maxEarlier = 200

// rememberState keeps the state for writes that managers decide on before a change and make after it. Managers also read the states between the
// changes of one moment.
func (p *plans) rememberState() {
	lasted := time.Since(p.changed)
	if lasted > 0 {
		p.forgetStates()
	}
	switch {
	case len(p.before) == maxEarlier:
	case p.step != nil:
		p.before = append(p.before, p.keepStep(lasted == 0))
	case p.running == 0:
	case lasted == 0:
		p.before = append(p.before, p.takeState(true))
	case lasted < soon && !p.unseen:
		p.before = append(p.before, p.takeState(false))
	}
}

// keepStep returns the state in which the current step began.
func (p *plans) keepStep(between bool) earlier {
	if p.step.skipped {
		return p.takeState(between)
	}
	return earlier{step: p.step, between: between}
}

// takeState returns the state now. between is set for one between two changes of a moment.
func (p *plans) takeState(between bool) earlier {
	if p.scenario.Observe {
		return earlier{step: &step{}, between: between}
	}
	if p.readFaults().hidden || p.isTooLarge() {
		return earlier{step: &step{disturbed: true}, between: between}
	}
	moment, ok := p.take(false)
	if !ok {
		return earlier{step: &step{disturbed: true}, between: between}
	}
	return earlier{moment: moment, between: between}
}

func (p *plans) forgetStates() {
	for _, each := range p.before {
		if each.moment != nil {
			each.moment.Close()
		}
	}
	p.before = nil
}

// knewBefore reports whether a write was planned in a state before the last change, or may have been in one between changes that could not be
// planned.
func (p *plans) knewBefore(write planned.Write) bool {
	for at := len(p.before) - 1; at >= 0; at-- {
		if of := p.stepBefore(at); of.Knows(write) || of.disturbed && p.before[at].between {
			return true
		}
	}
	return false
}

// stepBefore returns the step of an earlier state.
func (p *plans) stepBefore(at int) *step {
	state := &p.before[at]
	if state.step == nil {
		plan := p.planMoment(state.moment)
		state.moment.Close()
		state.step, state.moment = &step{Step: planned.NewStep(plan)}, nil
	}
	return state.step
}
