package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
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

// maxDescription bounds the text of the owner of a service, in bytes. Azure accepts 140 characters.
const maxDescription = 560

// describeConnection describes a connection that is not approved, and the remedy.
func describeConnection(result arm.Result, connection arm.Connection) string {
	out := result.ID.ShortName() + ": the connection to " + string(connection.Service) + " is in the state " + connection.State
	if connection.IsPending() {
		return out + ". Ask the owner of the service to approve it"
	}
	if connection.Description != "" {
		out += " (" + text.Truncate(text.HideSignatures(connection.Description), maxDescription) + ")"
	}
	out += ", because the owner of the service rejected or removed it. A new private endpoint can request it again: az network private-endpoint delete --ids " +
		arm.ShellQuote(string(result.ID))
	if result.Managed {
		out += ". The provider then creates the private endpoint again"
	}
	return out
}

// AwaitsServiceOwner reports whether a reason is that of private endpoints in place that the owner of a service has not connected. Only reads of
// Azure show that they are connected.
func AwaitsServiceOwner(reason string) bool {
	return reason == infrav1.WaitingForApprovalReason || reason == infrav1.NotConnectedReason
}

// AwaitsOnlyServiceOwner reports whether all resources of an object are in place, and nothing but the connection of private endpoints by the owners
// of services is missing.
func AwaitsOnlyServiceOwner(obj conditions.Getter) bool {
	found := false
	for _, condition := range obj.GetConditions() {
		switch {
		case condition.Status != metav1.ConditionFalse:
		case AwaitsServiceOwner(condition.Reason):
			found = true
		case classOf(condition.Reason) < inOrder:
			return false
		}
	}
	return found
}
