package kstatus

import (
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// results are the results of kstatus for each state that metrics show.
var results = map[status.State]kstatus.Status{
	status.StateReady: kstatus.CurrentStatus, status.StateReconciling: kstatus.InProgressStatus, status.StateStopped: kstatus.InProgressStatus,
	status.StateObserved: kstatus.InProgressStatus, status.StateStalled: kstatus.FailedStatus, status.StateDeleting: kstatus.TerminatingStatus,
}

// FindOtherState returns in what the state that metrics show differs from the result of kstatus. A paused object has a state of its own, and
// an object of another provider that this one has not reconciled yet has no observed generation.
func FindOtherState(object Object, computed kstatus.Status) []string {
	of := status.Summarize(object, object.GetObserved().ObservedGeneration)
	paused := of.State == status.StatePaused
	out := contradictionsIf(results[of.State] != computed && !paused && object.GetObserved().ObservedGeneration != 0,
		"its state in metrics is %s, and kstatus returns %s", of.State, computed)
	return append(out, contradictionsIf(of.Reason == "Other", "the reason of Ready is not in the list of reasons for metrics")...)
}
