package identity

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// IsNamespaceAllowed returns true if objects of a namespace with these labels may use the identity. A namespace is allowed by the list or by
// the selector. Without allowedNamespaces no namespace is allowed; an empty object allows all. A list that is present and empty,
// and a selector that is empty or does not parse, allow none.
func IsNamespaceAllowed(identity *infrav1.AzureClusterIdentity, namespace string, namespaceLabels map[string]string) bool {
	allowed := identity.Spec.AllowedNamespaces
	switch {
	case allowed == nil:
		return false
	case allowed.NamespaceList == nil && allowed.Selector == nil:
		return true
	case slices.Contains(allowed.NamespaceList, namespace):
		return true
	case !asksLabels(identity, namespace):
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(allowed.Selector)
	return err == nil && selector.Matches(labels.Set(namespaceLabels))
}

// asksLabels returns true if Allowed depends on the labels of the namespace.
func asksLabels(identity *infrav1.AzureClusterIdentity, namespace string) bool {
	allowed := identity.Spec.AllowedNamespaces
	return allowed != nil && !slices.Contains(allowed.NamespaceList, namespace) && allowed.Selector != nil &&
		(len(allowed.Selector.MatchLabels) > 0 || len(allowed.Selector.MatchExpressions) > 0)
}
