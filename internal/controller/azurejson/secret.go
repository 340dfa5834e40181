package azurejson

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// ownedLabelValue is the value of the label <cluster name> that marks the Secrets of a cluster.
const ownedLabelValue = "owned"

// nameSuffix is the end of the name of a Secret, after the name of its owner.
const nameSuffix = "-azure-json"

// writeSecret creates the Secret, or updates one that the cluster owns.
func (r *Reconciler) writeSecret(ctx context.Context, cluster *clusterv1.Cluster, owner client.Object, data map[string][]byte) error {
	key := secretKey(client.ObjectKeyFromObject(owner))
	want := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{cluster.Name: ownedLabelValue}},
		Data:       data,
	}
	watch.InheritFilterLabel(owner, want)
	if err := controllerutil.SetControllerReference(owner, want, r.Client.Scheme()); err != nil {
		return fmt.Errorf("owner of Secret %s: %w", key, err)
	}
	if outlivesOwner(owner) {
		if err := controllerutil.SetOwnerReference(cluster, want, r.Client.Scheme()); err != nil {
			return fmt.Errorf("owner of Secret %s: %w", key, err)
		}
	}
	if r.verified.isCurrent(ctx, r.Secrets, want) {
		return nil
	}
	have := &corev1.Secret{}
	if err := r.Client.Get(ctx, key, have); err != nil {
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("get Secret %s: %w", key, err)
		}
		created := want.DeepCopy()
		if err := r.Client.Create(ctx, created); err != nil {
			return fmt.Errorf("create Secret %s: %w", key, err)
		}
		r.verified.remember(created, want)
		return nil
	}
	if have.Labels[cluster.Name] != ownedLabelValue {
		return nil
	}
	// The reference is compared including its API version, because a release with another API version, or a backup of it, may have
	// written it.
	changed := have.DeepCopy()
	if !watch.InheritFilterLabel(owner, changed) && equality.Semantic.DeepEqual(have.Data, want.Data) &&
		containsAll(have.OwnerReferences, want.OwnerReferences) {
		r.verified.remember(have, want)
		return nil
	}
	changed.Data = want.Data
	changed.OwnerReferences = want.OwnerReferences
	if err := r.Client.Patch(ctx, changed, client.MergeFrom(have)); err != nil {
		return fmt.Errorf("patch Secret %s: %w", key, err)
	}
	r.verified.remember(changed, want)
	return nil
}

// containsAll reports whether have contains the owner references of want.
func containsAll(have, want []metav1.OwnerReference) bool {
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(h, w) }) {
			return false
		}
	}
	return true
}

// secretKey returns the key of the Secret of a template, pool or machine.
func secretKey(owner client.ObjectKey) client.ObjectKey {
	return client.ObjectKey{Namespace: owner.Namespace, Name: owner.Name + nameSuffix}
}

// reportFailure emits an event on the owner about a Secret that cannot be written. The condition for the same cause is on the
// AzureCluster. Ready of a template, which has another writer, is about its VM size and its identities only.
func (r *Reconciler) reportFailure(ctx context.Context, owner client.Object, err error) (ctrl.Result, error) {
	if !eventlog.IsFailure(ctx, err) {
		return ctrl.Result{}, err
	}
	_, after := status.ProblemCondition("", err)
	_ = r.warnOwner(ctx, owner, err)
	return ctrl.Result{RequeueAfter: max(after, time.Second)}, nil
}

// warnOwner emits an event on the owner about the error and returns the error.
func (r *Reconciler) warnOwner(ctx context.Context, owner client.Object, err error) error {
	if eventlog.IsFailure(ctx, err) {
		r.eventLog.WarnOnce(ctx, owner, infrav1.CloudConfigFailedReason, infrav1.CloudConfigFailedReason, "azure.json cannot be written: "+err.Error(), err)
	}
	return err
}
