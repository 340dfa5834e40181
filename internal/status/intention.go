package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// maxIntentions limits how many writes the condition Drifted lists.
const maxIntentions = 50

// DriftedCondition returns the condition of an observed object. causes are the settings that have it observed, writes describe the writes
// that the manager does not send.
func DriftedCondition(causes string, writes []string) metav1.Condition {
	if len(writes) == 0 {
		return metav1.Condition{Type: infrav1.DriftedCondition, Status: metav1.ConditionFalse, Reason: infrav1.ObservingReason,
			Message: "The object is observed because of " + causes + ". Azure is as planned"}
	}
	shown := writes
	if len(shown) > maxIntentions {
		shown = append(shown[:maxIntentions:maxIntentions], fmt.Sprintf("and %d more", len(writes)-maxIntentions))
	}
	return metav1.Condition{Type: infrav1.DriftedCondition, Status: metav1.ConditionTrue, Reason: infrav1.ObservingReason,
		Message: "The object is observed because of " + causes + ". When that ends, the manager will: " + strings.Join(shown, "; ")}
}

// DescribeIntention describes the write of a result that was not sent.
func DescribeIntention(result arm.Result) string {
	name := result.ID.ShortName()
	switch {
	case result.IntendedMethod == "DELETE":
		return "delete " + name
	case result.State == arm.Absent:
		return "create " + name
	case len(result.Drift) == 0:
		return "update " + name
	}
	return "update " + name + " (" + strings.Join(result.Drift, ", ") + ")"
}

// DescribeAction describes an action that was not sent. part distinguishes actions of the same resource and sub-path.
func DescribeAction(method string, id arm.ID, subPath, part string) string {
	out := id.ShortName()
	switch {
	case subPath != "":
		out = "request " + subPath + " of " + out
	case method == "DELETE":
		out = "delete " + out
	default:
		out = "update " + out
	}
	if part != "" {
		out += " (" + part + ")"
	}
	return out
}
