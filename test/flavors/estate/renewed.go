package estate

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// checkRenewed checks that nothing stored has the old form, and that no condition reports a difference.
func checkRenewed(stage *harness.Stage) {
	stage.T.Helper()
	for _, kind := range kinds {
		for _, item := range listObjects(stage, kind) {
			stored := stage.ReadStored(item)
			if _, ok := harness.FindValue(stored.Object, "status.failureDomains").(object); ok {
				stage.T.Errorf("%s %s: status.failureDomains is a map", kind, item.GetName())
			}
			if operations := harness.FindValue(stored.Object, "status.longRunningOperationStates"); operations != nil {
				stage.T.Errorf("%s %s: has operations in its status", kind, item.GetName())
			}
			conditions, _ := harness.FindValue(stored.Object, "status.conditions").([]any)
			for _, c := range conditions {
				condition := c.(object)
				if reason, _ := condition["reason"].(string); reason == "" || reason == infrav1.NotCheckedYetReason || reason == infrav1.DriftedReason ||
					condition["type"] == "OnlyThere" {
					stage.T.Errorf("%s %s: %v stays as it was", kind, item.GetName(), condition)
				}
			}
		}
	}
}
