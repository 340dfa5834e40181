package contract_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// finalizerRights returns the resources whose finalizers the manager may update.
func finalizerRights(t testing.TB) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, rule := range readRules(t, "", "config", "rbac", "role.yaml") {
		for _, resource := range rule.Resources {
			if name, of, ok := strings.Cut(resource, "/"); ok && of == "finalizers" && slices.Contains(rule.APIGroups, infrav1.GroupVersion.Group) &&
				slices.Contains(rule.Verbs, "update") {
				out[name] = true
			}
		}
	}
	return out
}

// readRules returns those of all roles in a file of a module, "" for this one.
func readRules(t testing.TB, module string, path ...string) []rbacv1.PolicyRule {
	t.Helper()
	root, err := harness.ModuleDir(module)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	var out []rbacv1.PolicyRule
	for document := range strings.SplitSeq(string(raw), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		out = append(out, role.Rules...)
	}
	if len(out) == 0 {
		t.Fatalf("%s has no rules", filepath.Join(path...))
	}
	return out
}

// TestRightsOfClusterAPI checks that the role of Cluster API's own manager has the rights that the contract demands: those to all
// objects of this group, and to the finalizers of owners.
func TestRightsOfClusterAPI(t *testing.T) {
	have := map[string]bool{}
	for _, rule := range readRules(t, "sigs.k8s.io/cluster-api", "core", "config", "rbac", "role.yaml") {
		if slices.Contains(rule.APIGroups, infrav1.GroupVersion.Group) && slices.Contains(rule.Resources, "*") {
			for _, verb := range rule.Verbs {
				have[verb] = true
			}
		}
	}
	for _, verb := range []string{"create", "delete", "get", "list", "patch", "update", "watch"} {
		if !have[verb] {
			t.Errorf("Cluster API may not %s objects of the group %s: the release has to grant it by a ClusterRole with the label cluster.x-k8s.io/aggregate-to-manager", verb, infrav1.GroupVersion.Group)
		}
	}
}
