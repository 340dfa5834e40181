// Package azureasomanagedcontrolplane reconciles AzureASOManagedControlPlanes: the resource manifests of an AKS cluster, and its
// kubeconfigs.
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
	features "sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedcontrolplanes,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedcontrolplanes/status,verbs=patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureasomanagedcontrolplanes/finalizers,verbs=update

// Kind implements reconcile.Kind for AzureASOManagedControlPlane.
type Kind struct {
	reconcile.Defaults[input]

	Client client.Client
	Facts  *facts.Facts
	// Features are the gates and flags of the manager.
	Features features.Features
}

var _ reconcile.Kind[*infrav1.AzureASOManagedControlPlane, input] = &Kind{}

// summarizedConditions are the conditions that Ready summarizes.
var summarizedConditions = []string{infrav1.ResourcesReadyCondition, infrav1.KubeconfigReadyCondition}

// input is the input of one reconciliation.
type input struct {
	object      *infrav1.AzureASOManagedControlPlane
	members     *asoresources.Members
	clusterGone bool
	planned     plan.Input
	// plainObjects are the statuses of plain objects.
	plainObjects []infrav1.ASOResourceStatus
	// published is set once the kubeconfigs are published. They are valid for accessValidFor.
	published      bool
	accessValidFor time.Duration
	// refusedSizes are errors about VM sizes for which AKS refused a resource.
	refusedSizes field.ErrorList
	// acted is set once Act has done everything.
	acted bool
	// power is what annotations ask of the cluster.
	power *reconcile.Power
}

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{
		Name: asoresources.ControlPlaneKind, Finalizer: infrav1.ASOManagedControlPlaneFinalizer,
		Stoppable: true, PrimaryCondition: infrav1.ResourcesReadyCondition, SummarizedConditions: summarizedConditions,
		WatchedObjects: k.watchedObjects, PublishesValues: true,
	}
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(context.Context, ctrl.Manager) ([]reconcile.Watch, error) {
	wakes := asoresources.MapToKind(k.Client, asoresources.ControlPlaneKind)
	spec := []predicate.Predicate{watch.SpecChanges()}
	made := watch.SpecOrStatusChanges(func(c *infrav1.AzureASOManagedCluster) any { return asoresources.AllInPlace(c) })
	return []reconcile.Watch{
		{Object: &clusterv1.Cluster{}, MapFunc: wakes, Predicates: spec},
		{Object: &clusterv1.MachinePool{}, MapFunc: wakes, Predicates: spec},
		{Object: &infrav1.AzureASOManagedMachinePool{}, MapFunc: wakes, Predicates: spec},
		{Object: &infrav1.AzureASOManagedCluster{}, MapFunc: wakes, Predicates: []predicate.Predicate{made}},
		{Object: &corev1.Secret{}, MapFunc: asoresources.MapSecret(k.Client, asoresources.ControlPlaneKind), MetadataOnly: true},
		{Object: &corev1.ConfigMap{}, MapFunc: asoresources.MapConfigMap(k.Client, asoresources.ControlPlaneKind), MetadataOnly: true},
	}, nil
}

// Load implements reconcile.Kind.
func (k *Kind) Load(ctx context.Context, object *infrav1.AzureASOManagedControlPlane) (*input, reconcile.Target, error) {
	members, gone, err := asoresources.LoadMembers(ctx, k.Client, object, asoresources.ControlPlaneKind)
	if err != nil {
		return nil, reconcile.Target{}, err
	}
	members.ControlPlane = object
	return &input{object: object, members: members, clusterGone: gone}, reconcile.Target{
		Cluster: members.Cluster, Owner: members.OwnerObject(), Identity: members.AccessRequest(asoresources.ControlPlaneKind, object),
		WaitCondition:  members.WaitsForOwner(),
		WasProvisioned: object.Status.Initialization.ControlPlaneInitialized != nil,
	}, nil
}

// LoadPlanInput implements reconcile.Kind.
func (k *Kind) LoadPlanInput(ctx context.Context, session reconcile.Session, in *input) (err error) {
	in.planned, err = in.members.LoadPlanInput(ctx, k.Client, session, k.Features.UncheckedASOKinds, asoresources.ControlPlaneKind, in.object)
	return err
}

// FingerprintInputs implements reconcile.Input.
func (in *input) FingerprintInputs() []any { return asoresources.FingerprintInputs(in.planned) }

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if _, ok := in.planned.ManagedCluster(); !ok {
		return nil, reconcile.RefuseSpec(field.ErrorList{field.Required(field.NewPath("spec", "resources"),
			"a resource manifest of kind ManagedCluster, group containerservice.azure.com")})
	}
	planned, err := in.members.PlanResources(ctx, k.Facts, session, &in.planned)
	if err != nil {
		return nil, err
	}
	if errs := in.members.DenyVersion(ctx, k.Facts, session, in.planned, planned.Graph); len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	return planned, nil
}

// BeforeDelete implements reconcile.Kind. It waits for the pools, whose deletion wakes the object.
func (k *Kind) BeforeDelete(_ context.Context, in *input) error {
	in.object.Status.Ready = false
	if len(in.members.Pools) == 0 {
		return nil
	}
	first := deletion.Prerequisites{Kind: asoresources.MachinePoolKind, OwnerKind: "MachinePool", Cluster: in.members.Cluster,
		ClusterGone: in.clusterGone}
	for _, pool := range in.members.Pools {
		first.Objects = append(first.Objects, pool.Pool)
	}
	return reconcile.WaitFor(first.WaitCondition(infrav1.WaitingForMachinePoolsReason))
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
	in.object.Status.Resources = asoresources.ReportDeletion(in.object, in.planned, outcome, summarizedConditions)
}

// DescribeResources implements reconcile.Kind.
func (k *Kind) DescribeResources(in *input, subscription string) deletion.Resources {
	return in.members.DescribeResources(asoresources.ControlPlaneKind, in.object, subscription, in.object.Status.Version != "")
}
