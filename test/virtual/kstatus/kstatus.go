// Package kstatus compares the state of an object as kstatus computes it, the library of Flux and other tools, with the conditions of
// the object. It has no state of its own and is pure.
package kstatus

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// Object is an object of a kind that has conditions.
type Object interface {
	client.Object
	conditions.Setter
	GetObserved() *infrav1.ObservedStatus
}

// Compute returns an object as tools read it, and its state by kstatus.
func Compute(object client.Object, kind schema.GroupVersionKind) (*unstructured.Unstructured, kstatus.Status, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, "", err
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(kind)
	result, err := kstatus.Compute(u)
	if err != nil {
		return nil, "", err
	}
	return u, result.Status, nil
}

// FindContradictions returns what contradicts the conditions of an object in the state that kstatus computes. An object of another
// provider that this one has not reconciled yet has no observed generation, and contradicts nothing.
func FindContradictions(object Object, computed kstatus.Status) (out []string) {
	ready, observed := conditions.Get(object, infrav1.ReadyCondition), object.GetObserved().ObservedGeneration
	if !object.GetDeletionTimestamp().IsZero() {
		return contradictionsIf(computed != kstatus.TerminatingStatus, "it is being deleted, and kstatus returns %s", computed)
	}
	if observed == 0 {
		return nil
	}
	isReady := ready != nil && ready.Status == "True"
	reconciling, stalled := conditions.IsTrue(object, infrav1.ReconcilingCondition), conditions.IsTrue(object, infrav1.StalledCondition)
	paused := conditions.IsTrue(object, clusterv1.PausedCondition)
	if observed != object.GetGeneration() {
		return contradictionsIf(computed != kstatus.InProgressStatus, "generation %d is not observed, and kstatus returns %s",
			object.GetGeneration(), computed)
	}
	out = append(out, contradictionsIf(computed == kstatus.CurrentStatus && !isReady, "it is not Ready, and kstatus returns %s", computed)...)
	out = append(out, contradictionsIf((computed == kstatus.FailedStatus) != stalled, "Stalled is %t, and kstatus returns %s", stalled, computed)...)
	out = append(out, contradictionsIf(reconciling && stalled, "it is Reconciling and Stalled")...)
	out = append(out, contradictionsIf(!isReady && !reconciling && !stalled && !paused,
		"it is not Ready, and neither Reconciling nor Stalled")...)
	if ready != nil && !isReady && !paused {
		out = append(out, contradictionsIf(status.NeedsAction(ready.Reason) != stalled, "Ready has the reason %s, and Stalled is %t",
			ready.Reason, stalled)...)
	}
	return out
}

func contradictionsIf(contradicts bool, format string, args ...any) []string {
	if !contradicts {
		return nil
	}
	return []string{fmt.Sprintf(format, args...)}
}
