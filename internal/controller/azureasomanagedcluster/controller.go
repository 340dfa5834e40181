// Package azureasomanagedcluster reconciles AzureASOManagedClusters: the resource manifests that an AKS cluster depends on, for example
// its resource group. It copies the endpoint of the AzureASOManagedControlPlane for Cluster API.
package azureasomanagedcluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	features "sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedclusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedclusters/status,verbs=patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedclusters/finalizers,verbs=update

// Kind implements reconcile.Kind for AzureASOManagedCluster.
type Kind struct {
	reconcile.Defaults[input]

	Client client.Client
	Facts  *facts.Facts
	// Features are the gates and flags of the manager.
	Features features.Features
}

var _ reconcile.Kind[*infrav1.AzureASOManagedCluster, input] = &Kind{}

// summarizedConditions are the conditions that Ready summarizes.
var summarizedConditions = []string{infrav1.ResourcesReadyCondition, infrav1.ControlPlaneEndpointReadyCondition}

// input is the input of one reconciliation.
type input struct {
	object      *infrav1.AzureASOManagedCluster
	members     *asoresources.Members
	clusterGone bool
	planned     plan.Input
	// plainObjects are the statuses of plain objects. acted is set once Act has done everything.
	plainObjects []infrav1.ASOResourceStatus
	acted        bool
}

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	users := access.ASOManagedClusterUsers(k.Client)
	return reconcile.Declaration{
		Name: asoresources.ClusterKind, Finalizer: infrav1.ASOManagedFinalizer, IdentityUsers: &users, ExternallyManageable: true,
		PrimaryCondition: infrav1.ResourcesReadyCondition, SummarizedConditions: summarizedConditions,
		WatchedObjects: k.watchedObjects, PublishesValues: true,
	}
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(context.Context, ctrl.Manager) ([]reconcile.Watch, error) {
	wakes := asoresources.MapToKind(k.Client, asoresources.ClusterKind)
	spec := []predicate.Predicate{watch.SpecChanges()}
	endpoint := watch.SpecOrStatusChanges(func(c *infrav1.AzureASOManagedControlPlane) any { return controlPlaneInputs(c) })
	return []reconcile.Watch{
		{Object: &clusterv1.Cluster{}, MapFunc: wakes, Predicates: spec},
		{Object: &infrav1.AzureASOManagedControlPlane{}, MapFunc: wakes, Predicates: []predicate.Predicate{endpoint}},
		{Object: &infrav1.AzureASOManagedMachinePool{}, MapFunc: wakes, Predicates: spec},
		{Object: &corev1.Secret{}, MapFunc: asoresources.MapSecret(k.Client, asoresources.ClusterKind), MetadataOnly: true},
		{Object: &corev1.ConfigMap{}, MapFunc: asoresources.MapConfigMap(k.Client, asoresources.ClusterKind), MetadataOnly: true},
	}, nil
}

// Load implements reconcile.Kind.
func (k *Kind) Load(ctx context.Context, object *infrav1.AzureASOManagedCluster) (*input, reconcile.Target, error) {
	members, gone, err := asoresources.LoadMembers(ctx, k.Client, object, asoresources.ClusterKind)
	if err != nil {
		return nil, reconcile.Target{}, err
	}
	members.Infrastructure = object
	return &input{object: object, members: members, clusterGone: gone}, reconcile.Target{
		Cluster: members.Cluster, Owner: object, Identity: members.AccessRequest(asoresources.ClusterKind, object),
		WasProvisioned: object.Status.Initialization.Provisioned != nil,
	}, nil
}

// LoadPlanInput implements reconcile.Kind.
func (k *Kind) LoadPlanInput(ctx context.Context, session reconcile.Session, in *input) (err error) {
	in.planned, err = in.members.LoadPlanInput(ctx, k.Client, session, k.Features.UncheckedASOKinds, asoresources.ClusterKind, in.object)
	return err
}

// FingerprintInputs implements reconcile.Input.
func (in *input) FingerprintInputs() []any {
	return append(asoresources.FingerprintInputs(in.planned), controlPlaneInputs(in.members.ControlPlane), in.object.Spec.ControlPlaneEndpoint,
		in.members.Cluster.Spec.ControlPlaneRef)
}

// controlPlaneInputs returns the part of the control plane's status that the object shows: the endpoint, or why there is none. The control
// plane may be nil.
func controlPlaneInputs(controlPlane *infrav1.AzureASOManagedControlPlane) []any {
	if controlPlane == nil {
		return nil
	}
	endpoint := controlPlane.Status.ControlPlaneEndpoint
	if endpoint.Host != "" {
		return []any{endpoint}
	}
	reason, message := status.StalledCause(controlPlane)
	return []any{endpoint, reason, message}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if in.object.Status.Initialization.Provisioned == nil && len(in.members.CheckVersion(ctx, k.Facts, session, in.planned)) > 0 {
		// This precedes the group, which AKS would leave behind with its refusal. The control plane shows the versions.
		condition := status.WaitFor(asoresources.ControlPlaneKind, in.members.ControlPlane, "waits for another version of")
		condition.Type = infrav1.ControlPlaneEndpointReadyCondition
		return nil, reconcile.WaitFor(condition)
	}
	return in.members.PlanResources(ctx, k.Facts, session, &in.planned)
}

