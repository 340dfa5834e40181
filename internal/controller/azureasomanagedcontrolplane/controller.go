// Package azureasomanagedcontrolplane declares how AzureASOManagedControlPlanes are reconciled: the documents of an AKS cluster
// and of what belongs to it, and the kubeconfigs that lead to it.
package azureasomanagedcontrolplane

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedcontrolplanes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedcontrolplanes/status,verbs=patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedcontrolplanes/finalizers,verbs=update

// Kind is AzureASOManagedControlPlane for a reconcile.Runner.
type Kind struct {
	Client client.Client
	Facts  *facts.Facts
}

var _ reconcile.Kind[*infrav1.AzureASOManagedControlPlane, input] = &Kind{}
var _ reconcile.Renewing[input] = &Kind{}

// summed are the conditions that Ready sums up.
var summed = []string{infrav1.ResourcesReadyCondition, infrav1.KubeconfigReadyCondition}

// input is what one pass works on.
type input struct {
	object      *infrav1.AzureASOManagedControlPlane
	members     *asoresources.Members
	clusterGone bool
	planned     plan.Input
}

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{
		Name: asoresources.ControlPlaneKind, Finalizer: infrav1.ASOManagedControlPlaneFinalizer, Foremost: infrav1.ResourcesReadyCondition, Summed: summed,
	}
}

// New implements reconcile.Kind.
func (k *Kind) New() *infrav1.AzureASOManagedControlPlane {
	return &infrav1.AzureASOManagedControlPlane{}
}

// Watches implements reconcile.Kind.
func (k *Kind) Watches(context.Context, ctrl.Manager) ([]reconcile.Watch, error) {
	wakes := asoresources.Wakes(k.Client, asoresources.ControlPlaneKind)
	spec := []predicate.Predicate{watch.Spec()}
	made := watch.Reads(func(c *infrav1.AzureASOManagedCluster) any { return asoresources.InPlace(c) })
	return []reconcile.Watch{
		{Object: &clusterv1.Cluster{}, Wakes: wakes, Predicates: spec},
		{Object: &clusterv1.MachinePool{}, Wakes: wakes, Predicates: spec},
		{Object: &infrav1.AzureASOManagedMachinePool{}, Wakes: wakes, Predicates: spec},
		{Object: &infrav1.AzureASOManagedCluster{}, Wakes: wakes, Predicates: []predicate.Predicate{made}},
		{Object: &corev1.Secret{}, Wakes: asoresources.OfSecret(k.Client, asoresources.ControlPlaneKind), MetadataOnly: true},
		{Object: &corev1.ConfigMap{}, Wakes: asoresources.OfConfigMap(k.Client, asoresources.ControlPlaneKind), MetadataOnly: true},
	}, nil
}

// Load implements reconcile.Kind.
func (k *Kind) Load(ctx context.Context, object *infrav1.AzureASOManagedControlPlane) (*input, reconcile.Subject, error) {
	members, gone, err := asoresources.Of(ctx, k.Client, object, asoresources.ControlPlaneKind)
	if err != nil {
		return nil, reconcile.Subject{}, err
	}
	members.ControlPlane = object
	return &input{object: object, members: members, clusterGone: gone}, reconcile.Subject{
		Cluster: members.Cluster, Owner: members.Owner(), Identity: members.Identity(asoresources.ControlPlaneKind, object), WaitsFor: members.WaitsForOwner(),
		Made: object.Status.Initialization.ControlPlaneInitialized != nil,
	}, nil
}

// Prepare implements reconcile.Kind.
func (k *Kind) Prepare(ctx context.Context, turn reconcile.Turn, in *input) (err error) {
	in.planned, err = in.members.Input(ctx, k.Client, turn, asoresources.ControlPlaneKind, in.object)
	return err
}

// Inputs implements reconcile.Kind.
func (k *Kind) Inputs(in *input) []any { return asoresources.Inputs(in.planned) }

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, turn reconcile.Turn, in *input) (*reconcile.Plan, error) {
	if _, ok := in.planned.ManagedCluster(); !ok {
		return nil, reconcile.Refused(field.ErrorList{field.Required(field.NewPath("spec", "resources"), "a document of kind ManagedCluster, group containerservice.azure.com")})
	}
	return in.members.Plan(ctx, k.Facts, turn, &in.planned)
}

// Report implements reconcile.Kind: a cluster that is in place is made usable.
func (k *Kind) Report(ctx context.Context, turn reconcile.Turn, in *input, outcome arm.Outcome) (time.Duration, error) {
	plain, err := asoresources.Plain(ctx, k.Client, turn, in.object, in.planned)
	if err != nil {
		return 0, err
	}
	resources, done := asoresources.Report(in.object, in.planned, outcome, plain)
	in.object.Status.Resources = resources
	holds, err := k.use(ctx, turn, in, outcome)
	if err != nil {
		return 0, reconcile.UnreadFor(infrav1.KubeconfigReadyCondition, err)
	}
	ready := done && in.object.Status.ControlPlaneEndpoint.Host != ""
	in.object.Status.Ready, in.object.Status.Initialized = ready, ready
	reconcile.Summarize(in.object, summed)
	return asoresources.Holds(plain, holds), nil
}

// Deleting implements reconcile.Kind: the cluster goes after its pools, whose deletion wakes it.
func (k *Kind) Deleting(_ context.Context, in *input) error {
	in.object.Status.Ready = false
	if len(in.members.Pools) == 0 {
		return nil
	}
	first := deletion.First{Kind: asoresources.MachinePoolKind, Owner: "MachinePool", Cluster: in.members.Cluster, ClusterGone: in.clusterGone}
	for _, pool := range in.members.Pools {
		first.Objects = append(first.Objects, pool.Pool)
	}
	return reconcile.WaitFor(first.Condition(infrav1.WaitingForMachinePoolsReason))
}

// Untouched implements reconcile.Kind.
func (k *Kind) Untouched(in *input) bool {
	return plan.NothingCreated(in.object) && in.object.Status.Version == ""
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
	deletion.Forget(in.object, infrav1.ReadyCondition, infrav1.ResourcesReadyCondition)
	in.object.Status.Resources, _ = asoresources.Report(in.object, in.planned, outcome, nil)
	reconcile.Summarize(in.object, summed)
}

// Held implements reconcile.Kind.
func (k *Kind) Held(in *input, subscription string) deletion.Held {
	return in.members.Held(asoresources.ControlPlaneKind, in.object, subscription)
}
