package asoresources

import (
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// ConditionGroup returns the condition of a resource that is no longer in a manifest.
func ConditionGroup(arm.ID) string { return infrav1.ResourcesReadyCondition }

var groups = []string{infrav1.ResourcesReadyCondition}

// ReportResources reports the state of an object's manifests and plain objects, and whether all of them are ready.
func ReportResources(obj status.Object, in plan.Input, outcome arm.Outcome,
	plain []infrav1.ASOResourceStatus) (resources []infrav1.ASOResourceStatus, done bool) {
	found := status.GroupConditions(outcome, groups, ConditionGroup)
	resources = resourceStatuses(in, outcome)
	unplaced := plan.ListWaitingForID(in)
	condition := metav1.Condition{Type: infrav1.ResourcesReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	if len(found) > 0 {
		condition = found[0]
	}
	inPlace := func() bool {
		return condition.Status == metav1.ConditionTrue || status.AwaitsServiceOwner(condition.Reason)
	}
	if inPlace() && len(unplaced) > 0 {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, infrav1.WaitingReason, waitMessage(resources)
	}
	late := slices.IndexFunc(plain, func(s infrav1.ASOResourceStatus) bool { return !s.Ready })
	if inPlace() && late >= 0 {
		condition.Status, condition.Reason, condition.Message = metav1.ConditionFalse, plain[late].Reason, describeStatus(plain[late])
	}
	status.SetConditions(obj, nil, []metav1.Condition{condition})
	if obj.GetDeletionTimestamp().IsZero() {
		setMigratedCondition(obj, in)
		setCheckedCondition(obj, in)
	}
	return append(resources, plain...), len(unplaced) == 0 && late < 0 && outcome.IsDone()
}

// ReportDeletion reports the resources of an object while its deletion progresses. It keeps the conditions of the types in keep, Ready and
// ResourcesReady. Ready summarizes those of the types in summarized.
func ReportDeletion(obj reconcile.Object, in plan.Input, outcome arm.Outcome, summarized []string,
	keep ...string) []infrav1.ASOResourceStatus {
	deletion.KeepConditions(obj, append([]string{infrav1.ReadyCondition, infrav1.ResourcesReadyCondition}, keep...)...)
	resources, _ := ReportResources(obj, in, outcome, nil)
	reconcile.SummarizeReady(obj, summarized)
	return resources
}

func describeStatus(status infrav1.ASOResourceStatus) string {
	return status.Resource.Kind + " " + status.Resource.Name + " " + status.Message
}

// waitMessage returns the cause of waiting of the first manifest that has no resource ID yet.
func waitMessage(resources []infrav1.ASOResourceStatus) string {
	for _, status := range resources {
		if status.ID == "" {
			return describeStatus(status)
		}
	}
	return ""
}

// resourceStatuses returns the statuses of the manifests in their order, and then those of resources that are being removed.
func resourceStatuses(in plan.Input, outcome arm.Outcome) []infrav1.ASOResourceStatus {
	shown := map[string]infrav1.ResourceStatus{}
	for _, resource := range status.ResourceStatuses(outcome) {
		shown[arm.ID(resource.ID).Key()] = resource
	}
	unplaced := plan.ListWaitingForID(in)
	var out []infrav1.ASOResourceStatus
	listed := map[string]bool{}
	for _, d := range in.OwnManifests() {
		status := infrav1.ASOResourceStatus{Resource: infrav1.ASOResource{Group: d.Group, Version: d.Version, Kind: d.Kind, Name: d.Name}}
		id, err := in.ResourceID(d)
		if result, ok := outcome.Result(id); err == nil && ok {
			listed[id.Key()] = true
			status.ID = string(id)
			explainStatus(&status, result, shown[id.Key()])
		} else {
			status.Reason, status.Message = infrav1.WaitingReason, unplaced[d.Key()]
		}
		out = append(out, status)
	}
	for _, result := range outcome.Results {
		if listed[result.ID.Key()] || result.State == arm.Gone {
			continue
		}
		status := infrav1.ASOResourceStatus{ID: string(result.ID)}
		status.Resource.Group, status.Resource.Kind = aso.GroupKindOf(result.ID.Type())
		status.Resource.Name = result.ID.Name()
		explainStatus(&status, result, shown[result.ID.Key()])
		status.Ready = false
		out = append(out, status)
	}
	return out
}

func explainStatus(resourceStatus *infrav1.ASOResourceStatus, result arm.Result, shown infrav1.ResourceStatus) {
	if resourceStatus.Ready = result.IsDone(); resourceStatus.Ready {
		return
	}
	resourceStatus.Reason, resourceStatus.Message = status.ResultReason(result), shown.Message
	var azure *arm.Error
	if errors.As(result.Err, &azure) {
		resourceStatus.Code = azure.Code
	}
}

// AllInPlace reports whether all resources of an object's manifests are ready. Manifests of other objects may wait for them.
func AllInPlace(obj conditions.Getter) bool {
	return conditions.IsTrue(obj, infrav1.ResourcesReadyCondition) ||
		status.AwaitsServiceOwner(conditions.GetReason(obj, infrav1.ResourcesReadyCondition))
}
