package architecture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	manifestFolder = "../../config"
	rightsFolder   = manifestFolder + "/rbac"
	rightsPage     = "../../docs/book/kubernetes-rights.md"
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

// managerRules returns those of all roles that the manifests of a folder bind to the manager's ServiceAccount.
func managerRules(folder string) (out []rbacv1.PolicyRule, _ error) {
	roles, bound := map[string][]rbacv1.PolicyRule{}, map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for document := range bytes.SplitSeq(raw, []byte("\n---\n")) {
			if err := noteRole(document, roles, bound); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		rules, known := roles[name]
		if !known {
			err = errors.Join(err, fmt.Errorf("the manager is bound to %s, which is not in %s", name, folder))
		}
		out = append(out, rules...)
	}
	return out, err
}

// noteRole adds the rules of a role, or the role that a binding gives to the manager, by kind and name.
func noteRole(document []byte, roles map[string][]rbacv1.PolicyRule, bound map[string]bool) error {
	var kind struct{ Kind string }
	if yaml.Unmarshal(document, &kind) != nil { // a list of patches
		return nil
	}
	switch kind.Kind {
	case "Role", "ClusterRole":
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal(document, &role); err != nil {
			return err
		}
		roles[role.Kind+" "+role.Name] = role.Rules
	case "RoleBinding", "ClusterRoleBinding":
		var binding rbacv1.ClusterRoleBinding
		if err := yaml.Unmarshal(document, &binding); err != nil {
			return err
		}
		if slices.ContainsFunc(binding.Subjects, isManager) {
			bound[binding.RoleRef.Kind+" "+binding.RoleRef.Name] = true
		}
	}
	return nil
}

// isManager returns true if the manager's ServiceAccount is the subject, or in the group that is.
func isManager(subject rbacv1.Subject) bool {
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		return subject.Name == "manager"
	case rbacv1.GroupKind:
		return subject.Name == "system:authenticated" || strings.HasPrefix(subject.Name, "system:serviceaccounts")
	}
	return false
}

// managerRights returns the rights of the manager of this release.
func managerRights(t *testing.T) []string {
	t.Helper()
	rules, err := managerRules(manifestFolder)
	if err != nil {
		t.Fatal(err)
	}
	return listRights(rules)
}

// TestPlantedBinding checks that the rights of the manager are those of every binding, in whichever file it is.
func TestPlantedBinding(t *testing.T) {
	const role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: planted}\n" +
		"rules:\n- {apiGroups: [apps], resources: [deployments], verbs: [patch]}\n---\n"
	const binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: {name: planted}\n" +
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}\nsubjects:\n- %s\n"
	manager := "{kind: ServiceAccount, name: manager, namespace: system}"
	for name, test := range map[string]struct {
		reason, manifest string
		want             []string
		err              string
	}{
		"bound": {"the manager has the rights of the role", role + fmt.Sprintf(binding, "RoleBinding", "Role", "planted", manager),
			[]string{"patch deployments.apps"}, ""},
		"bound as one of all": {"the manager is in the group", role +
			fmt.Sprintf(binding, "RoleBinding", "Role", "planted", "{kind: Group, name: 'system:serviceaccounts:system'}"),
			[]string{"patch deployments.apps"}, ""},
		"bound to another": {"the manager has no right of another", role +
			fmt.Sprintf(binding, "RoleBinding", "Role", "planted", "{kind: ServiceAccount, name: other, namespace: system}"), nil, ""},
		"role of Kubernetes": {"its rules are not in this tree", fmt.Sprintf(binding, "ClusterRoleBinding", "ClusterRole", "cluster-admin", manager),
			nil, "ClusterRole cluster-admin"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(manifestFolder)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "manager", "planted.yaml"), []byte(test.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			rules, err := managerRules(folder)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%s: %v", test.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			had := managerRights(t)
			added := slices.DeleteFunc(listRights(rules), func(right string) bool { return slices.Contains(had, right) })
			if !slices.Equal(added, test.want) {
				t.Errorf("%s: the planted manifest adds %q, want %q", test.reason, added, test.want)
			}
		})
	}
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
	var documented []string
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
				documented = append(documented, strings.TrimSpace(verb)+" "+resource[1])
			}
		}
	}
	slices.Sort(documented)
	if diff := cmp.Diff(slices.Compact(documented), managerRights(t)); diff != "" {
		t.Errorf("the manager has other rights than docs/book/kubernetes-rights.md lists (-documented +has). Does it need a new one? Then add its row, with the possible damage:\n%s", diff)
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
	for _, right := range managerRights(t) {
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

// TestTenantRights checks that the roles for people have every kind of the release, and that no role that Kubernetes adds to its own has
// identities.
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
