package kstatus

import (
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// states are the states that metrics show for each result of kstatus.
var states = map[kstatus.Status]status.State{
	kstatus.CurrentStatus: status.StateReady, kstatus.InProgressStatus: status.StateReconciling, kstatus.FailedStatus: status.StateStalled,
	kstatus.TerminatingStatus: status.StateDeleting,
}

// FindOtherState returns in what the state that metrics show differs from the result of kstatus. A paused object has a state of its own, and
// an object of another provider that this one has not reconciled yet has no observed generation.
func FindOtherState(object Object, computed kstatus.Status) []string {
	of := status.Summarize(object, object.GetObserved().ObservedGeneration)
	paused := of.State == status.StatePaused
	out := contradictionsIf(states[computed] != of.State && !paused && object.GetObserved().ObservedGeneration != 0,
		"its state in metrics is %s, and kstatus returns %s", of.State, computed)
	return append(out, contradictionsIf(of.Reason == "Other", "the reason of Ready is not in the list of reasons for metrics")...)
}
