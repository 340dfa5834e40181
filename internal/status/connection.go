package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// connectionProblem returns the reason and the message of private endpoints in place that are not connected, "" if there are none. Azure shows
// such an endpoint as Succeeded.
func connectionProblem(results []arm.Result) (reason, message string) {
	var refused, pending []string
	for _, result := range results {
		for _, connection := range result.UnapprovedConnections {
			if line := describeConnection(result, connection); connection.IsPending() {
				pending = append(pending, line)
			} else {
				refused = append(refused, line)
			}
		}
	}
	switch {
	case len(refused) > 0:
		reason = infrav1.NotConnectedReason
	case len(pending) > 0:
		reason = infrav1.WaitingForApprovalReason
	}
	return reason, joinLines(append(refused, pending...))
}

// describeConnection describes a connection that is not approved, and the remedy.
func describeConnection(result arm.Result, connection arm.Connection) string {
	out := result.ID.ShortName() + ": the connection to " + string(connection.Service) + " is in the state " + connection.State
	if connection.IsPending() {
		return out + ". Ask the owner of the service to approve it"
	}
	if connection.Description != "" {
		out += " (" + connection.Description + ")"
	}
	out += ", because the owner of the service rejected or removed it. A new private endpoint can request it again: az network private-endpoint delete --ids " +
		arm.ShellQuote(string(result.ID))
	if result.Managed {
		out += ". The provider then creates the private endpoint again"
	}
	return out
}

// AwaitsOthers reports whether a reason is that of resources as planned that others have to make useful. Only reads of Azure show the end.
func AwaitsOthers(reason string) bool {
	return reason == infrav1.WaitingForApprovalReason || reason == infrav1.NotConnectedReason
}

// AwaitsOnlyOthers reports whether an object has everything but what others have to do.
func AwaitsOnlyOthers(obj conditions.Getter) bool {
	found := false
	for _, condition := range obj.GetConditions() {
		switch {
		case condition.Status != metav1.ConditionFalse:
		case AwaitsOthers(condition.Reason):
			found = true
		case classOf(condition.Reason) < inOrder:
			return false
		}
	}
	return found
}
