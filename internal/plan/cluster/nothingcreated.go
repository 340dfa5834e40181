package cluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// NothingCreated returns true if no resource of an AzureCluster can exist in Azure: no reconciliation stored a plan, which
// happens before the first creation. The established provider stores none, but leaves a condition or an annotation when it
// has created the resource group. All of these but the conditions survive clusterctl move.
func NothingCreated(azureCluster *infrav1.AzureCluster) bool {
	return !applied.IsStored(azureCluster.Annotations) && !plan.HasAzureResources(azureCluster) &&
		!slices.ContainsFunc(azureCluster.Status.Conditions, func(condition metav1.Condition) bool {
			return condition.Type == infrav1.ResourceGroupReadyCondition
		})
}
