package defaults

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// newCluster returns the smallest AzureCluster that a user writes, with changes.
func newCluster(changes ...func(*infrav1.AzureCluster)) *infrav1.AzureCluster {
	c := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", Namespace: "default"}}
	c.Spec.Location = "westeurope"
	c.Spec.SubscriptionID = "00000000-0000-0000-0000-000000000001"
	c.Spec.IdentityRef = &corev1.ObjectReference{Kind: "AzureClusterIdentity", Name: "identity"}
	c.Spec.ControlPlaneEnabled = true
	for _, change := range changes {
		change(c)
	}
	return c
}

// newControlPlane returns the smallest AzureManagedControlPlane that a user writes, with the label that Cluster API sets and with changes.
func newControlPlane(changes ...func(*infrav1.AzureManagedControlPlane)) *infrav1.AzureManagedControlPlane {
	c := &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "aks1", Namespace: "default",
		Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}}}
	c.Spec.Location = "westeurope"
	c.Spec.Version = "1.33.2"
	c.Spec.IdentityRef = &corev1.ObjectReference{Kind: "AzureClusterIdentity", Name: "identity"}
	for _, change := range changes {
		change(c)
	}
	return c
}

func mustMarshalJSON(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// newSubnets returns named subnets, one for the control plane and one for nodes.
func newSubnets(cidrs ...string) infrav1.Subnets {
	return infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, CIDRBlocks: cidrs}},
	}
}
