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
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusters;azuremanagedcontrolplanes;azureasomanagedclusters,verbs=get;list;watch

// listUsers names the objects that may use an identity, by the finalizers that they put on it.
func (k *Kind) listUsers(ctx context.Context) (map[string][]string, error) {
	out := map[string][]string{}
	for _, users := range access.UsersOfAllKinds(k.Client) {
		list, err := users.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, user := range list {
			addFinalizerNames(out, users.Finalizer, users.Kind, user)
		}
	}
	return out, nil
}

// addFinalizerNames adds the finalizers that a user puts on its identities. Users whose namespace and name read the same share one.
func addFinalizerNames(users map[string][]string, prefix, kind string, user client.Object) {
	name := fmt.Sprintf("%s %s/%s", kind, user.GetNamespace(), user.GetName())
	for _, finalizer := range []string{identity.FinalizerKey(prefix, user.GetNamespace(), user.GetName()),
		identity.LegacyFinalizerKey(prefix, user.GetNamespace(), user.GetName())} {
		users[finalizer] = append(users[finalizer], name)
	}
}

// inUseCondition returns the condition of an identity with finalizers of clusters. users has the names of known users. ok is false if
// there are no such finalizers.
func inUseCondition(object *infrav1.AzureClusterIdentity, users map[string][]string) (condition metav1.Condition, ok bool) {
	var known, unknown []string
	for _, finalizer := range object.Finalizers {
		switch named := users[finalizer]; {
		case len(named) > 0:
			known = append(known, named...)
		case identity.IsUser(finalizer):
			unknown = append(unknown, finalizer)
		}
	}
	var parts []string
	if len(known) > 0 {
		slices.Sort(known)
		all := slices.Compact(known)
		parts = append(parts, "waits for its users to be gone: "+deletion.SummarizeNames(all)+
			". To unblock the deletion, delete their Clusters, or refer to another identity in spec.identityRef")
		if !strings.HasSuffix(deletion.SummarizeNames(all), all[len(all)-1]) {
			parts[0] += ". To list them, run: kubectl get azureclusters,azuremanagedcontrolplanes,azureasomanagedclusters --all-namespaces --output " +
				"custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,IDENTITY:.spec.identityRef.name"
		}
	}
	if len(unknown) > 0 {
		parts = append(parts, "waits for users that do not exist or that this manager cannot see. Once nothing uses it, run: "+
			deletion.RemoveFinalizersCommand(object, identity.Kind, unknown...))
	}
	return metav1.Condition{Status: metav1.ConditionFalse, Reason: infrav1.InUseReason, Message: strings.Join(parts, "; ")}, len(parts) > 0
}
