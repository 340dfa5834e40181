package rights_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var update = flag.Bool("update", false, "write the role definitions from the calls of the stories")

// role is a definition as `az role definition create` takes it.
type role struct {
	Name             string
	IsCustom         bool
	Description      string
	Actions          []string
	NotActions       []string
	AssignableScopes []string
}

// roleName is the GUID of the role and of its assignment in a story.
const roleName = "77777777-7777-4777-8777-777777777777"

func roleFile(t *testing.T, feature string) string {
	t.Helper()
	return filepath.Join(flavors.RepositoryRoot(t), "templates", "azure-roles", feature+".json")
}

func readRole(t *testing.T, feature string) role {
	t.Helper()
	raw, err := os.ReadFile(roleFile(t, feature))
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	var r role
	if err := decoder.Decode(&r); err != nil {
		t.Fatalf("%s: %v", feature, err)
	}
	return r
}

func roleDefinition(name string, f feature, actions []string) role {
	return role{
		Name: "Cluster API Provider Azure: " + name, IsCustom: true, Description: f.description,
		Actions: actions, NotActions: []string{}, AssignableScopes: []string{"/subscriptions/00000000-0000-0000-0000-000000000000"},
	}
}

func writeRole(t *testing.T, feature string, r role) {
	t.Helper()
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(roleFile(t, feature), append(raw, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// grantActions gives the provider a role of these actions in the subscription.
func grantActions(stage *harness.Stage, actions []string) {
	stage.T.Helper()
	if err := stage.Azure.Grant(roleName, stage.Azure.ClientID, "/subscriptions/"+stage.Azure.SubscriptionID, actions); err != nil {
		stage.T.Fatal(err)
	}
}

// TestRoles runs the stories of every feature set with its role: it is enough, and nothing in it is unused. While an action is
// missing, a condition names it: a story starts without the actions that no story before it has seen the lack of.
func TestRoles(t *testing.T) {
	t.Parallel()
	for name, f := range features {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r role
			with := []string{"*"}
			if !*update {
				r = readRole(t, name)
				with = f.unneededActions(t, r)
			}
			missing := exceptActions(r.Actions, with)
			used := []string{}
			for _, story := range slices.Sorted(maps.Keys(f.stories)) {
				t.Run(story, func(t *testing.T) {
					stage := newStage(t)
					end := withholdActions(stage, with, missing)
					f.stories[story](stage)
					named := end()
					t.Logf("%d of %d actions were given because a condition named them", len(named), len(missing))
					with, missing = append(with, named...), exceptActions(missing, named)
					used = append(used, usedActions(t, stage, r)...)
				})
			}
			used = slices.Concat(used, slices.Collect(maps.Keys(f.also)), syncActions)
			for _, child := range children {
				if slices.ContainsFunc(used, func(action string) bool { return strings.HasPrefix(action, child+"/") }) {
					used = append(used, child+"/read")
				}
			}
			slices.Sort(used)
			used = slices.Compact(used)
			if *update && !t.Failed() {
				writeRole(t, name, roleDefinition(name, f, used))
			}
			if diff := cmp.Diff(roleDefinition(name, f, used), readRole(t, name)); diff != "" {
				t.Errorf("%s has other actions than its stories call; `make azure-roles` writes it (-called +role):\n%s", roleFile(t, name), diff)
			}
			if len(missing) > 0 {
				t.Errorf("no condition named these while they were missing: %q", missing)
			}
		})
	}
}

// unneededActions returns the actions of the role whose lack no story of the feature set is to see.
func (f feature) unneededActions(t *testing.T, r role) []string {
	t.Helper()
	out := slices.Concat(operations, syncActions)
	for _, child := range children {
		out = append(out, child+"/read")
	}
	if f.beyond != "" {
		out = append(out, readRole(t, f.beyond).Actions...)
	}
	for _, known := range []map[string]string{f.also, f.unnamed} {
		for name := range known {
			if !slices.Contains(r.Actions, name) {
				t.Errorf("%s is not in the role, so its name is not checked", name)
			}
			out = append(out, name)
		}
	}
	return slices.DeleteFunc(out, func(name string) bool { return !slices.Contains(r.Actions, name) })
}

func exceptActions(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool { return slices.Contains(some, a) })
}

// usedActions returns the actions of the requests that Azure did not refuse. It fails if Azure refused one for an
// action outside of the role.
func usedActions(t *testing.T, stage *harness.Stage, r role) []string {
	t.Helper()
	var out []string
	for _, request := range stage.Azure.Requests() {
		switch {
		case request.Principal != stage.Azure.ClientID:
		case request.Status != 403:
			out = append(out, request.Actions...)
		case len(exceptActions(request.Actions, r.Actions)) > 0:
			t.Errorf("%s %s was refused; it takes %q", request.Method, request.URL, request.Actions)
		}
	}
	return out
}

// TestEveryRoleHasStories finds files that nothing proves.
func TestEveryRoleHasStories(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(roleFile(t, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		base := filepath.Base(file)
		if _, ok := features[base[:len(base)-len(".json")]]; !ok {
			t.Errorf("%s belongs to no feature set", file)
		}
	}
	if len(files) != len(features) {
		t.Errorf("%d roles for %d feature sets", len(files), len(features))
	}
}

// TestPage compares the table of the book with the roles. A role that is assigned with others lacks actions of each of them.
func TestPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(flavors.RepositoryRoot(t), "docs", "book", "azure-permissions.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range features {
		r := readRole(t, name)
		with := "nothing"
		for i, other := range features[name].with {
			if i == 0 {
				with = "`" + other + "`"
			} else {
				with += " or `" + other + "`"
			}
			if !slices.ContainsFunc(readRole(t, other).Actions, func(action string) bool { return !slices.Contains(r.Actions, action) }) {
				t.Errorf("the role %s has all actions of %s, so it needs no other role", name, other)
			}
		}
		row := fmt.Sprintf("| [`%s`](../../templates/azure-roles/%s.json) | %d | %s | %s |\n", name, name, len(r.Actions), with, r.Description)
		if !bytes.Contains(page, []byte(row)) {
			t.Errorf("docs/book/azure-permissions.md has no row %q", row)
		}
	}
}
