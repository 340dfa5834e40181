// Package azureasomanagedcluster declares how AzureASOManagedClusters are reconciled: the documents that an AKS cluster is in, as
// its resource group. It shows Cluster API where the API server of the AzureASOManagedControlPlane is.
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
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedclusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedclusters/status,verbs=patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedclusters/finalizers,verbs=update

// Kind is AzureASOManagedCluster for a reconcile.Runner.
type Kind struct {
	Client client.Client
	Facts  *facts.Facts
}

var _ reconcile.Kind[*infrav1.AzureASOManagedCluster, input] = &Kind{}
var _ reconcile.Renewing[input] = &Kind{}

// summed are the conditions that Ready sums up.
var summed = []string{infrav1.ResourcesReadyCondition, infrav1.ControlPlaneEndpointReadyCondition}

// input is what one pass works on.
type input struct {
	object      *infrav1.AzureASOManagedCluster
	members     *asoresources.Members
	clusterGone bool
	planned     plan.Input
}

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{
		Name: asoresources.ClusterKind, Finalizer: infrav1.ASOManagedFinalizer, Users: k.users(), Manageable: true,
		Foremost: infrav1.ResourcesReadyCondition, Summed: summed,
	}
}

// users finds the AzureASOManagedClusters of an identity.
func (k *Kind) users() *access.Users {
	return &access.Users{
		Kubernetes: k.Client,
		List:       func() client.ObjectList { return &infrav1.AzureASOManagedClusterList{} },
		Ref: func(obj client.Object) *corev1.ObjectReference {
			return obj.(*infrav1.AzureASOManagedCluster).Spec.IdentityRef
		},
	}
}

// New implements reconcile.Kind.
func (k *Kind) New() *infrav1.AzureASOManagedCluster { return &infrav1.AzureASOManagedCluster{} }

// Watches implements reconcile.Kind.
func (k *Kind) Watches(context.Context, ctrl.Manager) ([]reconcile.Watch, error) {
	wakes := asoresources.Wakes(k.Client, asoresources.ClusterKind)
	spec := []predicate.Predicate{watch.Spec()}
	endpoint := watch.Reads(func(c *infrav1.AzureASOManagedControlPlane) any { return c.Status.ControlPlaneEndpoint })
	return []reconcile.Watch{
		{Object: &clusterv1.Cluster{}, Wakes: wakes, Predicates: spec},
		{Object: &infrav1.AzureASOManagedControlPlane{}, Wakes: wakes, Predicates: []predicate.Predicate{endpoint}},
		{Object: &infrav1.AzureASOManagedMachinePool{}, Wakes: wakes, Predicates: spec},
		{Object: &corev1.Secret{}, Wakes: asoresources.OfSecret(k.Client, asoresources.ClusterKind), MetadataOnly: true},
		{Object: &corev1.ConfigMap{}, Wakes: asoresources.OfConfigMap(k.Client, asoresources.ClusterKind), MetadataOnly: true},
	}, nil
}

// Load implements reconcile.Kind.
func (k *Kind) Load(ctx context.Context, object *infrav1.AzureASOManagedCluster) (*input, reconcile.Subject, error) {
	members, gone, err := asoresources.Of(ctx, k.Client, object, asoresources.ClusterKind)
	if err != nil {
		return nil, reconcile.Subject{}, err
	}
	members.Infrastructure = object
	return &input{object: object, members: members, clusterGone: gone}, reconcile.Subject{
		Cluster: members.Cluster, Owner: object, Identity: members.Identity(asoresources.ClusterKind, object),
		Made: object.Status.Initialization.Provisioned != nil,
	}, nil
}

// Prepare implements reconcile.Kind.
func (k *Kind) Prepare(ctx context.Context, turn reconcile.Turn, in *input) (err error) {
	in.planned, err = in.members.Input(ctx, k.Client, turn, asoresources.ClusterKind, in.object)
	return err
}

// Inputs implements reconcile.Kind.
func (k *Kind) Inputs(in *input) []any {
	var endpoint infrav1.APIEndpoint
	if in.members.ControlPlane != nil {
		endpoint = in.members.ControlPlane.Status.ControlPlaneEndpoint
	}
	return append(asoresources.Inputs(in.planned), endpoint, in.object.Spec.ControlPlaneEndpoint, in.members.Cluster.Spec.ControlPlaneRef)
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, turn reconcile.Turn, in *input) (*reconcile.Plan, error) {
	return in.members.Plan(ctx, k.Facts, turn, &in.planned)
}

