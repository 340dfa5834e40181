package rights

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

// everywhere represents all namespaces in a SelfSubjectRulesReview, which requires one. No namespace can have this name, so no
// RoleBinding is in it, and only ClusterRoleBindings count.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names
const everywhere = "-"

// maxShown is the largest number of list entries in a message.
const maxShown = 20

// Report is the difference between the rights that a manager has and those that it needs. Entries read as "get, list secrets in all namespaces".
type Report struct {
	Missing []string
	// Unneeded are permissions in all namespaces that the roles of the release do not grant there.
	Unneeded []string
}

// CheckRights reads the permissions of the client's user from the API server. If the authorizer cannot list permissions, Check requests a
// review of each one that seems to be missing, and finds no unneeded ones.
func CheckRights(ctx context.Context, client authorizationclient.AuthorizationV1Interface, scope Scope) (Report, error) {
	wanted, err := neededRights(scope)
	if err != nil {
		return Report{}, err
	}
	has, incomplete := map[string][]right{}, false
	for _, namespace := range append([]string{""}, namespacesOf(wanted)...) {
		if _, asked := has[namespace]; asked {
			continue
		}
		review, err := client.SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{
			Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: cmp.Or(namespace, everywhere)},
		}, metav1.CreateOptions{})
		if err != nil {
			return Report{}, fmt.Errorf("ask for the manager's rights in %s: %w", describeScope(namespace), err)
		}
		incomplete = incomplete || review.Status.Incomplete
		has[namespace] = grantedRights(review.Status.ResourceRules, namespace)
	}
	var missing []right
	for _, want := range wanted {
		if want.isIncludedIn(has[want.namespace]) {
			continue
		}
		if incomplete {
			allowed, err := isAllowed(ctx, client, want)
			if err != nil {
				return Report{}, err
			}
			if allowed {
				continue
			}
		}
		missing = append(missing, want)
	}
	// A manager of one namespace may have the roles in all namespaces, as the release binds them.
	released, err := neededRights(Scope{SecretNamespaces: scope.SecretNamespaces})
	if err != nil {
		return Report{}, err
	}
	var unneeded []right
	for _, found := range has[""] {
		if !isGrantedToEveryUser(found) &&
			!slices.ContainsFunc(released, func(want right) bool { return want.namespace == "" && want.includesRight(found) }) {
			unneeded = append(unneeded, found)
		}
	}
	return Report{Missing: describeRights(missing), Unneeded: describeRights(unneeded)}, nil
}

func namespacesOf(rights []right) []string {
	var out []string
	for _, r := range rights {
		out = append(out, r.namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func grantedRights(rules []authorizationv1.ResourceRule, namespace string) []right {
	var out []rbacv1.PolicyRule
	for _, rule := range rules {
		out = append(out, rbacv1.PolicyRule{Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources,
			ResourceNames: rule.ResourceNames})
	}
	return rightsOf(out, namespace)
}

func isAllowed(ctx context.Context, client authorizationclient.AuthorizationV1Interface, want right) (bool, error) {
	resource, subresource, _ := strings.Cut(want.resource, "/")
	review, err := client.SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: want.namespace, Verb: want.verb, Group: want.group, Resource: resource, Subresource: subresource, Name: want.name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("ask whether the manager may %s: %w", describeRights([]right{want})[0], err)
	}
	return review.Status.Allowed, nil
}

// isGrantedToEveryUser returns true if Kubernetes grants a permission to every user: reviews of the user's own permissions.
// https://kubernetes.io/docs/reference/access-authn-authz/rbac/#discovery-roles
func isGrantedToEveryUser(r right) bool {
	return r.verb == "create" && strings.HasPrefix(r.resource, "selfsubject") && strings.HasSuffix(r.group, ".k8s.io")
}

// describeRights returns one entry for each resource, with all verbs.
func describeRights(rights []right) []string {
	verbs := map[right][]string{}
	for _, r := range rights {
		verb := r.verb
		r.verb = ""
		if !slices.Contains(verbs[r], verb) {
			verbs[r] = append(verbs[r], verb)
		}
	}
	var out []string
	for r, of := range maps.All(verbs) {
		slices.Sort(of)
		what := r.resource
		if r.group != "" {
			what += "." + r.group
		}
		if r.name != "" {
			what += " " + r.name
		}
		out = append(out, strings.Join(of, ", ")+" "+what+" in "+describeScope(r.namespace))
	}
	slices.Sort(out)
	if len(out) > maxShown {
		out = append(out[:maxShown], fmt.Sprintf("and %d more", len(out)-maxShown))
	}
	return out
}

func describeScope(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}
