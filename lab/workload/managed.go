package workload

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// SetDemand sets how many nodes of an agent pool the workload of an AKS cluster needs, which its autoscaler follows.
func SetDemand(ctx context.Context, s *settings.Settings, name, pool string, nodes int) error {
	kube, err := management.NewClient(s)
	if err != nil {
		return err
	}
	root, err := LoadCluster(ctx, kube, management.Namespace, name)
	if err != nil {
		return err
	}
	if root == nil {
		return fmt.Errorf("there is no Cluster %s", name)
	}
	for _, child := range root.Children {
		if id := managedClusterID(child); id != "" {
			azure, err := simulator.New(s)
			if err != nil {
				return err
			}
			return azure.SetDemand(ctx, id, pool, nodes)
		}
	}
	return fmt.Errorf("there is no control plane of AKS in Cluster %s: only AKS has an autoscaler of its own", name)
}

// managedClusterID returns the ID of the managed cluster of a control plane, "" for anything else.
func managedClusterID(o *Object) string {
	switch {
	case o.raw == nil:
	case o.Kind == "AzureManagedControlPlane":
		subscription, _, _ := unstructured.NestedString(o.raw.Object, "spec", "subscriptionID")
		group, _, _ := unstructured.NestedString(o.raw.Object, "spec", "resourceGroupName")
		return fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers/Microsoft.ContainerService/managedClusters/%s", subscription, group,
			o.Name)
	case o.Kind == "AzureASOManagedControlPlane":
		for _, id := range documentIDs(o.raw) {
			if segments := strings.Split(id, "/"); len(segments) == 9 && strings.EqualFold(segments[7], "managedClusters") {
				return id
			}
		}
	}
	return ""
}
