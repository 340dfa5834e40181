package azureroles

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestPageWarnsOfRoles checks that the page about permissions names each role whose assignment can give its user the rights of others:
// those that assign roles, and those that run code as any identity.
func TestPageWarnsOfRoles(t *testing.T) {
	page, err := os.ReadFile("../../docs/book/azure-permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	paragraphs := strings.Split(string(page), "\n\n")
	warns := func(role, text string) bool {
		return slices.ContainsFunc(paragraphs, func(p string) bool {
			return strings.Contains(p, text) && strings.Contains(p, "`"+role+"`") && !strings.HasPrefix(p, "|")
		})
	}
	files, err := Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		raw, err := Files.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		var role struct{ Actions []string }
		if err := json.Unmarshal(raw, &role); err != nil || len(role.Actions) == 0 {
			t.Fatalf("%s: %d actions, %v", file.Name(), len(role.Actions), err)
		}
		name := strings.TrimSuffix(file.Name(), path.Ext(file.Name()))
		for action, text := range map[string]string{
			"Microsoft.ManagedIdentity/userAssignedIdentities/assign/action": "userAssignedIdentities/assign/action",
			"Microsoft.Authorization/roleAssignments/write":                  "assign any role to any principal",
		} {
			if !slices.Contains(role.Actions, action) {
				continue
			}
			checked++
			if !warns(name, text) {
				t.Errorf("the page does not warn that the role %s has %s", name, action)
			}
		}
	}
	if checked < 6 {
		t.Errorf("only %d roles have such an action", checked)
	}
}
