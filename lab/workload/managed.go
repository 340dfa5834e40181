package workload

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// Demand says how many nodes the workload of an AKS cluster needs of an agent pool, which its autoscaler follows.
func Demand(ctx context.Context, s *settings.Settings, name, pool string, nodes int) error {
	kube, err := management.Client(s)
	if err != nil {
		return err
	}
	root, err := Load(ctx, kube, management.Namespace, name)
	if err != nil {
		return err
	}
	if root == nil {
		return fmt.Errorf("there is no Cluster %s", name)
	}
	for _, child := range root.Children {
		if child.Kind != "AzureManagedControlPlane" || child.raw == nil {
			continue
		}
		subscription, _, _ := unstructured.NestedString(child.raw.Object, "spec", "subscriptionID")
		group, _, _ := unstructured.NestedString(child.raw.Object, "spec", "resourceGroupName")
		azure, err := simulator.New(s)
		if err != nil {
			return err
		}
		id := fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.ContainerService/managedClusters/%s", subscription, group, child.Name)
		return azure.Demand(ctx, id, pool, nodes)
	}
	return fmt.Errorf("there is no AzureManagedControlPlane in Cluster %s: only AKS has an autoscaler of its own", name)
}
