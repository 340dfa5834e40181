package azureclusteridentity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusters;azuremanagedcontrolplanes,verbs=get;list;watch

// listUsers names the objects that may use an identity, by the finalizers that they put on it.
func (k *Kind) listUsers(ctx context.Context) (map[string]string, error) {
	users := map[string]string{}
	networks := &infrav1.AzureClusterList{}
	if err := k.Client.List(ctx, networks); err != nil {
		return nil, fmt.Errorf("list AzureClusters: %w", err)
	}
	for i := range networks.Items {
		addFinalizerNames(users, infrav1.ClusterFinalizer, "AzureCluster", &networks.Items[i])
	}
	controlPlanes := &infrav1.AzureManagedControlPlaneList{}
	if err := k.Client.List(ctx, controlPlanes); err != nil {
		return nil, fmt.Errorf("list AzureManagedControlPlanes: %w", err)
	}
	for i := range controlPlanes.Items {
		addFinalizerNames(users, infrav1.ManagedControlPlaneFinalizer, "AzureManagedControlPlane", &controlPlanes.Items[i])
	}
	return users, nil
}

// addFinalizerNames adds the finalizers that a user puts on its identities.
func addFinalizerNames(users map[string]string, prefix, kind string, user client.Object) {
	name := fmt.Sprintf("%s %s/%s", kind, user.GetNamespace(), user.GetName())
	users[identity.FinalizerKey(prefix, user.GetNamespace(), user.GetName())] = name
	users[identity.LegacyFinalizerKey(prefix, user.GetNamespace(), user.GetName())] = name
}

// inUseCondition returns the condition of an identity with finalizers of clusters. users has the names of known users. ok is false if
// there are no such finalizers.
func inUseCondition(object *infrav1.AzureClusterIdentity, users map[string]string) (condition metav1.Condition, ok bool) {
	var known, unknown []string
	for _, finalizer := range object.Finalizers {
		user, found := users[finalizer]
		switch {
		case found:
			known = append(known, user)
		case identity.IsUser(finalizer):
			unknown = append(unknown, finalizer)
		}
	}
	var parts []string
	if len(known) > 0 {
		slices.Sort(known)
		all := slices.Compact(known)
		parts = append(parts, "waits for its users to be gone: "+deletion.SummarizeNames(all)+
			". To unblock the deletion, delete their Clusters, or name another identity in spec.identityRef")
		if !strings.HasSuffix(deletion.SummarizeNames(all), all[len(all)-1]) {
			parts[0] += ". To list them, run: kubectl get azureclusters,azuremanagedcontrolplanes --all-namespaces --output " +
				"custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,IDENTITY:.spec.identityRef.name"
		}
	}
	if len(unknown) > 0 {
		parts = append(parts, "waits for users that do not exist or that this manager cannot see. Once nothing uses it, run: "+
			deletion.RemoveFinalizersCommand(object, identity.Kind, unknown...))
	}
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: infrav1.InUseReason, Message: strings.Join(parts, "; ")}, len(parts) > 0
}
