package azurejson

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// retiredFor is how long the Secret of a deleted template stays. A machine that takes it is created within seconds, and reads it within minutes.
const retiredFor = time.Hour

// outlivesOwner reports whether the Secret of owner stays when owner is deleted, which holds for the template of the control plane of a
// ClusterClass.
//
// When such a template changes, Cluster API computes the files of the machines with the name of the former template, creates the new one, and
// deletes the former at once. Its next reconciliation corrects the files. A machine that is created in between would wait for the former
// Secret for ever, and the control plane for the machine. Templates of MachineDeployments stay until no machine uses them.
// Source: reconcileControlPlane in core/reconcilers/topology/cluster/reconcile_state.go of Cluster API v1.14.2.
func outlivesOwner(owner client.Object) bool {
	_, isTemplate := owner.(*infrav1.AzureMachineTemplate)
	_, ofTopology := owner.GetLabels()[clusterv1.ClusterTopologyOwnedLabel]
	_, ofWorkers := owner.GetLabels()[clusterv1.ClusterTopologyMachineDeploymentNameLabel]
	return isTemplate && ofTopology && !ofWorkers
}

// deleteRetired deletes the Secrets of earlier templates of the control plane when the current template is old enough, and returns how long it
// is until then.
func (r *Reconciler) deleteRetired(ctx context.Context, cluster *clusterv1.Cluster, current client.Object) (time.Duration, error) {
	if !outlivesOwner(current) || r.Secrets == nil {
		return 0, nil
	}
	if remaining := retiredFor - r.Now().Sub(current.GetCreationTimestamp().Time); remaining > 0 {
		return remaining, nil
	}
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := r.Secrets.List(ctx, secrets, client.InNamespace(current.GetNamespace()), client.MatchingLabels{cluster.Name: ownedLabelValue}); err != nil {
		return 0, fmt.Errorf("list the Secrets of Cluster %s: %w", cluster.Name, err)
	}
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		template, is := strings.CutSuffix(secret.Name, nameSuffix)
		if !is || !slices.ContainsFunc(secret.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == cluster.UID }) {
			continue
		}
		err := r.Client.Get(ctx, client.ObjectKey{Namespace: secret.Namespace, Name: template}, &infrav1.AzureMachineTemplate{})
		if !apierrors.IsNotFound(err) {
			if err != nil {
				return 0, fmt.Errorf("get AzureMachineTemplate %s: %w", template, err)
			}
			continue
		}
		if err := r.Client.Delete(ctx, secret, client.Preconditions{UID: &secret.UID}); client.IgnoreNotFound(err) != nil {
			return 0, fmt.Errorf("delete Secret %s of a deleted AzureMachineTemplate: %w", secret.Name, err)
		}
	}
	return 0, nil
}
