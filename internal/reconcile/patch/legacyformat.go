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

// WriteCurrentFormat converts a stored object to the current format, and reports whether it had to.
func WriteCurrentFormat(ctx context.Context, c client.Client, obj client.Object) (renewed bool, err error) {
	changes := TrackChanges(c, obj)
	if renewed, _, err = compareObjects(changes.before, obj); err != nil || !renewed {
		return false, err
	}
	return true, changes.write(ctx)
}

// convertToCurrentFormat converts statuses of contract v1beta1 of Cluster API to the current schema. The established provider stores
// them under the same API version, and a patch sends lists whole: one condition without a reason makes the API server refuse every
// change of conditions.
//
// A converted condition keeps its status and gets a reason that names its origin, until a reconciliation replaces it.
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
			list[i].Reason = infrav1.NotCheckedYetReason
		}
		if len(list[i].Message) > maxMessage {
			list[i].Message = strings.ToValidUTF8(list[i].Message[:maxMessage], "")
		}
	}
	setter.SetConditions(list)
}

// isLegacyCondition reports whether the schema of metav1.Condition refuses a condition. Contract v1beta1 requires no reason and limits
// neither reason nor message.
func isLegacyCondition(condition metav1.Condition) bool {
	return !isValidReason(condition.Reason) || len(condition.Message) > maxMessage
}

func isValidReason(reason string) bool {
	return len(reason) <= maxReason && reasonPattern.MatchString(reason)
}

// Limits of the markers on metav1.Condition.
const (
	maxReason  = 1024
	maxMessage = 32768
)

var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
