package status_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

func TestSummarize(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)) }
	condition := func(conditionType, is, reason string, minute int) metav1.Condition {
		return metav1.Condition{Type: conditionType, Status: metav1.ConditionStatus(is), Reason: reason, LastTransitionTime: at(minute)}
	}
	deleted := at(9)
	for name, tc := range map[string]struct {
		reason     string
		conditions []metav1.Condition
		observed   int64
		deleted    *metav1.Time
		want       status.Summary
	}{
		"new": {reason: "An object that was never reconciled is on its way since its creation.", observed: -1,
			want: status.Summary{State: status.StateReconciling, Reason: "None", Since: at(0).Time}},
		"ready": {reason: "It is in order since Ready is True.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "True", "Ready", 3)},
			want:       status.Summary{State: status.StateReady, Reason: "Ready", Since: at(3).Time}},
		"reconciling": {reason: "The condition Reconciling shows since when.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "False", "Creating", 3), condition("Reconciling", "True", "Creating", 4)},
			want:       status.Summary{State: status.StateReconciling, Reason: "Creating", Since: at(4).Time}},
		"stalled": {reason: "A person has to act, although the machine still runs.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "True", "LastSeen", 3), condition("Stalled", "True", "LastSeen", 5)},
			want:       status.Summary{State: status.StateStalled, Reason: "LastSeen", Since: at(5).Time}},
		"newer spec": {reason: "A failure of the former spec is no statement about the new one.", observed: 1,
			conditions: []metav1.Condition{condition("Ready", "False", "Failed", 3), condition("Stalled", "True", "Failed", 5)},
			want:       status.Summary{State: status.StateReconciling, Reason: "Failed", Since: at(3).Time}},
		"newer spec of a ready object": {reason: "Ready became True long before the change.", observed: 1,
			conditions: []metav1.Condition{condition("Ready", "True", "Ready", 3)},
			want:       status.Summary{State: status.StateReconciling, Reason: "Ready"}},
		"newer spec, failed": {reason: "The object is not in order since the first reconciliation of the new spec.", observed: 1,
			conditions: []metav1.Condition{condition("Ready", "True", "LastSeen", 3), condition("Reconciling", "True", "LastSeen", 7)},
			want:       status.Summary{State: status.StateReconciling, Reason: "LastSeen", Since: at(7).Time}},
		"paused": {reason: "Nothing is done for it.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "False", "Failed", 3), condition("Paused", "True", "Paused", 6)},
			want:       status.Summary{State: status.StatePaused, Reason: "Failed", Since: at(6).Time}},
		"deleted": {reason: "The deletion counts more than any condition.", observed: 2, deleted: &deleted,
			conditions: []metav1.Condition{condition("Ready", "False", "DeletionFailed", 3), condition("Stalled", "True", "DeletionFailed", 5)},
			want:       status.Summary{State: status.StateDeleting, Reason: "DeletionFailed", Since: at(9).Time}},
		"drifted": {reason: "A group that differs and is not repaired counts.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "True", "Ready", 3), condition("VMRunning", "True", "Drifted", 4)},
			want:       status.Summary{State: status.StateReady, Reason: "Ready", Since: at(3).Time, Drifted: true}},
		"observed": {reason: "The writes that an observed object waits with have metrics of their own.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "True", "Ready", 3), condition("Drifted", "True", "Drifted", 4)},
			want:       status.Summary{State: status.StateReady, Reason: "Ready", Since: at(3).Time}},
		"stopped": {reason: "A user requested it, and no work is under way.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "False", "StoppedAsRequested", 3), condition("Reconciling", "True", "StoppedAsRequested", 4)},
			want:       status.Summary{State: status.StateStopped, Reason: "StoppedAsRequested", Since: at(4).Time}},
		"stopping": {reason: "The stop is work.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "False", "Stopping", 3), condition("Reconciling", "True", "Stopping", 4)},
			want:       status.Summary{State: status.StateReconciling, Reason: "Stopping", Since: at(4).Time}},
		"observed before its creation": {reason: "Nothing is written for it.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "False", "Observing", 3), condition("Drifted", "True", "Observing", 3), condition("Reconciling", "True", "Observing", 4)},
			want:       status.Summary{State: status.StateObserved, Reason: "Observing", Since: at(4).Time}},
		"observed, waiting": {reason: "The object for which it waits is observed, too.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "False", "WaitingForClusterInfrastructure", 3), condition("Drifted", "Unknown", "Observing", 3)},
			want:       status.Summary{State: status.StateObserved, Reason: "WaitingForClusterInfrastructure", Since: at(3).Time}},
		"foreign reason": {reason: "Reasons of other programs must not become labels.", observed: 2,
			conditions: []metav1.Condition{condition("Ready", "False", "MyOwn", 3)},
			want:       status.Summary{State: status.StateReconciling, Reason: "Other", Since: at(3).Time}},
	} {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Generation: 2, CreationTimestamp: at(0), DeletionTimestamp: tc.deleted}}
			object.Status.Conditions = tc.conditions
			if diff := cmp.Diff(tc.want, status.Summarize(object, tc.observed)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
