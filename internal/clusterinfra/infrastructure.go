// Package clusterinfra finds the infrastructure of the cluster that a machine or pool belongs to: a self-managed cluster, or an AKS
// cluster that a user's scale sets join. The AKS cluster is converted to the form of a self-managed one, so that VMs of both have one
// plan. Calls block for reads, write nothing and may be repeated.
package clusterinfra

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	plannedmanaged "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

const azureClusterKind = "AzureCluster"

// Infrastructure is one of both, or empty if neither exists.
type Infrastructure struct {
	AzureCluster *infrav1.AzureCluster
	ControlPlane *infrav1.AzureManagedControlPlane
}

// FindInfrastructure returns the infrastructure of a Cluster. If the Cluster is gone, it is found by the Cluster's name.
func FindInfrastructure(ctx context.Context, c client.Reader, cluster *clusterv1.Cluster, gone bool) (out Infrastructure, err error) {
	if kind := cluster.Spec.InfrastructureRef.Kind; gone || kind == azureClusterKind {
		if out.AzureCluster, err = selfmanaged.FindAzureCluster(ctx, c, cluster, gone); err != nil || out.AzureCluster != nil || !gone {
			return out, err
		}
		out.ControlPlane, err = aks.FindControlPlane(ctx, c, cluster.Namespace, cluster.Name)
		return out, err
	}
	if cluster.Spec.InfrastructureRef.Kind != aks.ClusterKind || cluster.Spec.ControlPlaneRef.Kind != aks.ControlPlaneKind {
		return out, nil
	}
	controlPlane := &infrav1.AzureManagedControlPlane{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}
	if err := c.Get(ctx, key, controlPlane); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return out, nil
		}
		return out, fmt.Errorf("get %s %s: %w", aks.ControlPlaneKind, key, err)
	}
	out.ControlPlane = controlPlane
	return out, nil
}

// MissingMessage explains which object is missing for a pool whose Cluster has no infrastructure, and how to correct that.
func MissingMessage(cluster *clusterv1.Cluster) string {
	infrastructure, controlPlane := cluster.Spec.InfrastructureRef, cluster.Spec.ControlPlaneRef
	const create = "%s %s, to which Cluster %s refers, does not exist. Create it"
	switch {
	case infrastructure.Kind == azureClusterKind:
		return fmt.Sprintf(create, azureClusterKind, infrastructure.Name, cluster.Name)
	case infrastructure.Kind == aks.ClusterKind && controlPlane.Kind == aks.ControlPlaneKind:
		return fmt.Sprintf(create, aks.ControlPlaneKind, controlPlane.Name, cluster.Name)
	case infrastructure.Kind == aks.ClusterKind:
		return ControlPlaneKindMessage(cluster, aks.ClusterKind, aks.ControlPlaneKind)
	}
	return fmt.Sprintf("spec.infrastructureRef of Cluster %s has the kind %q, but an AzureMachinePool requires an %s, or an %s with an %s. Correct spec.infrastructureRef",
		cluster.Name, infrastructure.Kind, azureClusterKind, aks.ClusterKind, aks.ControlPlaneKind)
}

// ControlPlaneKindMessage explains that the control plane of a Cluster is of another kind than its infrastructure requires.
func ControlPlaneKindMessage(cluster *clusterv1.Cluster, infrastructure, required string) string {
	return fmt.Sprintf("spec.controlPlaneRef of Cluster %s has the kind %q, but an %s requires an %s. Correct spec.controlPlaneRef",
		cluster.Name, cluster.Spec.ControlPlaneRef.Kind, infrastructure, required)
}

// ListMachinePools lists the AzureMachinePools of a Cluster by the label that Cluster API sets with their owner. The infrastructure is
// deleted after them.
func ListMachinePools(ctx context.Context, c client.Reader, namespace, cluster string) ([]client.Object, error) {
	list := &infrav1.AzureMachinePoolList{}
	if err := c.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster}); err != nil {
		return nil, fmt.Errorf("list AzureMachinePools: %w", err)
	}
	var out []client.Object
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out, nil
}

