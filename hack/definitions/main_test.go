package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// types has every kind of entry that a types.json may have.
const types = `[
{"$type":"StringType"},
{"$type":"StringLiteralType","value":"Blue"},
{"$type":"StringLiteralType","value":"Red"},
{"$type":"UnionType","elements":[{"$ref":"#/1"},{"$ref":"#/2"}]},
{"$type":"UnionType","elements":[{"$ref":"#/1"},{"$ref":"#/0"}]},
{"$type":"IntegerType","minValue":0,"maxValue":9},
{"$type":"BooleanType"},
{"$type":"AnyType"},
{"$type":"ArrayType","itemType":{"$ref":"#/12"},"minLength":1,"maxLength":4},
{"$type":"ObjectType","name":"Tags","properties":{},"additionalProperties":{"$ref":"#/0"}},
{"$type":"StringType","sensitive":true,"minLength":3,"maxLength":63,"pattern":"^a"},
{"$type":"UnionType","elements":[{"$ref":"#/5"},{"$ref":"#/0"}]},
{"$type":"ObjectType","name":"Part","properties":{"again":{"type":{"$ref":"#/12"},"flags":0},"price":{"type":{"$ref":"#/11"},"flags":2}}},
{"$type":"ObjectType","name":"Cat","properties":{"lives":{"type":{"$ref":"#/5"},"flags":1}}},
{"$type":"DiscriminatedObjectType","name":"Pet","discriminator":"kind","baseProperties":{"name":{"type":{"$ref":"#/10"},"flags":0}},"elements":{"Cat":{"$ref":"#/13"}}},
{"$type":"ObjectType","name":"Test.Provider/things","properties":{"colour":{"type":{"$ref":"#/3"},"flags":0},"open":{"type":{"$ref":"#/4"},"flags":0},"on":{"type":{"$ref":"#/6"},"flags":4},"any":{"type":{"$ref":"#/7"},"flags":0},"parts":{"type":{"$ref":"#/8"},"flags":1},"pet":{"type":{"$ref":"#/14"},"flags":0},"tags":{"type":{"$ref":"#/9"},"flags":8}}},
{"$type":"ResourceType","name":"Test.Provider/things@2030-01-01","body":{"$ref":"#/15"}},
{"$type":"ResourceType","name":"Test.Provider/unwanted@2030-01-01","body":{"$ref":"#/12"}}
]`

// otherTeamTypes are the types of another team with the same provider, which has an object of the same name.
const otherTeamTypes = `[
{"$type":"StringType"},
{"$type":"ObjectType","name":"Part","properties":{"other":{"type":{"$ref":"#/0"},"flags":0}}},
{"$type":"ObjectType","name":"Test.Provider/fleets","properties":{"part":{"type":{"$ref":"#/1"},"flags":0}}},
{"$type":"ResourceType","name":"Test.Provider/fleets@2030-01-01","body":{"$ref":"#/2"}}
]`

const distilled = `{"provider":"Test.Provider","apiVersion":"2030-01-01",
"resources":{
"Test.Provider/fleets":{"object":"Test.Provider/fleets"},
"Test.Provider/things":{"object":"Test.Provider/things"}
},
"objects":{
"Cat":{"properties":{"lives":{"flags":["required"],"maximum":9,"minimum":0,"type":"integer"}}},
"Part":{"properties":{"again":{"object":"Part"},"price":{"anyOf":[{"maximum":9,"minimum":0,"type":"integer"},{"type":"string"}],"flags":["readOnly"]}}},
"Part2":{"properties":{"other":{"type":"string"}}},
"Pet":{"discriminator":"kind","properties":{"name":{"maxLength":63,"minLength":3,"pattern":"^a","sensitive":true,"type":"string"}},"variants":{"Cat":{"object":"Cat"}}},
"Test.Provider/fleets":{"properties":{"part":{"object":"Part2"}}},
"Test.Provider/things":{"properties":{"any":{"type":"any"},"colour":{"enum":["Blue","Red"],"type":"string"},"on":{"flags":["writeOnly"],"type":"boolean"},"open":{"enum":["Blue"],"open":true,"type":"string"},"parts":{"flags":["required"],"items":{"object":"Part"},"maxItems":4,"minItems":1,"type":"array"},"pet":{"object":"Pet"},"tags":{"flags":["createOnly"],"type":"map","values":{"type":"string"}}}}
}}
`

func TestRun(t *testing.T) {
	checkout, directory := t.TempDir(), t.TempDir()
	for team, content := range map[string]string{"team": types, filepath.Join("team", "fleet"): otherTeamTypes} {
		folder := filepath.Join(checkout, "generated", team, "test.provider", "2030-01-01")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "types.json"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		reason, want string
		args         []string
	}{
		"too few":    {"a checkout is needed", "usage", []string{checkout}},
		"no version": {"the version is part of the name", "PROVIDER@VERSION", []string{checkout, "Test.Provider"}},
		"no types": {"the arguments name no types",
			"add the types to the command line", []string{checkout, "Test.Provider@2030-01-01"}},
		"no such file": {"the version is not in the checkout", "0 files", []string{checkout, "Test.Provider@2031-01-01", "Test.Provider/things"}},
		"no such type": {"the version does not have it", "Test.Provider@2030-01-01 has none of the types test.provider/other",
			[]string{checkout, "Test.Provider@2030-01-01", "Test.Provider/other"}},
	} {
		if err := run(directory, test.args); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %s: got %v, want an error with %q", name, test.reason, err, test.want)
		}
	}
	for _, args := range [][]string{
		{checkout, "Test.Provider@2030-01-01", "test.provider/THINGS", "Test.Provider/fleets"},
		// What a version of the provider has is wanted again.
		{checkout, "Test.Provider@2030-01-01"},
	} {
		if err := run(directory, args); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(directory, "Test.Provider@2030-01-01.json"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(distilled, string(got)); diff != "" {
			t.Errorf("definitions of %q (-want +got):\n%s", args[1:], diff)
		}
	}
}
