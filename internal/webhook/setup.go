package webhook

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// SetupWithManager serves the webhooks of all kinds. Their paths are "/mutate-" and "/validate-" and
// "infrastructure-cluster-x-k8s-io-v1beta1-<kind in lower case>".
//
// What a rule looks up is read from the API server: the manager's cache may lag behind a Cluster that was applied with the
// object, and knows no other namespace than the manager's own.
func SetupWithManager(mgr ctrl.Manager, features plan.Features) error {
	identity := &identityHandler{}
	cluster := &clusterHandler{features: features}
	clusterTemplate := &clusterTemplateHandler{}
	machine := &machineHandler{subscription: SubscriptionOf(mgr.GetAPIReader()), random: random{}}
	machineTemplate := &machineTemplateHandler{random: random{}}
	lookup := managedLookup{reader: mgr.GetAPIReader()}
	controlPlane := &controlPlaneHandler{lookup: lookup, random: random{}}
	controlPlaneTemplate := &controlPlaneTemplateHandler{}
	pool := &poolHandler{lookup: lookup}
	poolTemplate := &poolTemplateHandler{}
	for _, register := range []func() error{
		ctrl.NewWebhookManagedBy(mgr, &infrav1.AzureClusterIdentity{}).WithValidator(identity).Complete,
		ctrl.NewWebhookManagedBy(mgr, &infrav1.AzureCluster{}).WithDefaulter(cluster).WithValidator(cluster).Complete,
		ctrl.NewWebhookManagedBy(mgr, &infrav1.AzureClusterTemplate{}).WithDefaulter(clusterTemplate).WithValidator(clusterTemplate).Complete,
		ctrl.NewWebhookManagedBy(mgr, &infrav1.AzureMachine{}).WithDefaulter(machine).WithValidator(machine).Complete,
		ctrl.NewWebhookManagedBy(mgr, &infrav1.AzureMachineTemplate{}).WithDefaulter(machineTemplate).WithValidator(machineTemplate).Complete,
		ctrl.NewWebhookManagedBy(mgr, &infrav1.AzureManagedControlPlane{}).WithDefaulter(controlPlane).WithValidator(controlPlane).Complete,
		ctrl.NewWebhookManagedBy(mgr, &infrav1.AzureManagedControlPlaneTemplate{}).WithDefaulter(controlPlaneTemplate).WithValidator(controlPlaneTemplate).Complete,
		ctrl.NewWebhookManagedBy(mgr, &infrav1.AzureManagedMachinePool{}).WithDefaulter(pool).WithValidator(pool).Complete,
		ctrl.NewWebhookManagedBy(mgr, &infrav1.AzureManagedMachinePoolTemplate{}).WithDefaulter(poolTemplate).WithValidator(poolTemplate).Complete,
	} {
		if err := register(); err != nil {
			return err
		}
	}
	return nil
}

// refuse turns errors into the answer that kubectl shows; nil when there are none.
func refuse(kind string, obj client.Object, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(infrav1.GroupVersion.WithKind(kind).GroupKind(), obj.GetName(), errs)
}

// admitDelete admits deletions, which no kind here refuses.
type admitDelete[T runtime.Object] struct{}

func (admitDelete[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }
