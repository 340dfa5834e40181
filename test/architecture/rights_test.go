package architecture

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

const (
	rightsFolder = "../../config/rbac"
	rightsPage   = "../../docs/book/kubernetes-rights.md"
)

// readRole returns a Role or ClusterRole of the release.
func readRole(t *testing.T, file, name string) rbacv1.ClusterRole {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(rightsFolder, file))
	if err != nil {
		t.Fatal(err)
	}
	for document := range bytes.SplitSeq(raw, []byte("\n---\n")) {
		var out rbacv1.ClusterRole
		if err := yaml.Unmarshal(document, &out); err != nil {
			t.Fatal(err)
		}
		if out.Name == name && strings.HasSuffix(out.Kind, "Role") {
			return out
		}
	}
	t.Fatalf("%s has no role %s", file, name)
	return rbacv1.ClusterRole{}
}

// managerRules returns those of all roles that the release binds to its ServiceAccount.
func managerRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	return slices.Concat(readRole(t, "role.yaml", "system-manager-role").Rules, readRole(t, "secrets_role.yaml", "system-secrets-role").Rules,
		readRole(t, "leader_election.yaml", "system-leader-election-role").Rules,
		readRole(t, "former_identities.yaml", "system-former-identities-role").Rules)
}

// listRights returns the single rights of rules, as "verb resource.group/subresource" or "verb resource.group/name".
func listRights(rules []rbacv1.PolicyRule) []string {
	var out []string
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				resource, subresource, _ := strings.Cut(resource, "/")
				if group != "" {
					resource += "." + group
				}
				for _, name := range names {
					what := resource
					for _, part := range []string{subresource, name} {
						if part != "" {
							what += "/" + part
						}
					}
					for _, verb := range rule.Verbs {
						out = append(out, verb+" "+what)
					}
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var code = regexp.MustCompile("`([^`]+)`")

// TestManagerRights compares the roles of the manager with the table of risks in the book.
func TestManagerRights(t *testing.T) {
	page, err := os.ReadFile(rightsPage)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "## Risks of a compromised manager\n")
	if !ok {
		t.Fatalf("%s has no section on risks", rightsPage)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var told []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		resources := code.FindAllStringSubmatch(cells[2], -1)
		if len(resources) == 0 {
			continue
		}
		if len(strings.TrimSpace(cells[3])) < 5 {
			t.Errorf("a row has no damage: %s", line)
		}
		for verb := range strings.SplitSeq(cells[1], ",") {
			for _, resource := range resources {
				told = append(told, strings.TrimSpace(verb)+" "+resource[1])
			}
		}
	}
	slices.Sort(told)
	if diff := cmp.Diff(slices.Compact(told), listRights(managerRules(t))); diff != "" {
		t.Errorf("the manager has other rights than docs/book/kubernetes-rights.md tells of (-told +has). Does it need a new one? Then add its row, with the possible damage:\n%s", diff)
	}
}

// deletes are the types that the manager may delete, with the reason.
var deletes = map[string]string{
	"delete secrets":                   "with OwnerReferencesPermissionEnforcement only who may delete a Secret corrects its owner after a restore",
	"delete configmaps":                "the same",
	"delete machines.cluster.x-k8s.io": "a VM of a pool goes by its Machine, so that Cluster API drains the node",
	"delete azuremachinepoolmachines.infrastructure.cluster.x-k8s.io": "a VM that went before Cluster API made a Machine for it",
}

// tokens are the ServiceAccounts that the manager may have tokens of, with what gives them no rights.
var tokens = map[string]string{
	"create serviceaccounts/token/capz-workload-identity":       "users make it for identities, and the book tells them that it needs no rights",
	"create serviceaccounts/token/azureserviceoperator-default": "the release makes it without rights, and the role is for the manager's namespace only",
}

// TestManagerCannotRise names what would make of the manager's rights all others.
func TestManagerCannotRise(t *testing.T) {
	for _, right := range listRights(managerRules(t)) {
		verb, resource, _ := strings.Cut(right, " ")
		if strings.Contains(right, "*") {
			t.Errorf("%s: a wildcard also has what does not exist yet", right)
		}
		if deletes[right] != "" {
			continue
		}
		if slices.Contains([]string{"escalate", "bind", "impersonate", "approve", "sign", "delete", "deletecollection"}, verb) {
			t.Errorf("%s: no story needs it", right)
		}
		for _, group := range []string{"rbac.authorization.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io",
			"apiregistration.k8s.io", "certificates.k8s.io", "apps", "batch"} {
			if strings.HasSuffix(strings.Split(resource, "/")[0], "."+group) {
				t.Errorf("%s: who has it can get every other right", right)
			}
		}
		if slices.Contains([]string{"pods", "nodes", "serviceaccounts"}, strings.Split(resource, "/")[0]) && tokens[right] == "" {
			t.Errorf("%s: who has it can get every other right", right)
		}
	}
}

// TestTenantRights has every kind of the release in the roles for people, and identities in none that Kubernetes adds to its own.
func TestTenantRights(t *testing.T) {
	view, edit := listRights(readRole(t, "tenants.yaml", "system-view-role").Rules),
		listRights(readRole(t, "tenants.yaml", "system-edit-role").Rules)
	var installed struct{ Resources []string }
	raw, err := os.ReadFile("../../config/crd/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, &installed); err != nil {
		t.Fatal(err)
	}
	var see, change []string
	for _, file := range installed.Resources {
		group, plural, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "_")
		for _, verb := range []string{"get", "list", "watch"} {
			see = append(see, verb+" "+plural+"."+group)
		}
		if plural == "azureclusteridentities" {
			continue // whose credentials are used is a right of its own
		}
		for _, verb := range []string{"create", "update", "patch", "delete", "deletecollection"} {
			change = append(change, verb+" "+plural+"."+group)
		}
	}
	slices.Sort(see)
	slices.Sort(change)
	if diff := cmp.Diff(see, view); diff != "" {
		t.Errorf("what view has (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(change, edit); diff != "" {
		t.Errorf("what edit has (-want +got):\n%s", diff)
	}
	if labels := readRole(t, "tenants.yaml", "system-identity-editor-role").Labels; len(labels) > 0 {
		t.Errorf("the role for identities has the labels %v, by which it becomes part of others", labels)
	}
}
