package webhook

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

const managedIdentityID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"

// newControlPlane returns the smallest AzureManagedControlPlane a user writes, labelled by Cluster API, with changes, not
// defaulted.
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

func defaultedControlPlane(changes ...func(*infrav1.AzureManagedControlPlane)) *infrav1.AzureManagedControlPlane {
	c := newControlPlane(changes...)
	defaults.FillAzureManagedControlPlane(c)
	return c
}

// newPool returns the smallest AzureManagedMachinePool a user writes, with changes, not defaulted.
func newPool(changes ...func(*infrav1.AzureManagedMachinePool)) *infrav1.AzureManagedMachinePool {
	p := &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool0", Namespace: "default"}}
	p.Spec.Mode = infrav1.NodePoolModeUser
	p.Spec.SKU = "Standard_D2s_v5"
	for _, change := range changes {
		change(p)
	}
	return p
}

func defaultedPool(changes ...func(*infrav1.AzureManagedMachinePool)) *infrav1.AzureManagedMachinePool {
	p := newPool(changes...)
	defaults.FillAzureManagedMachinePool(p)
	return p
}

func newControlPlaneTemplate(changes ...func(*infrav1.AzureManagedControlPlaneTemplate)) *infrav1.AzureManagedControlPlaneTemplate {
	t := &infrav1.AzureManagedControlPlaneTemplate{ObjectMeta: metav1.ObjectMeta{Name: "class", Namespace: "default"}}
	t.Spec.Template.Spec.AzureManagedControlPlaneClassSpec = newControlPlane().Spec.AzureManagedControlPlaneClassSpec
	for _, change := range changes {
		change(t)
	}
	return t
}

func newPoolTemplate(changes ...func(*infrav1.AzureManagedMachinePoolTemplate)) *infrav1.AzureManagedMachinePoolTemplate {
	t := &infrav1.AzureManagedMachinePoolTemplate{ObjectMeta: metav1.ObjectMeta{Name: "workers", Namespace: "default"}}
	t.Spec.Template.Spec.AzureManagedMachinePoolClassSpec = newPool().Spec.AzureManagedMachinePoolClassSpec
	for _, change := range changes {
		change(t)
	}
	return t
}

// networkOf returns a Cluster with ranges of services and pods.
func networkOf(services, pods []string) *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", Namespace: "default"}}
	c.Spec.ClusterNetwork.Services.CIDRBlocks = services
	c.Spec.ClusterNetwork.Pods.CIDRBlocks = pods
	return c
}
