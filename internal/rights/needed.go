// Package rights compares the permissions of the manager in Kubernetes with the roles of the release. It only reads from the API
// server, with at most one request for each namespace and one for each permission of the roles.
package rights

import (
	"bytes"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/config/rbac"
)

// maxNamespaces is the largest number of namespaces that are checked.
const maxNamespaces = 20

// Scope has the namespaces of a manager.
type Scope struct {
	// Namespace is the only namespace with objects of the manager; "" is all.
	Namespace string
	// SecretNamespaces are the namespaces whose Secrets and ConfigMaps it watches; none is Namespace.
	SecretNamespaces []string
	// LeaseNamespace is the namespace of its lease; "" is no lease.
	LeaseNamespace string
}

// right is one verb on one resource in one namespace; "" is all namespaces.
type right struct {
	namespace, group, resource, name, verb string
}

// clusterScoped are resources without a namespace, which a RoleBinding cannot grant.
var clusterScoped = []string{"namespaces", "tokenreviews", "subjectaccessreviews"}

// neededRights returns the permissions of the roles that a manager of this scope needs.
func neededRights(scope Scope) ([]right, error) {
	secrets := scope.SecretNamespaces
	if len(secrets) == 0 {
		secrets = []string{scope.Namespace}
	}
	secrets = secrets[:min(len(secrets), maxNamespaces)]
	var leases []string
	if scope.LeaseNamespace != "" {
		leases = []string{scope.LeaseNamespace}
	}
	var out []right
	for _, part := range []struct {
		file       string
		namespaces []string
	}{
		{"role.yaml", []string{scope.Namespace}},
		{"secrets_role.yaml", secrets},
		{"leader_election.yaml", leases},
		{"former_identities.yaml", leases},
	} {
		rules, err := readRules(part.file)
		if err != nil {
			return nil, err
		}
		for _, namespace := range part.namespaces {
			for _, found := range rightsOf(rules, namespace) {
				if slices.Contains(clusterScoped, found.resource) {
					found.namespace = ""
				}
				out = append(out, found)
			}
		}
	}
	return out, nil
}

// readRules returns the rules of the role in a file of the release.
func readRules(file string) ([]rbacv1.PolicyRule, error) {
	raw, err := rbac.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for document := range bytes.SplitSeq(raw, []byte("\n---\n")) {
		role := &rbacv1.ClusterRole{}
		if err := yaml.Unmarshal(document, role); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(role.Rules) > 0 {
			return role.Rules, nil
		}
	}
	return nil, fmt.Errorf("%s has no role", file)
}

// rightsOf splits rules in a namespace into single permissions.
func rightsOf(rules []rbacv1.PolicyRule, namespace string) []right {
	var out []right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						out = append(out, right{namespace, group, resource, name, verb})
					}
				}
			}
		}
	}
	return out
}

// includesRight returns true if a permission includes another one in its namespace, by wildcards or because it is for all names.
func (r right) includesRight(other right) bool {
	is := func(has, wanted string) bool { return has == "*" || has == wanted }
	return is(r.group, other.group) && is(r.resource, other.resource) && is(r.verb, other.verb) && (r.name == "" || r.name == other.name)
}

// isIncludedIn returns true if one of the permissions includes r.
func (r right) isIncludedIn(rights []right) bool {
	return slices.ContainsFunc(rights, func(other right) bool { return other.includesRight(r) })
}