// Exists reports whether there is an infrastructure object.
func (h Infrastructure) Exists() bool { return h.AzureCluster != nil || h.ControlPlane != nil }

// Owner returns the object with the owner ID of the cluster's resources, or nil.
func (h Infrastructure) Owner() client.Object {
	switch {
	case h.AzureCluster != nil:
		return h.AzureCluster
	case h.ControlPlane != nil:
		return h.ControlPlane
	}
	return nil
}

// String describes the object, for example "AzureCluster c1".
func (h Infrastructure) String() string {
	if h.ControlPlane != nil {
		return aks.ControlPlaneKind + " " + h.ControlPlane.Name
	}
	return azureClusterKind + " " + h.AzureCluster.Name
}

// Spec returns the part of the object that plans depend on.
func (h Infrastructure) Spec() any {
	if h.ControlPlane != nil {
		return h.ControlPlane.Spec
	}
	return h.AzureCluster.Spec
}

// AccessRequest returns the request for the access of the cluster.
func (h Infrastructure) AccessRequest() access.Request {
	if h.ControlPlane != nil {
		return aks.AccessRequest(h.ControlPlane)
	}
	return access.RequestForAzureCluster(h.AzureCluster)
}

// IdentityRef returns the identity that the cluster names.
func (h Infrastructure) IdentityRef() *corev1.ObjectReference { return h.AccessRequest().IdentityRef }

// NothingCreated reports whether the cluster cannot have resources in Azure.
func (h Infrastructure) NothingCreated() bool {
	if h.ControlPlane != nil {
		return plannedmanaged.NothingCreated(h.ControlPlane)
	}
	return cluster.NothingCreated(h.AzureCluster)
}

// PlanInput returns the input of plans of VMs without facts of Azure. An AKS cluster is described by its spec. Objects are defaulted as
// by the webhooks, because they may have been stored before a default existed.
func (h Infrastructure) PlanInput(cluster *clusterv1.Cluster, subscription string, features plan.Features) plan.ClusterInput {
	in := plan.ClusterInput{Cluster: cluster, SubscriptionID: subscription, Features: features}
	if h.ControlPlane != nil {
		in.AzureCluster = plannedmanaged.BuildAzureCluster(h.aksInput(in))
		return in
	}
	in.AzureCluster = h.AzureCluster.DeepCopy()
	defaults.FillAzureCluster(in.AzureCluster)
	in.Facts.Zones = selfmanaged.AvailabilityZones(h.AzureCluster)
	return in
}

// ResourceGroup returns the name of the cluster's resource group. The nodes of an AKS cluster are in another one. in is that of PlanInput.
func (h Infrastructure) ResourceGroup(in plan.ClusterInput) string {
	if h.ControlPlane != nil {
		return plannedmanaged.ResourceGroupName(h.aksInput(in))
	}
	return plan.ResourceGroup(in)
}

// AddFacts adds the facts of an AKS cluster that only Azure has: the resource group of its nodes, and the zones of its region.
func (h Infrastructure) AddFacts(ctx context.Context, f *facts.Facts, caller facts.Caller, in plan.ClusterInput) (plan.ClusterInput, error) {
	if h.ControlPlane == nil {
		return in, nil
	}
	aks := h.aksInput(in)
	var err error
	if aks.Facts.Cluster, err = f.ReadResource(ctx, caller, plannedmanaged.ClusterID(aks)); err != nil {
		return in, err
	}
	in.AzureCluster = plannedmanaged.BuildAzureCluster(aks)
	in.Facts.Zones, err = f.ListZones(ctx, caller, in)
	return in, err
}

func (h Infrastructure) aksInput(in plan.ClusterInput) plannedmanaged.Input {
	out := plannedmanaged.Input{Cluster: in.Cluster, ControlPlane: h.ControlPlane.DeepCopy(), SubscriptionID: in.SubscriptionID}
	defaults.FillAzureManagedControlPlane(out.ControlPlane)
	return out
}
