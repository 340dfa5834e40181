package aks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestAzureCluster computes the AzureCluster of AKS clusters with several ways to the internet.
func TestAzureCluster(t *testing.T) {
	tests := map[string]struct {
		reason   string
		outbound infrav1.ManagedControlPlaneOutboundType
		sku      string
		balancer string
	}{
		"default": {reason: "a load balancer is AKS's default", balancer: "kubernetes/aksOutboundBackendPool"},
		"load balancer": {reason: "the spec asks for it", outbound: infrav1.ManagedControlPlaneOutboundTypeLoadBalancer, sku: "Standard",
			balancer: "kubernetes/aksOutboundBackendPool"},
		"own routes": {reason: "AKS makes no load balancer for the way out",
			outbound: infrav1.ManagedControlPlaneOutboundTypeUserDefinedRouting},
		"own NAT gateway": {reason: "the subnet has the way out", outbound: infrav1.ManagedControlPlaneOutboundTypeUserAssignedNATGateway},
		"Basic":           {reason: "a load balancer of this SKU has no outbound rules", sku: "Basic"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			controlPlane := &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "aks"}}
			controlPlane.Spec.Location, controlPlane.Spec.ResourceGroupName = "eastus", "group"
			if test.outbound != "" {
				controlPlane.Spec.OutboundType = &test.outbound
			}
			if test.sku != "" {
				controlPlane.Spec.LoadBalancerSKU = &test.sku
			}
			out := BuildAzureCluster(Input{ControlPlane: controlPlane, SubscriptionID: "s"})
			balancer := ""
			if lb := out.Spec.NetworkSpec.NodeOutboundLB; lb != nil {
				balancer = lb.Name + "/" + lb.BackendPool.Name
			}
			got := []string{out.Name, out.Spec.ResourceGroup, out.Spec.NetworkSpec.Vnet.ResourceGroup, out.Spec.NetworkSpec.Vnet.Name,
				out.Spec.NetworkSpec.Subnets[0].Name, balancer}
			if diff := cmp.Diff([]string{"aks", "MC_group_aks_eastus", "group", "aks", "aks", test.balancer}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
	observed := Input{ControlPlane: &infrav1.AzureManagedControlPlane{},
		Facts: Facts{Cluster: []byte(`{"properties":{"nodeResourceGroup":"theirs"}}`)}}
	if got := BuildAzureCluster(observed).Spec.ResourceGroup; got != "theirs" {
		t.Errorf("resource group %s, want that which Azure shows", got)
	}
}
