package identity

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Allowed tells whether objects of a namespace with these labels may use the identity. The list and the selector are
// alternatives. Without allowedNamespaces nobody may; with an empty object everybody may; a list that is present and
// empty, and a selector that is empty or does not parse, admit nobody.
func Allowed(identity *infrav1.AzureClusterIdentity, namespace string, namespaceLabels map[string]string) bool {
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

// asksLabels tells whether Allowed depends on the labels of the namespace.
func asksLabels(identity *infrav1.AzureClusterIdentity, namespace string) bool {
	allowed := identity.Spec.AllowedNamespaces
	return allowed != nil && !slices.Contains(allowed.NamespaceList, namespace) && allowed.Selector != nil &&
		(len(allowed.Selector.MatchLabels) > 0 || len(allowed.Selector.MatchExpressions) > 0)
}
