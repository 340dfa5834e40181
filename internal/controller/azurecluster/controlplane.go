package azurecluster

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
)

// +kubebuilder:rbac:groups=controlplane.cluster.x-k8s.io,resources=kubeadmcontrolplanes,verbs=get
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachines;azuremachinetemplates,verbs=get;list;watch

// findControlPlaneSize returns the VM size of the next control plane machine of a Cluster, or "" if there is no template.
func (k *Kind) findControlPlaneSize(ctx context.Context, cluster *clusterv1.Cluster) (string, error) {
	template, err := selfmanaged.FindMachineTemplate(ctx, k.Client, cluster)
	if template == nil {
		return "", err
	}
	return template.Spec.Template.Spec.VMSize, nil
}
