// Package status turns the outcome of the engine into the status of an object: one condition per group of resources, the Ready summary,
// and the list of Azure resources. It is pure and its messages are deterministic.
package status

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// maxMessages limits how many causes one message lists.
const maxMessages = 4

// GroupConditions returns the conditions of the groups that have results in outcome, in the given order. Groups without resources are
// left out. unplanned returns the group of a resource that is no longer planned: a failed deletion is shown where the resource was
// shown before. A group whose resources could not be read is Unknown; SetCondition then keeps an earlier status.
func GroupConditions(outcome arm.Outcome, groups []string, unplanned func(arm.ID) string) []metav1.Condition {
	of := map[string][]arm.Result{}
	for _, result := range outcome.Results {
		group := result.Group
		if group == "" {
			group = unplanned(result.ID)
		}
		of[group] = append(of[group], result)
	}
	var out []metav1.Condition
	for _, group := range groups {
		results := of[group]
		if len(results) == 0 {
			continue
		}
		condition := groupCondition(outcome, results)
		condition.Type = group
		out = append(out, condition)
	}
	return out
}

// SetConditions sets the conditions found with SetCondition. It removes conditions of groups that are not found, and conditions that
// were migrated from the established provider, which nothing would update; it keeps the summary, which is set later. It returns the
// conditions as set.
func SetConditions(obj Object, groups []string, found []metav1.Condition) []metav1.Condition {
	for _, condition := range slices.Clone(obj.GetConditions()) {
		if condition.Reason == infrav1.NotCheckedYetReason && condition.Type != infrav1.ReadyCondition {
			groups = append(slices.Clip(groups), condition.Type)
		}
	}
	for _, group := range groups {
		if !slices.ContainsFunc(found, func(c metav1.Condition) bool { return c.Type == group }) {
			conditions.Delete(obj, group)
		}
	}
	set := make([]metav1.Condition, 0, len(found))
	for _, condition := range found {
		SetCondition(obj, condition)
		set = append(set, *conditions.Get(obj, condition.Type))
	}
	return set
}

// groupCondition returns the condition of the results of one group.
func groupCondition(outcome arm.Outcome, results []arm.Result) metav1.Condition {
	var known, unknown []arm.Result
	for _, result := range results {
		if isUnknown(outcome, result) {
			unknown = append(unknown, rootCauseOf(outcome, result))
		} else {
			known = append(known, result)
		}
	}
	if condition := knownCondition(known); len(unknown) == 0 || len(known) > 0 && condition.Status != metav1.ConditionTrue {
		return condition
	}
	return metav1.Condition{Status: metav1.ConditionUnknown, Reason: ResultReason(unknown[0]), Message: joinMessages(unknown)}
}

// knownCondition returns the condition of results that are all known. The most important state decides.
func knownCondition(results []arm.Result) metav1.Condition {
	for _, state := range []arm.State{arm.Failed, arm.Waiting, arm.Absent, arm.Deleting, arm.Creating, arm.Updating, arm.Blocked} {
		var hits []arm.Result
		for _, result := range results {
			if result.State == state {
				hits = append(hits, result)
			}
		}
		if len(hits) > 0 {
			return metav1.Condition{Status: metav1.ConditionFalse, Reason: ResultReason(hits[0]), Message: joinMessages(hits)}
		}
	}
	if lost := lostTagMessage(results); lost != "" {
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: infrav1.OwnershipTagLostReason, Message: lost}
	}
	if reason, unconnected := connectionProblem(results); reason != "" {
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: reason, Message: unconnected}
	}
	if drift := driftMessage(results); drift != "" {
		return metav1.Condition{Status: metav1.ConditionTrue, Reason: infrav1.DriftedReason, Message: drift}
	}
	if !slices.ContainsFunc(results, func(r arm.Result) bool { return r.State != arm.Gone }) {
		return metav1.Condition{Status: metav1.ConditionFalse, Reason: infrav1.DeletedReason, Message: "deleted"}
	}
	return metav1.Condition{Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
}

// lostTagMessage lists the resources that were created for the object and have lost their ownership tag, although they are still used.
func lostTagMessage(results []arm.Result) string {
	var lines []string
	for _, result := range results {
		if result.OwnershipTagRemoved != "" {
			lines = append(lines, result.OwnershipTagRemoved)
		}
	}
	return joinLines(lines)
}

