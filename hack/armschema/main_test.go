package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTablesAreCurrent fails when the tables were not generated from what go.mod requires.
func TestTablesAreCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	tables, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range tables {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date: run make generate (-generated +checked in):\n%s", name, diff)
		}
	}
}

// TestProfilesAreAgentPools compares the properties of agentPoolProfiles, which a managed cluster is created with, with
// those of an agent pool: they are the same, so that one table is enough.
func TestProfilesAreAgentPools(t *testing.T) {
	required, err := requiredVersion(filepath.Join("..", "..", "go.mod"), aksModule)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{required, beta} {
		s, err := readSDK(aksModule, version)
		if err != nil {
			t.Fatal(err)
		}
		pool, profile := map[string]string{}, map[string]string{}
		for path, p := range s.properties("AgentPool") {
			if path, ok := strings.CutPrefix(path, "properties."); ok {
				pool[path] = p.Type
			}
		}
		for path, p := range s.properties("ManagedClusterAgentPoolProfile") {
			profile[path] = p.Type
		}
		pool["name"] = "string"
		if diff := cmp.Diff(pool, profile); diff != "" {
			t.Errorf("%s (-agent pool +profile):\n%s", version, diff)
		}
	}
}

func TestDocumentedDefault(t *testing.T) {
	tests := map[string]struct {
		reason   string
		property property
		comment  string
		want     string
	}{
		"quoted": {reason: "quotes are not part of the value", property: property{Type: "string"},
			comment: "The time. The default is '10m'. Values must be an integer.", want: "10m"},
		"a dot in quotes": {reason: "fractions have one", property: property{Type: "string"}, comment: "The level. The default is '0.5'.",
			want: "0.5"},
		"with a unit": {reason: "the unit is Azure's", property: property{Type: "integer"},
			comment: "The timeout. If not specified, the default is 30 minutes.", want: "30"},
		"percent": {reason: "thresholds are numbers", property: property{Type: "integer"}, comment: "The percent. The default is 85%",
			want: "85"},
		"an enumeration": {reason: "comments are careless with case",
			property: property{Type: "string", Enum: []string{"Delete", "Deallocate"}}, comment: "It does. If not specified, it defaults to delete.",
			want: "Delete"},
		"with a condition": {reason: "a value that depends on others is not a default",
			property: property{Type: "string", Enum: []string{"Ephemeral"}}, comment: "The default is 'Ephemeral' if the VM supports it.", want: ""},
		"another property": {reason: "a name is no value", property: property{Type: "string"},
			comment: "If not specified, the default is maxSurge.", want: ""},
		"two defaults": {reason: "a value that depends on others is not a default", property: property{Type: "integer"},
			comment: "The default value is 0 for single-stack and 1 for dual-stack.", want: ""},
		"read-only": {reason: "a read-only property needs no reset", property: property{Type: "string", ReadOnly: true, Enum: []string{"Linux"}},
			comment: "READ-ONLY; The default is Linux.", want: ""},
		"a new value": {reason: "a value that the enumeration does not have is a mistake",
			property: property{Type: "string", Enum: []string{"A"}}, comment: "The default is B.", want: ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := documentedDefault(test.property, test.comment); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}
