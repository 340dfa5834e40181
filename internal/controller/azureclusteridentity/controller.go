// Package azureclusteridentity reconciles AzureClusterIdentities: the Ready condition shows whether the identity yields a credential,
// so that a missing Secret or key is shown where it has to be corrected.
//
// Whether Entra ID accepts the credential is shown by the clusters that use it.
package azureclusteridentity

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities/status,verbs=patch

// Kind implements reconcile.LocalKind for AzureClusterIdentity. An identity belongs to no Cluster, because many may use it.
type Kind struct {
	Client     client.Client
	Identities *identity.Provider
}

var _ reconcile.LocalKind[*infrav1.AzureClusterIdentity, infrav1.AzureClusterIdentity] = &Kind{}

// Declare implements reconcile.Loader.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{Name: identity.Kind, PrimaryCondition: infrav1.ReadyCondition}
}

// NewObject implements reconcile.Loader.
func (k *Kind) NewObject() *infrav1.AzureClusterIdentity { return &infrav1.AzureClusterIdentity{} }

// WatchedObjects implements reconcile.Loader.
func (k *Kind) WatchedObjects(context.Context, ctrl.Manager) ([]reconcile.Watch, error) {
	return []reconcile.Watch{{Object: &corev1.Secret{}, MapFunc: k.mapSecret, MetadataOnly: true}}, nil
}

// mapSecret wakes the identities that refer to a Secret.
func (k *Kind) mapSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	identities, err := identity.Of(ctx, k.Client, client.ObjectKeyFromObject(secret))
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "find the AzureClusterIdentities of a Secret")
	}
	var out []ctrl.Request
	for _, item := range identities {
		out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&item)})
	}
	return out
}

// Load implements reconcile.Loader.
func (k *Kind) Load(_ context.Context, object *infrav1.AzureClusterIdentity) (*infrav1.AzureClusterIdentity, reconcile.Target, error) {
	return object, reconcile.Target{}, nil
}

// ReportStatus implements reconcile.LocalKind.
func (k *Kind) ReportStatus(ctx context.Context, object *infrav1.AzureClusterIdentity) error {
	if !object.DeletionTimestamp.IsZero() {
		return k.waitForUsers(ctx, object)
	}
	found := []metav1.Condition{{Type: infrav1.ReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}}
	var verdict error
	if err := k.Identities.Check(ctx, object); err != nil {
		var after time.Duration
		found[0], after = status.ProblemCondition(infrav1.ReadyCondition, err)
		verdict = reconcile.RecheckIn(after, err)
	}
	if k.Identities.Trusts() {
		found = append(found, tenantsTrustedCondition)
	}
	if former, err := k.Identities.UsesFormer(ctx, object); err == nil && former {
		found = append(found, usedBeforeUpgradeCondition)
	}
	status.SetConditions(object, []string{infrav1.TenantsIsolatedCondition}, found)
	return verdict
}

// usedBeforeUpgradeCondition is set on an identity that keeps a credential from before the upgrade from the established provider.
var usedBeforeUpgradeCondition = metav1.Condition{
	Type: infrav1.TenantsIsolatedCondition, Status: metav1.ConditionFalse, Reason: infrav1.UsedBeforeUpgradeReason,
	Message: fmt.Sprintf("the %s keeps a credential that is not its namespace's, because it was in use before the upgrade from the established provider; ConfigMap %s in the manager's namespace lists it",
		identity.Kind, identity.FormerRecordName),
}

// tenantsTrustedCondition is set on identities by a manager that trusts tenants.
var tenantsTrustedCondition = metav1.Condition{
	Type: infrav1.TenantsIsolatedCondition, Status: metav1.ConditionFalse, Reason: infrav1.TenantsTrustedReason,
	Message: fmt.Sprintf("the manager runs with --%s=%s: users who may create an %s can use every Secret with a credential, and the manager's own identity",
		identity.TenancyFlag, identity.Trusted, identity.Kind),
}