// driftMessage lists the differences from the plan that are not repaired, and whether Azure or the spec changed, if that is known.
func driftMessage(results []arm.Result) string {
	var lines []string
	for _, result := range results {
		if slices.Contains(result.UnrepairedDrift, principalPath) {
			lines = append(lines, formerPrincipalMessage(result.ID))
			continue
		}
		if result.OtherClusterTag != "" {
			lines = append(lines, fmt.Sprintf("%s carries the tag %s of another cluster. This cluster uses it, because its resources are already there. Deleting the other cluster does not delete the group while this cluster uses it. "+
				"Give each new cluster a resource group of its own", result.ID.ShortName(), result.OtherClusterTag))
		}
		unknown := slices.DeleteFunc(slices.Clone(result.UnrepairedDrift), func(path string) bool {
			return slices.Contains(result.OutsideChanges, path) || slices.Contains(result.UnappliedChanges, path)
		})
		for _, said := range []struct {
			what  string
			paths []string
		}{
			{"%s was changed in Azure by another program or user: %s", result.OutsideChanges},
			{"%s cannot be changed, and the spec has other values: %s; replace it to apply the spec", result.UnappliedChanges},
			{"%s differs from the spec: %s", unknown},
			{"%s: Azure cannot unset these fields, which the spec no longer sets, so they stay as they are until they are set again: %s",
				result.UnremovablePaths},
		} {
			if len(said.paths) > 0 {
				lines = append(lines, fmt.Sprintf(said.what, result.ID.ShortName(), strings.Join(said.paths, ", ")))
			}
		}
	}
	return joinLines(lines)
}

// principalPath is the path of the identity to which a role is assigned. No other type has it.
const principalPath = "properties.principalId"

// formerPrincipalMessage explains a role assignment of another identity, as after a scale set was created again. Azure refuses to change it with
// RoleAssignmentUpdateNotPermitted: https://learn.microsoft.com/en-us/azure/role-based-access-control/troubleshooting. The provider does not replace it:
// the only record of who created it is the inventory, which every writer of the object can forge. A tenant could have the assignment of another
// tenant deleted.
func formerPrincipalMessage(id arm.ID) string {
	return fmt.Sprintf("%s assigns the role to a former or other identity, so the current identity does not have the role. Azure cannot change the identity of an assignment, "+
		"and the provider does not delete it, because nothing in Azure proves who created it. If the other identity is a former one of this object, delete the assignment: az role assignment delete --ids %s. The provider creates it again",
		id.ShortName(), arm.ShellQuote(string(id)))
}

// joinMessages joins the messages of results. Results with the same message, as those that wait for one request, share it, so that it names
// the request once.
func joinMessages(results []arm.Result) string {
	subjects, order := map[string][]string{}, []string(nil)
	for _, result := range results {
		subject, detail := describeResult(result)
		if !namesRequest(detail) {
			subject, detail = "", subject+detail
		}
		if _, known := subjects[detail]; !known {
			order = append(order, detail)
		}
		if !slices.Contains(subjects[detail], subject) {
			subjects[detail] = append(subjects[detail], subject)
		}
	}
	var lines []string
	for _, detail := range order {
		lines = append(lines, strings.Join(subjects[detail], ", ")+detail)
	}
	return joinLines(lines)
}

// joinLines joins messages as they are, because events look for Azure's text in conditions. Resources that are read by one request have the
// same message when it fails, which is named once.
func joinLines(lines []string) string {
	return strings.Join(firstLines(dropRepeated(lines), func(line string) string { return line }), "; ")
}

