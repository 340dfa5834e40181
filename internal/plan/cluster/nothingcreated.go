package cluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lastapplied"
)

// NothingCreated tells whether nothing of an AzureCluster can be in Azure: no pass has come as far as a plan, which is stored
// before anything is made. The established provider stores none, but it says in a condition or an annotation when it has made
// the resource group. All but the conditions survives clusterctl move.
func NothingCreated(azureCluster *infrav1.AzureCluster) bool {
	return !lastapplied.IsStored(azureCluster.Annotations) && azureCluster.Annotations[infrav1.InventoryAnnotation] == "" && !plan.HasAzureResources(azureCluster) &&
		!slices.ContainsFunc(azureCluster.Status.Conditions, func(condition metav1.Condition) bool {
			return condition.Type == infrav1.ResourceGroupReadyCondition
		})
}