// publisher publishes for the object.
func (k *Kind) publisher(in *input) published.Publisher {
	return published.Publisher{Client: k.Client, Owner: in.object, Kind: asoresources.ClusterKind, Cluster: in.members.Cluster.Name}
}

// Renew implements reconcile.Renewing.
func (k *Kind) Renew(ctx context.Context, in *input) error { return k.publisher(in).Renew(ctx) }

// Report implements reconcile.Kind.
func (k *Kind) Report(ctx context.Context, turn reconcile.Turn, in *input, outcome arm.Outcome) (time.Duration, error) {
	plain, err := asoresources.Plain(ctx, k.Client, turn, in.object, in.planned)
	if err != nil {
		return 0, err
	}
	resources, done := asoresources.Report(in.object, in.planned, outcome, plain)
	in.object.Status.Resources = resources
	if err := asoresources.Export(ctx, k.publisher(in), in.planned, outcome, nil); err != nil {
		return 0, err
	}
	show(in.object, in.members, done)
	reconcile.Summarize(in.object, summed)
	return asoresources.Holds(plain, 0), nil
}

// Deleting implements reconcile.Kind: the infrastructure goes after what is in it, whose deletion wakes it.
func (k *Kind) Deleting(_ context.Context, in *input) error {
	in.object.Status.Ready = false
	first := deletion.First{Cluster: in.members.Cluster, ClusterGone: in.clusterGone}
	switch {
	case len(in.members.Pools) > 0:
		first.Kind, first.Owner = asoresources.MachinePoolKind, "MachinePool"
		for _, pool := range in.members.Pools {
			first.Objects = append(first.Objects, pool.Pool)
		}
		return reconcile.WaitFor(first.Condition(infrav1.WaitingForMachinePoolsReason))
	case in.members.ControlPlane != nil:
		first.Kind, first.Owner = asoresources.ControlPlaneKind, "Cluster"
		first.Objects = append(first.Objects, in.members.ControlPlane)
		return reconcile.WaitFor(first.Condition(infrav1.WaitingForControlPlaneReason))
	}
	return nil
}

// Untouched implements reconcile.Kind.
func (k *Kind) Untouched(in *input) bool {
	return plan.NothingCreated(in.object) && in.object.Spec.ControlPlaneEndpoint.Host == ""
}

// PlanDeletion implements reconcile.Kind.
func (k *Kind) PlanDeletion(ctx context.Context, turn reconcile.Turn, in *input) (*reconcile.Plan, error) {
	if err := k.Prepare(ctx, turn, in); err != nil {
		return nil, err
	}
	return asoresources.PlanDeletion(ctx, k.Facts, turn, in.planned, false, true)
}

// ReportDeletion implements reconcile.Kind.
func (k *Kind) ReportDeletion(in *input, outcome arm.Outcome) {
	deletion.Forget(in.object, append([]string{infrav1.ReadyCondition}, summed...)...)
	in.object.Status.Resources, _ = asoresources.Report(in.object, in.planned, outcome, nil)
	reconcile.Summarize(in.object, summed)
}

// Held implements reconcile.Kind.
func (k *Kind) Held(in *input, subscription string) deletion.Held {
	return in.members.Held(asoresources.ClusterKind, in.object, subscription)
}

// show copies the endpoint of the control plane. What is provisioned stays so.
func show(object *infrav1.AzureASOManagedCluster, members *asoresources.Members, done bool) {
	condition := metav1.Condition{Type: infrav1.ControlPlaneEndpointReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.WaitingReason}
	ref := members.Cluster.Spec.ControlPlaneRef
	switch {
	case ref.Kind != asoresources.ControlPlaneKind:
		condition.Reason = infrav1.InvalidConfigurationReason
		condition.Message = "spec.controlPlaneRef of Cluster " + members.Cluster.Name + " is of kind " + ref.Kind + ": an " + asoresources.ClusterKind + " goes with an " + asoresources.ControlPlaneKind + " only"
	case members.ControlPlane == nil:
		condition.Message = asoresources.ControlPlaneKind + " " + ref.Name + " is not there yet"
	case members.ControlPlane.Status.ControlPlaneEndpoint.Host == "":
		condition.Message = "waits for the endpoint of " + asoresources.ControlPlaneKind + " " + ref.Name
	default:
		object.Spec.ControlPlaneEndpoint = members.ControlPlane.Status.ControlPlaneEndpoint
		condition.Status, condition.Reason = metav1.ConditionTrue, infrav1.ReadyReason
	}
	conditions.Set(object, condition)
	object.Status.Ready = done && condition.Status == metav1.ConditionTrue
	if object.Status.Ready {
		object.Status.Initialization.Provisioned = new(true)
	}
}