// dropRepeated returns each of the lines once, in their order.
func dropRepeated(lines []string) (out []string) {
	for _, line := range lines {
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// firstLines returns the lines of the first causes, and one with the number of the others.
func firstLines[T any](causes []T, line func(T) string) (lines []string) {
	for _, cause := range causes[:min(len(causes), maxMessages)] {
		lines = append(lines, line(cause))
	}
	if more := len(causes) - maxMessages; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// resultMessage describes the state of one result.
func resultMessage(result arm.Result) string {
	subject, detail := describeResult(result)
	return subject + detail
}

// describeResult returns the two parts of the message of a result: its resource, if the message begins with it, and the rest.
func describeResult(result arm.Result) (subject, detail string) {
	name := result.ID.ShortName()
	switch {
	case result.Err != nil && result.Message != "":
		return "", result.Err.Error() + "; " + result.Message
	case result.Err != nil:
		return "", result.Err.Error()
	case result.State == arm.Blocked && result.Message != "":
		return name, " " + result.Message
	case result.State == arm.Blocked:
		return name, " waits for " + result.BlockedBy.ShortName()
	case result.Message != "":
		return name, ": " + result.Message
	default:
		return "", strings.ToLower(string(result.State)) + " " + name
	}
}

// reasonByCode has the reasons of Azure's codes that users look for. Other codes are Failed.
var reasonByCode = map[string]string{
	"QuotaExceeded":                         infrav1.QuotaExceededReason,
	"ErrCode_InsufficientVCPUQuota":         infrav1.QuotaExceededReason,
	"ResourceQuotaExceeded":                 infrav1.QuotaExceededReason,
	"PublicIPCountLimitReached":             infrav1.QuotaExceededReason,
	"SkuNotAvailable":                       infrav1.CapacityUnavailableReason,
	"AllocationFailed":                      infrav1.CapacityUnavailableReason,
	"ZonalAllocationFailed":                 infrav1.CapacityUnavailableReason,
	"OverconstrainedAllocationRequest":      infrav1.CapacityUnavailableReason,
	"OverconstrainedZonalAllocationRequest": infrav1.CapacityUnavailableReason,
	"SubscriptionNotFound":                  infrav1.SubscriptionNotFoundReason,
	"InvalidSubscriptionId":                 infrav1.SubscriptionNotFoundReason,
	"CredentialsInvalid":                    infrav1.CredentialsInvalidReason,
	"InvalidAuthenticationToken":            infrav1.CredentialsInvalidReason,
	"ResourceNotOwned":                      infrav1.ResourceExistsNotOwnedReason,
	"OwnershipTagLost":                      infrav1.OwnershipTagLostReason,
	"TooManyRequests":                       infrav1.ThrottledReason,
	"SubscriptionRequestsThrottled":         infrav1.ThrottledReason,
}

// ResultReason returns the CamelCase reason of a result.
func ResultReason(result arm.Result) string {
	var azure *arm.Error
	if errors.As(result.Err, &azure) {
		if reason, ok := reasonByCode[arm.DecisiveCode(azure)]; ok {
			return reason
		}
	}
	switch result.State {
	case arm.Failed:
		var refusal arm.Refusal
		switch {
		case errors.As(result.Err, &refusal):
			return infrav1.InvalidConfigurationReason
		case azure != nil && azure.Method == "DELETE":
			return infrav1.DeletionFailedReason
		}
		return infrav1.FailedReason
	case arm.Blocked:
		return infrav1.WaitingForDependencyReason
	case arm.Waiting:
		return infrav1.WaitingReason
	case arm.Absent:
		return infrav1.ObservingReason
	default:
		return string(result.State)
	}
}

// SummaryCondition summarizes conditions: True if all are True, otherwise the status, reason and message of the most important one.
// The class of the reason decides. It is Unknown if a condition is Unknown and none is False,
// and LastSeen if one is.
func SummaryCondition(conditionType string, conditions []metav1.Condition) metav1.Condition {
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown, metav1.ConditionTrue} {
		var best *metav1.Condition
		for i := range conditions {
			condition := &conditions[i]
			if condition.Status != status || status == metav1.ConditionTrue && condition.Reason != infrav1.LastSeenReason {
				continue
			}
			if best == nil || classOf(condition.Reason) < classOf(best.Reason) {
				best = condition
			}
		}
		if best != nil {
			return metav1.Condition{Type: conditionType, Status: status, Reason: best.Reason, Message: best.Type + ": " + best.Message}
		}
	}
	return metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
}

// RefusalRetryInterval is how often refused input is checked again without a change of the object: Azure may have changed, for example
// a missing network was created.
const RefusalRetryInterval = 2 * time.Minute

// RefusalCondition returns the condition for refused input. The reason distinguishes invalid from unsupported input, and the message
// lists the first fields.
func RefusalCondition(conditionType string, errs field.ErrorList) metav1.Condition {
	reason := infrav1.InvalidConfigurationReason
	if !slices.ContainsFunc(errs, func(e *field.Error) bool {
		return e.Type != field.ErrorTypeNotSupported && e.Type != field.ErrorTypeForbidden
	}) {
		reason = infrav1.NotSupportedReason
	}
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: reason,
		Message: text.JoinSentences(text.JoinList(firstLines(errs, (*field.Error).Error)),
			"Nothing is created until this is corrected; next try when the object changes, at the latest in "+RefusalRetryInterval.String()),
	}
}

// ResourceStatuses lists the Azure resources of the outcome for the status.
func ResourceStatuses(outcome arm.Outcome) []infrav1.ResourceStatus {
	var out []infrav1.ResourceStatus
	for _, result := range outcome.Results {
		if result.State == arm.Gone {
			continue
		}
		resource := infrav1.ResourceStatus{ID: string(result.ID), State: string(result.State)}
		if !result.IsDone() {
			resource.Message = resultMessage(result)
		}
		out = append(out, resource)
	}
	return out
}
