package steps

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
	"sigs.k8s.io/cluster-api-provider-azure/internal/pages"
)

// Result is the result of a migration for one object.
type Result struct {
	Object string `json:"object"`
	Before string `json:"before"`
	After  string `json:"after"`
	// Writes is the number of events about changes in Azure since the beginning of the migration.
	Writes int `json:"writes"`
	// Planned has the writes that follow when an observed object is released, or the reason why they are not known. It is empty if there are
	// none, or if the object is not observed.
	Planned string `json:"planned,omitzero"`
}

// absent is the readiness of an object that has none.
const absent = "-"

// writeReasons are the reasons of events about changes in Azure.
var writeReasons = []string{"Created", "Updated", "Repaired", "Deleted"}

func describe(object client.Object) string {
	return fmt.Sprintf("%s %s/%s", object.GetObjectKind().GroupVersionKind().Kind, object.GetNamespace(), object.GetName())
}

// findCondition returns status and reason of a condition.
func findCondition(object *unstructured.Unstructured, name string) (status, reason string) {
	status, reason, _ = readCondition(object, name)
	return status, reason
}

// plannedWrites returns the writes that the condition Drifted of an observed object lists.
func plannedWrites(object *unstructured.Unstructured) string {
	status, _, message := readCondition(object, infrav1.DriftedCondition)
	if status == "" || status == "False" {
		return ""
	}
	return message
}

// readCondition returns status, reason and message of a condition.
func readCondition(object *unstructured.Unstructured, name string) (status, reason, message string) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range conditions {
		if condition, ok := item.(map[string]any); ok && condition["type"] == name {
			status, _ = condition["status"].(string)
			reason, _ = condition["reason"].(string)
			message, _ = condition["message"].(string)
		}
	}
	return status, reason, message
}

// readiness returns the status of the condition Ready. Objects of the established provider without conditions have status.ready.
func readiness(object *unstructured.Unstructured) string {
	if status, _ := findCondition(object, infrav1.ReadyCondition); status != "" {
		return status
	}
	switch ready, found, _ := unstructured.NestedBool(object.Object, "status", "ready"); {
	case found && ready:
		return "True"
	case found:
		return "False"
	default:
		return absent
	}
}

// readReady returns the readiness of every object.
func (m *Move) readReady(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	err := backup.ForEachObject(ctx, m.Client, func(object *unstructured.Unstructured) error {
		out[describe(object)] = readiness(object)
		return nil
	})
	return out, err
}

// readyBefore returns the readiness of an object before the migration.
func (m *Move) readyBefore(name string) string {
	if m.backup == nil { // It was deleted after the upgrade.
		return absent
	}
	return cmp.Or(m.backup.Ready[name], absent)
}

// externallyManageable are the kinds whose objects this provider leaves alone if they have the annotation managed-by.
var externallyManageable = []string{"AzureCluster", "AzureManagedCluster", "AzureManagedControlPlane", "AzureASOManagedCluster"}

// isExternallyManaged reports whether another manager reconciles the object, so that nothing changes with the migration.
func isExternallyManaged(object *unstructured.Unstructured) bool {
	return annotations.IsExternallyManaged(object) && slices.Contains(externallyManageable, object.GetKind())
}

// isReconciledObject reports whether this provider has reconciled the present spec: the condition Ready has a reason of its own, and the
// status was computed for the generation. The established provider stores neither. A paused object is left alone: paused has the Clusters
// whose spec pauses them.
func isReconciledObject(object *unstructured.Unstructured, paused map[string]bool) bool {
	_, isPaused := object.GetAnnotations()[clusterv1.PausedAnnotation]
	isPaused = isPaused || paused[object.GetNamespace()+"/"+object.GetLabels()[clusterv1.ClusterNameLabel]]
	if status, _ := findCondition(object, clusterv1.PausedCondition); status == "True" {
		return isPaused
	}
	_, reason := findCondition(object, infrav1.ReadyCondition)
	observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return reason != "" && reason != infrav1.NotCheckedYetReason && observed == object.GetGeneration()
}

// waitingFor returns the objects that this provider has not reconciled, and those that were Ready before and are not.
func (m *Move) waitingFor(ctx context.Context) ([]string, error) {
	paused, err := m.listPaused(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	err = backup.ForEachObject(ctx, m.Client, func(object *unstructured.Unstructured) error {
		name := describe(object)
		if isExternallyManaged(object) {
			return nil
		}
		if !isReconciledObject(object, paused) {
			out = append(out, name+" is not reconciled")
		} else if m.readyBefore(name) == "True" && readiness(object) != "True" {
			out = append(out, name+" is not Ready")
		}
		return nil
	})
	return out, err
}

func (m *Move) isReconciled(ctx context.Context) (bool, error) {
	waiting, err := m.waitingFor(ctx)
	return len(waiting) == 0, err
}

// waitReconciled waits until every object was reconciled, and until those that were Ready before are Ready.
func (m *Move) waitReconciled(ctx context.Context) error {
	var waiting []string
	shown := ""
	// The timeout does not cut a look short, so that the error can name the objects.
	err := wait.PollUntilContextTimeout(ctx, m.Poll, m.Timeout, true, func(context.Context) (bool, error) {
		var err error
		if waiting, err = m.waitingFor(ctx); err != nil {
			return false, err
		}
		if text := fmt.Sprintf("waiting for %d objects", len(waiting)); len(waiting) > 0 && text != shown {
			shown = text
			fmt.Fprintf(m.Out, "      %s, such as: %s\n", text, waiting[0])
		}
		return len(waiting) == 0, nil
	})
	if err != nil && len(waiting) > 0 {
		return fmt.Errorf("%s: %w", strings.Join(waiting[:min(len(waiting), 10)], ", "), err)
	}
	return err
}

// listResults returns the result for each object, sorted.
func (m *Move) listResults(ctx context.Context) ([]Result, error) {
	writes, err := m.countWrites(ctx)
	if err != nil {
		return nil, err
	}
	var out []Result
	err = backup.ForEachObject(ctx, m.Client, func(object *unstructured.Unstructured) error {
		name := describe(object)
		out = append(out, Result{Object: name, Before: m.readyBefore(name), After: readiness(object), Writes: writes[name],
			Planned: plannedWrites(object)})
		return nil
	})
	slices.SortFunc(out, func(a, b Result) int { return cmp.Compare(a.Object, b.Object) })
	return out, err
}

// countWrites counts the events about changes in Azure since the beginning of the migration, by object.
func (m *Move) countWrites(ctx context.Context) (map[string]int, error) {
	out := map[string]int{}
	err := pages.ForEach(ctx, m.Client, &corev1.EventList{}, func(object client.Object) error {
		event := object.(*corev1.Event)
		about := event.InvolvedObject
		if !slices.Contains(writeReasons, event.Reason) || !slices.Contains(migration.Kinds, about.Kind) ||
			eventTime(event).Before(m.progress.started) {
			return nil
		}
		times := max(event.Count, 1)
		if event.Series != nil {
			times = max(event.Series.Count, 1)
		}
		out[fmt.Sprintf("%s %s/%s", about.Kind, about.Namespace, about.Name)] += int(times)
		return nil
	})
	return out, err
}

// eventTime returns the time of the last occurrence of an event.
func eventTime(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	default:
		return event.EventTime.Time
	}
}