// newPublisher returns the publisher for the object.
func (k *Kind) newPublisher(in *input) published.Publisher {
	return published.Publisher{Client: k.Client, Owner: in.object, Kind: asoresources.ClusterKind, Cluster: in.members.Cluster.Name}
}

// Act implements reconcile.Kind. It writes the plain objects of the manifests and the values that operatorSpec requests.
func (k *Kind) Act(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (err error) {
	if in.plainObjects, err = asoresources.ReconcilePlainObjects(ctx, k.Client, session, in.object, in.planned); err != nil {
		return err
	}
	exporter := asoresources.Exporter{Facts: k.Facts, Session: session, To: k.newPublisher(in)}
	if err := exporter.ExportValues(ctx, in.planned, outcome); err != nil {
		return err
	}
	in.acted = true
	return nil
}

// Report implements reconcile.Kind.
func (k *Kind) Report(in *input, outcome arm.Outcome) (time.Duration, error) {
	if !in.object.DeletionTimestamp.IsZero() {
		reportDeletion(in, outcome)
		return 0, nil
	}
	resources, done := asoresources.ReportResources(in.object, in.planned, outcome, in.plainObjects)
	in.object.Status.Resources = resources
	if !in.acted {
		return 0, nil
	}
	copyEndpoint(in.object, in.members, done)
	reconcile.SummarizeReady(in.object, summarizedConditions)
	return asoresources.ValidFor(in.plainObjects, 0), nil
}

// BeforeDelete implements reconcile.Kind. It waits for the pools and the control plane, whose deletion wakes the object.
func (k *Kind) BeforeDelete(_ context.Context, in *input) error {
	in.object.Status.Ready = false
	first := deletion.Prerequisites{Cluster: in.members.Cluster, ClusterGone: in.clusterGone}
	switch {
	case len(in.members.Pools) > 0:
		first.Kind, first.OwnerKind = asoresources.MachinePoolKind, "MachinePool"
		for _, pool := range in.members.Pools {
			first.Objects = append(first.Objects, pool.Pool)
		}
		return reconcile.WaitFor(first.WaitCondition(infrav1.WaitingForMachinePoolsReason))
	case in.members.ControlPlane != nil:
		first.Kind, first.OwnerKind = asoresources.ControlPlaneKind, "Cluster"
		first.Objects = append(first.Objects, in.members.ControlPlane)
		return reconcile.WaitFor(first.WaitCondition(infrav1.WaitingForControlPlaneReason))
	}
	return nil
}

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if err := k.LoadPlanInput(ctx, session, in); err != nil {
		return nil, err
	}
	return asoresources.PlanDeletion(ctx, k.Facts, session, in.planned, false, true)
}

// reportDeletion sets the status while the deletion progresses.
func reportDeletion(in *input, outcome arm.Outcome) {
	in.object.Status.Resources = asoresources.ReportDeletion(in.object, in.planned, outcome, summarizedConditions, infrav1.ControlPlaneEndpointReadyCondition)
}

// DescribeResources implements reconcile.Kind.
func (k *Kind) DescribeResources(in *input, subscription string) deletion.Resources {
	return in.members.DescribeResources(asoresources.ClusterKind, in.object, subscription, in.object.Spec.ControlPlaneEndpoint.Host != "")
}

// copyEndpoint copies the endpoint of the control plane. A provisioned object stays provisioned.
func copyEndpoint(object *infrav1.AzureASOManagedCluster, members *asoresources.Members, done bool) {
	condition := metav1.Condition{Type: infrav1.ControlPlaneEndpointReadyCondition, Status: metav1.ConditionFalse,
		Reason: infrav1.WaitingReason}
	ref := members.Cluster.Spec.ControlPlaneRef
	switch {
	case ref.Kind != asoresources.ControlPlaneKind:
		condition.Reason = infrav1.InvalidConfigurationReason
		condition.Message = clusterinfra.ControlPlaneKindMessage(members.Cluster, asoresources.ClusterKind, asoresources.ControlPlaneKind)
	case members.ControlPlane == nil:
		condition.Message = asoresources.ControlPlaneKind + " " + ref.Name + " does not exist yet"
	case members.ControlPlane.Status.ControlPlaneEndpoint.Host == "":
		condition = status.WaitFor(asoresources.ControlPlaneKind, members.ControlPlane, "waits for the endpoint of")
		condition.Type = infrav1.ControlPlaneEndpointReadyCondition
	default:
		object.Spec.ControlPlaneEndpoint = members.ControlPlane.Status.ControlPlaneEndpoint
		condition.Status, condition.Reason = metav1.ConditionTrue, infrav1.ReadyReason
	}
	conditions.Set(object, condition)
	if done && condition.Status == metav1.ConditionTrue {
		object.Status.Initialization.Provisioned = new(true)
	}
	object.Status.Ready = object.Status.Initialization.Provisioned != nil && *object.Status.Initialization.Provisioned
}
