// Package azureclusteridentity reconciles AzureClusterIdentities: the Ready condition shows whether the identity yields a credential, and
// whether Entra ID refused it when a cluster last used it, so that both are shown where they have to be corrected. The package asks
// Entra ID nothing.
package azureclusteridentity

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
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

var (
	_ reconcile.LocalKind[*infrav1.AzureClusterIdentity, input] = &Kind{}
	_ reconcile.WokenKind                                       = &Kind{}
)

// input is the input of one reconciliation.
type input struct {
	object *infrav1.AzureClusterIdentity
	// users names the possible users of an identity that is being deleted, by the finalizers that they put on it.
	users map[string][]string
	// unusable is why the identity yields no credential, or nil.
	unusable error
	// answered is set if Entra ID has answered this process.
	answered bool
	// tenantsTrusted is set if the manager trusts tenants, usedBeforeUpgrade if the identity keeps a credential from before the upgrade.
	tenantsTrusted, usedBeforeUpgrade bool
}

// Declare implements reconcile.Loader.
func (k *Kind) Declare() reconcile.Declaration {
	return reconcile.Declaration{Name: identity.Kind, PrimaryCondition: infrav1.ReadyCondition, WatchedObjects: k.watchedObjects}
}

// watchedObjects lists the other objects whose changes wake an object of this kind.
func (k *Kind) watchedObjects(context.Context, ctrl.Manager) ([]reconcile.Watch, error) {
	return []reconcile.Watch{{Object: &corev1.Secret{}, MapFunc: k.mapSecret, MetadataOnly: true}}, nil
}

// WakeWith implements reconcile.WokenKind. Answers of Entra ID wake identities.
func (k *Kind) WakeWith(wake func(client.ObjectKey)) { k.Identities.OnAnswer(wake) }

// mapSecret wakes the identities that refer to a Secret.
func (k *Kind) mapSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	identities, err := identity.FindBySecret(ctx, k.Client, client.ObjectKeyFromObject(secret))
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
func (k *Kind) Load(_ context.Context, object *infrav1.AzureClusterIdentity) (*input, reconcile.Target, error) {
	// Nothing is made for an identity, so that its time until it is ready is not counted.
	return &input{object: object}, reconcile.Target{WasProvisioned: true}, nil
}

// LoadStatusInput implements reconcile.LocalKind.
func (k *Kind) LoadStatusInput(ctx context.Context, in *input) (err error) {
	if !in.object.DeletionTimestamp.IsZero() {
		k.Identities.Forget(client.ObjectKeyFromObject(in.object))
		in.users, err = k.listUsers(ctx)
		return err
	}
	if in.unusable = k.Identities.CheckCredential(ctx, in.object); in.unusable == nil {
		in.unusable, in.answered = k.Identities.LastAnswer(ctx, in.object)
	}
	in.tenantsTrusted = k.Identities.TrustsTenants()
	former, err := k.Identities.UsesFormer(ctx, in.object)
	in.usedBeforeUpgrade = err == nil && former
	return nil
}

// Report implements reconcile.LocalKind. An identity that is being deleted shows its users.
func (k *Kind) Report(in *input) error {
	if !in.object.DeletionTimestamp.IsZero() {
		if condition, ok := inUseCondition(in.object, in.users); ok {
			return reconcile.WaitFor(condition)
		}
		return nil
	}
	found := []metav1.Condition{{Type: infrav1.ReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}}
	var recheck error
	if in.unusable != nil {
		var after time.Duration
		found[0], after = status.ProblemCondition(infrav1.ReadyCondition, in.unusable)
		recheck = reconcile.RecheckIn(after, in.unusable)
	}
	if last := conditions.Get(in.object, infrav1.ReadyCondition); in.unusable == nil && !in.answered && last != nil &&
		last.Reason == infrav1.CredentialsInvalidReason && last.ObservedGeneration == in.object.Generation && len(in.object.Finalizers) > 0 {
		// An earlier process got the answer. The clusters that use the identity are about to get another one.
		found[0] = *last
	}
	if in.tenantsTrusted {
		found = append(found, tenantsTrustedCondition)
	}
	if in.usedBeforeUpgrade {
		found = append(found, usedBeforeUpgradeCondition)
	}
	status.SetConditions(in.object, []string{infrav1.TenantsIsolatedCondition}, found)
	return recheck
}

// usedBeforeUpgradeCondition is set on an identity that keeps a credential from before the upgrade from the established provider.
var usedBeforeUpgradeCondition = metav1.Condition{
	Type: infrav1.TenantsIsolatedCondition, Status: metav1.ConditionFalse, Reason: infrav1.UsedBeforeUpgradeReason,
	Message: fmt.Sprintf("the %s keeps a credential that does not belong to its namespace, because it used it before the upgrade from the established provider. To end this, give it a credential of its own namespace, and remove the entry from ConfigMap %s in the manager's namespace",
		identity.Kind, identity.FormerRecordName),
}

// tenantsTrustedCondition is set on identities by a manager that trusts tenants.
var tenantsTrustedCondition = metav1.Condition{
	Type: infrav1.TenantsIsolatedCondition, Status: metav1.ConditionFalse, Reason: infrav1.TenantsTrustedReason,
	Message: fmt.Sprintf("the manager runs with --%s=%s: %s can use the manager's own identity, and an %s can use every Secret with a credential. To restrict them to their namespaces, set --%s=%s",
		identity.TenancyFlag, identity.Trusted, identity.CredentialSelectors, identity.Kind, identity.TenancyFlag, identity.Isolated),
}
