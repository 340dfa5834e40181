package asoresources

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// setCheckedCondition sets the condition about manifests that are sent to Azure without a check. An object without any has none.
func setCheckedCondition(obj status.Object, in plan.Input) {
	unchecked := plan.ListUnchecked(in)
	if len(unchecked) == 0 {
		conditions.Delete(obj, infrav1.ManifestsCheckedCondition)
		return
	}
	var names []string
	for _, m := range unchecked {
		names = append(names, m.String())
	}
	conditions.Set(obj, metav1.Condition{
		Type: infrav1.ManifestsCheckedCondition, Status: metav1.ConditionFalse, Reason: infrav1.DefinitionMissingReason,
		Message: "The provider has no definition of these kinds, so it sends the manifests to Azure without a check: " + text.JoinFirst(names, maxListed) +
			". Only Azure reports errors in them.",
	})
}
