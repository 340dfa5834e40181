package rights_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// otherRights are rights that something else than the stories here takes: a test in a directory of the project.
type otherRights struct {
	rights       *regexp.Regexp
	why          string
	test, inside string
	// sometimes is set if stories use the right or not, depending on how fast they are.
	sometimes bool
}

// elsewhere are rights of the manager in Kubernetes that the stories here make no use of, with who does.
var elsewhere = []otherRights{
	{regexp.MustCompile(`^(update \S+/finalizers|delete (secrets|configmaps))$`),
		"the admission plugin OwnerReferencesPermissionEnforcement asks for them when an object gets an owner whose deletion it blocks",
		"TestMove", "test/integration/managed", false},
	{regexp.MustCompile(`^delete azuremachinepoolmachines\.\S+$`), "VMs that a rollout of some takes away", "TestLife",
		"test/integration/pools", false},
	{regexp.MustCompile(`^patch machinepools\.\S+$`), "how many VMs an autoscaler of Azure wants", "TestAutoscaled", "test/integration/pools", false},
	{regexp.MustCompile(`^\S+ configmaps$`), "values that operatorSpec asks for", "TestBook", "test/integration/managed", false},
	{regexp.MustCompile(`^create serviceaccounts/token$`), "workload identity of a namespace", "TestNamespaceWithoutTokens",
		"test/integration/tenancy", false},
	{regexp.MustCompile(`^create (tokenreviews|subjectaccessreviews)\.\S+$`), "who reads metrics", "TestRights", "lab/scenario", false},
	{regexp.MustCompile(`^patch events\.\S+$`), "an event that repeats within six minutes is counted in the existing event", "TestEvents",
		"test/integration/changes", true},
}

// TestElsewhere checks that the tests exist that use the rights which the stories do not use.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range elsewhere {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(other.inside), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(files, func(name string) bool {
			raw, err := os.ReadFile(filepath.Clean(name))
			return err == nil && strings.Contains(string(raw), "\nfunc "+other.test+"(t *testing.T)")
		}) {
			t.Errorf("%s: there is no %s in %s", other.why, other.test, other.inside)
		}
	}
}

// checkRights finds rights that the release grants to the manager and that no story uses. It checks nothing in a run of
// some tests only.
func checkRights(environment *harness.Environment) error {
	if *update || flag.Lookup("test.run").Value.String() != "" {
		return nil
	}
	granted, err := grantedRights()
	if err != nil {
		return err
	}
	var used []string
	for _, right := range environment.UsedRights() {
		used = append(used, mergeReadVerbs(right))
	}
	idle := map[int]bool{}
	for i := range elsewhere {
		if !elsewhere[i].sometimes {
			idle[i] = true
		}
	}
	var unused []string
	for _, right := range granted {
		if slices.Contains(used, right) {
			continue
		}
		i := slices.IndexFunc(elsewhere, func(e otherRights) bool { return e.rights.MatchString(right) })
		if i < 0 {
			unused = append(unused, right)
		}
		delete(idle, i)
	}
	for i := range idle {
		unused = append(unused, fmt.Sprintf("nothing that `elsewhere` has for %s", elsewhere[i].why))
	}
	if len(unused) > 0 {
		slices.Sort(unused)
		return fmt.Errorf("the roles in config/rbac grant what no story makes use of: remove it, or add its user to `elsewhere`\n%s",
			strings.Join(unused, "\n"))
	}
	return nil
}

// mergeReadVerbs makes one of the rights to get, list and watch: who has one of them sees all there is, and which one clients take is
// their business.
func mergeReadVerbs(right string) string {
	verb, of, _ := strings.Cut(right, " ")
	if slices.Contains([]string{"get", "list", "watch"}, verb) {
		verb = "read"
	}
	return verb + " " + of
}

// grantedRights returns those of the manager in all namespaces.
func grantedRights() ([]string, error) {
	root, err := harness.ModuleDir("")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, file := range []string{"role.yaml", "secrets_role.yaml"} {
		raw, err := os.ReadFile(filepath.Join(root, "config", "rbac", file))
		if err != nil {
			return nil, err
		}
		role := &rbacv1.ClusterRole{}
		if err := yaml.UnmarshalStrict(raw, role); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, rule := range role.Rules {
			out = append(out, rightsOf(rule)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func rightsOf(rule rbacv1.PolicyRule) []string {
	var out []string
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			name, subresource, below := strings.Cut(resource, "/")
			if group != "" {
				name += "." + group
			}
			if below {
				name += "/" + subresource
			}
			for _, verb := range rule.Verbs {
				out = append(out, mergeReadVerbs(verb+" "+name))
			}
		}
	}
	return out
}
