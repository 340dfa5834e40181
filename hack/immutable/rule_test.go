package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRewrite(t *testing.T) {
	const why = `because="after x; make another"`
	rule := func(cel, name, path string) string {
		return generated + `rule="` + cel + `",message="` + name + ` cannot change after x; make another",fieldPath="` + path + `",reason="FieldValueForbidden"`
	}
	tests := map[string]struct {
		reason, marker, want, err string
	}{
		"exact": {"required fields", `field=".a",as="exact",` + why, rule("self.a == oldSelf.a", "a", ".a"), ""},
		"optional": {"absence counts", `field=".a",as="optional",` + why,
			rule("has(self.a) == has(oldSelf.a) && (!has(self.a) || self.a == oldSelf.a)", "a", ".a"), ""},
		"once": {"the webhook or the user sets it", `field=".a",as="once",` + why,
			rule("!has(oldSelf.a) || (has(self.a) && self.a == oldSelf.a)", "a", ".a"), ""},
		"text": {"omitempty takes the empty text away", `field=".a",as="text",` + why,
			rule("(has(self.a) && self.a != '') == (has(oldSelf.a) && oldSelf.a != '') && (!(has(self.a) && self.a != '') || self.a == oldSelf.a)",
				"a", ".a"), ""},
		"flag": {"omitempty takes false away",
			`field=".a",as="flag",` + why, rule("(has(self.a) && self.a) == (has(oldSelf.a) && oldSelf.a)", "a", ".a"),
			""},
		"default": {"stored before there was one", `field=".spec.a",default="'x'",` + why,
			rule("(has(self.spec.a) ? self.spec.a : 'x') == (has(oldSelf.spec.a) ? oldSelf.spec.a : 'x')", "a", ".spec.a"), ""},
		"guarded": {"it can change before", `field=".spec.a",as="exact",guard="agentPoolMade",` + why,
			rule(guards["agentPoolMade"]+" || (self.spec.a == oldSelf.spec.a)", "a", ".spec.a"), ""},
		"unknown form": {"an unknown form would be left out silently", `field=".a",as="never",` + why, "", `2: as="never": use exact`},
		"unknown guard": {"an unknown guard would be left out silently",
			`field=".a",as="exact",guard="g",` + why, "", "2: no guard is called g"},
		"unknown name": {"a misspelt argument would be left out silently",
			`field=".a",how="exact",` + why, "", "2: no argument is called how"},
		"no reason": {"a person has to know what to do", `field=".a",as="exact"`, "", "2: field="},
		"no list":   {"arguments that cannot be read would be left out silently", `field=.a`, "", "is not a list"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, old := range []string{"", "\t" + generated + `rule="old"` + "\n"} {
				got, err := rewrite([]byte("type T struct {\n\t" + prefix + test.marker + "\n" + old + "\tA string\n}\n"))
				if test.err != "" {
					if err == nil || !strings.Contains(err.Error(), test.err) {
						t.Errorf("%s: got %v, want %s", test.reason, err, test.err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", test.reason, err)
				}
				if diff := cmp.Diff("type T struct {\n\t"+prefix+test.marker+"\n\t"+test.want+"\n\tA string\n}\n", string(got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
			}
		})
	}
}

// TestRun generates the rules of the kinds from their markers; it expects the rules that the types have.
func TestRun(t *testing.T) {
	files, err := filepath.Glob("../../api/v1beta1/*_types.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("types: %v, %v", files, err)
	}
	directory, marked := t.TempDir(), 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		marked += strings.Count(string(raw), prefix)
		if err := os.WriteFile(filepath.Join(directory, filepath.Base(file)), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(directory); err != nil || marked == 0 {
		t.Fatalf("%d markers: %v", marked, err)
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(directory, filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: run make generate (-there +generated):\n%s", file, diff)
		}
	}
}
