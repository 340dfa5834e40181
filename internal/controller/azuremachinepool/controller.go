// Package azuremachinepool reconciles AzureMachinePools: a scale set, and an AzureMachinePoolMachine for each of its VMs, for which
// Cluster API creates a Machine.
//
// Package rollout alone decides which VMs are deleted and when. A VM is deleted by deleting its Machine, so that Cluster API drains the
// node first; the AzureMachinePoolMachine stays until Azure has deleted the VM. One list of the VMs serves the pool and all of its
// machines. The state of nodes is read from Machines.
package azuremachinepool

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepools/status,verbs=patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepoolmachines,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinepoolmachines/status,verbs=patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines,verbs=get;list;watch;delete

// Kind implements reconcile.Kind for AzureMachinePool.
type Kind struct {
	reconcile.Defaults[input]

	Client   client.Client
	Engine   *engine.Engine
	Facts    *facts.Facts
	Features plan.Features
	// Secrets reads the watched metadata of Secrets. With nil, each reconciliation of a pool reads its bootstrap data.
	Secrets client.Reader
	// PlaceholderData is set while a plan is computed: a plan has placeholders for bootstrap data, which always differ from the data in Azure.
	PlaceholderData bool

	bootstrap selfmanaged.BootstrapSecrets
	requests  vmRequests
	passwords selfmanaged.Passwords
}

var _ reconcile.Kind[*infrav1.AzureMachinePool, input] = &Kind{}

// machineKind is the kind of the objects that represent VMs.
const machineKind = "AzureMachinePoolMachine"

// summarizedConditions are the conditions that Ready summarizes.
var summarizedConditions = []string{infrav1.ScaleSetRunningCondition, infrav1.RoleAssignmentReadyCondition,
	infrav1.ScaleSetModelUpdatedCondition, infrav1.ScaleSetDesiredReplicasCondition}

// Declare implements reconcile.Kind.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{
		Name: "AzureMachinePool", Finalizer: infrav1.MachinePoolFinalizer, PrimaryCondition: infrav1.ScaleSetRunningCondition,
		SummarizedConditions: summarizedConditions, Stoppable: true,
		WatchedObjects: k.watchedObjects, Dependents: &reconcile.Dependents{Kind: machineKind, Finalizer: infrav1.MachinePoolMachineFinalizer, List: k.listDependents,
			DescribeResource: describeVM},
	}
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(ctx context.Context, mgr ctrl.Manager) ([]reconcile.Watch, error) {
	ofCluster, err := util.ClusterToTypedObjectsMapper(mgr.GetClient(), &infrav1.AzureMachinePoolList{}, mgr.GetScheme())
	if err != nil {
		return nil, fmt.Errorf("map Clusters to AzureMachinePools: %w", err)
	}
	provisioned := predicates.ClusterPausedTransitionsOrInfrastructureProvisioned(mgr.GetScheme(), ctrl.LoggerFrom(ctx))
	network := watch.InfrastructureChanges(func(c *infrav1.AzureCluster) any { return c.Status.FailureDomains })
	controlPlane := watch.InfrastructureChanges(func(*infrav1.AzureManagedControlPlane) any { return nil })
	return []reconcile.Watch{
		{Object: &clusterv1.MachinePool{}, MapFunc: mapMachinePool, Predicates: []predicate.Predicate{watch.SpecChanges()}},
		{Object: &clusterv1.Cluster{}, MapFunc: ofCluster, Predicates: []predicate.Predicate{provisioned}},
		{Object: &infrav1.AzureCluster{}, MapFunc: k.mapInfrastructure, Predicates: []predicate.Predicate{network}},
		{Object: &infrav1.AzureManagedControlPlane{}, MapFunc: k.mapInfrastructure, Predicates: []predicate.Predicate{controlPlane}},
		{Object: &infrav1.AzureMachinePoolMachine{}, MapFunc: mapPoolMachine,
			Predicates: []predicate.Predicate{watch.SpecOrStatusChanges(poolMachineFinalizers)}},
		{Object: &clusterv1.Machine{}, MapFunc: k.mapMachine, Predicates: []predicate.Predicate{watch.SpecOrStatusChanges(machineStatusRead)}},
	}, nil
}

// machineStatusRead returns the part of a Machine's status that reconciliations read.
func machineStatusRead(machine *clusterv1.Machine) any {
	return []any{
		machine.Status.NodeRef, kubeletVersion(machine), conditions.IsTrue(machine, clusterv1.MachineNodeReadyCondition), canDeleteVM(machine),
		conditions.IsTrue(machine, clusterv1.MachineReadyCondition),
	}
}

// poolMachineFinalizers returns the finalizers of an AzureMachinePoolMachine. The pool adds its own again if it was removed.
func poolMachineFinalizers(vm *infrav1.AzureMachinePoolMachine) any { return vm.Finalizers }

// mapMachinePool wakes the pool that a MachinePool refers to.
func mapMachinePool(_ context.Context, obj client.Object) []ctrl.Request {
	ref := obj.(*clusterv1.MachinePool).Spec.Template.Spec.InfrastructureRef
	if ref.APIGroup != infrav1.GroupVersion.Group || ref.Kind != "AzureMachinePool" {
		return nil
	}
	return requestsFor(obj, ref.Name)
}

// mapPoolMachine wakes the pool of a VM.
func mapPoolMachine(_ context.Context, obj client.Object) []ctrl.Request {
	return requestsFor(obj, obj.GetLabels()[infrav1.MachinePoolNameLabel])
}

// mapMachine wakes the pool of the VM of a Machine.
func (k *Kind) mapMachine(ctx context.Context, obj client.Object) []ctrl.Request {
	ref := obj.(*clusterv1.Machine).Spec.InfrastructureRef
	if ref.APIGroup != infrav1.GroupVersion.Group || ref.Kind != machineKind {
		return nil
	}
	vm := &infrav1.AzureMachinePoolMachine{}
	if err := k.Client.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: ref.Name}, vm); err != nil {
		// An object that is gone represents no VM, and reads from the cache have no other errors.
		return nil
	}
	return mapPoolMachine(ctx, vm)
}

// mapInfrastructure wakes the pools of a cluster whose AzureCluster or AzureManagedControlPlane changed.
func (k *Kind) mapInfrastructure(ctx context.Context, obj client.Object) []ctrl.Request {
	name := obj.GetLabels()[clusterv1.ClusterNameLabel]
	if name == "" {
		return nil
	}
	list := &infrav1.AzureMachinePoolList{}
	if err := k.Client.List(ctx, list, client.InNamespace(obj.GetNamespace()),
		client.MatchingLabels{clusterv1.ClusterNameLabel: name}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list AzureMachinePools", "cluster", name)
		return nil
	}
	var out []ctrl.Request
	for i := range list.Items {
		out = append(out, requestsFor(&list.Items[i], list.Items[i].Name)...)
	}
	return out
}

// requestsFor returns the request for the object of this name in the namespace of beside; none for "".
func requestsFor(beside client.Object, name string) []ctrl.Request {
	if name == "" {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: beside.GetNamespace(), Name: name}}}
}
