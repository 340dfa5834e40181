package virtual

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/planned"
)

// faulty are the packages, or tests of a package, whose steps with faults of Azure are compared, with the faults. In other tests such a step is not
// compared.
var faulty = map[string]string{
	"test/integration/changes": "writes of changes are refused",
	"test/integration/rates":   "Azure refuses or throttles requests in every story",
	"test/integration/rollout": "Azure refuses deletions and reads",
	"test/virtual/alerts":      "Azure has a fault in most stories",
	"test/virtual/refused":     "Azure refuses sizes and versions",
}

// faults are the faults of Azure at one time.
type faults struct {
	// acted changes when a fault acts. changed changes when one changes Azure, or hides from the manager that Azure was changed. unread changes when
	// a read is refused.
	acted, changed, unread string
	// pending is set if a fault or a right may still keep managers from what a plan has.
	pending bool
	// hidden is set if reads do not show the Azure of which a plan is made.
	hidden bool
}

// refusing are the kinds of faults that answer a request with an error and change nothing.
var refusing = []fault.Kind{fault.Status, fault.Throttle, fault.Reset, fault.Quota, fault.Capacity, fault.Token}

// hiding are the kinds whose answers differ from the state of Azure.
var hiding = []fault.Kind{fault.Stale, fault.Unseen, fault.Omit}

// readFaults returns the faults now.
func (p *plans) readFaults() (out faults) {
	var acted, changed, unread strings.Builder
	for _, each := range p.scenario.Sim.Faults() {
		fmt.Fprint(&acted, each.Number, " ", each.Done, " ")
		if !slices.Contains(refusing, each.Kind) {
			fmt.Fprint(&changed, each.Number, " ", each.Done, " ")
		}
		if each.Method == "" || each.Method == http.MethodGet {
			fmt.Fprint(&unread, each.Number, " ", each.Done, " ")
		}
		out.pending = out.pending || !each.Spent && each.Kind != fault.Modify
		out.hidden = out.hidden || slices.Contains(hiding, each.Kind) || each.Kind == fault.Modify && each.Done > 0
	}
	out.acted, out.changed, out.unread = acted.String(), changed.String(), unread.String()
	// A plan knows no rights of the manager's identity.
	out.pending = out.pending || p.options.EnforceRBAC || p.scenario.Refuse != nil
	out.hidden = out.hidden || out.pending && !p.faulty
	return out
}

// isOutdated reports whether a step was planned before a fault, or before a schedule has stopped or started VMs, so that a write may differ from
// its plan. A fault that only refuses requests leaves the plan as it is, unless the manager answers it with another write.
func (p *plans) isOutdated(of *step, write *planned.Write) bool {
	now := p.readFaults()
	switch {
	case of.skipped, !p.faulty && now.acted != of.faults.acted:
		return false
	case of.disturbed:
		return of.afterFault && !now.hidden && p.isIdle()
	}
	if write == nil || of.Knows(*write) {
		return now.changed != of.faults.changed
	}
	return now.changed != of.faults.changed || now.acted != of.faults.acted || p.hasScheduleChanged(of.began)
}

// interruptStep ends a step because of a fault or a schedule. What was left of it belongs to the next plan.
func (p *plans) interruptStep() {
	if !p.step.disturbed {
		p.counts[stepFault]++
		p.report(&planned.Step{Unplanned: p.step.Unplanned}, "before a fault")
		p.forgetStates()
		p.before = append(p.before, earlier{step: p.step})
		p.changed = time.Now()
	}
	p.step, p.afterFault = nil, true
}

// isChanged reports whether faults have changed what is left of a step: a plan of the state now has other writes then, and a manager may do without
// what it cannot read.
func (f faults) isChanged(now faults) bool { return f.changed != now.changed || f.unread != now.unread }
