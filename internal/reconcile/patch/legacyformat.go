package patch

import (
	"context"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// WriteCurrentFormat writes what of obj is stored in an outdated form in today's, and tells whether anything was.
func WriteCurrentFormat(ctx context.Context, c client.Client, writes *WriteTracker, obj client.Object) (renewed bool, err error) {
	changes := TrackChanges(c, writes, obj)
	if renewed, _, err = compareObjects(changes.before, obj); err != nil || !renewed {
		return false, err
	}
	return true, changes.Write(ctx)
}

// convertToCurrentFormat gives obj the form that its schema has, where it is stored as contract v1beta1 of Cluster API had it. Objects that
// the established provider made are stored so, under the same API version, and a patch sends lists whole: one condition
// without a reason has the API server refuse every change of any.
//
// A condition keeps its verdict, with a reason that says whose it is, until a pass comes to one of its own.
func convertToCurrentFormat(obj client.Object) {
	if cluster, ok := obj.(*infrav1.AzureCluster); ok {
		cluster.Status.FailureDomains.Map = false
	}
	setter, ok := obj.(conditions.Setter)
	if !ok || !slices.ContainsFunc(setter.GetConditions(), isLegacyCondition) {
		return
	}
	list := slices.Clone(setter.GetConditions())
	for i := range list {
		if !isLegacyCondition(list[i]) {
			continue
		}
		if !isValidReason(list[i].Reason) {
			list[i].Reason = infrav1.TakenOverReason
		}
		if len(list[i].Message) > maxMessage {
			list[i].Message = strings.ToValidUTF8(list[i].Message[:maxMessage], "")
		}
	}
	setter.SetConditions(list)
}

// isLegacyCondition tells whether a condition is none that the schema of metav1.Condition takes. Conditions of contract v1beta1 need
// no reason, and bound neither that nor the message.
func isLegacyCondition(condition metav1.Condition) bool {
	return !isValidReason(condition.Reason) || len(condition.Message) > maxMessage
}

func isValidReason(reason string) bool {
	return len(reason) <= maxReason && reasonPattern.MatchString(reason)
}

// The bounds are those of the markers on metav1.Condition.
const (
	maxReason  = 1024
	maxMessage = 32768
)

var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
