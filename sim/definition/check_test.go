package definition

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decodeJSON(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestShapes covers shapes that are absent from the present files, or that no other test checks.
func TestShapes(t *testing.T) {
	document := document{Objects: map[string]schema{
		"Pet": {Discriminator: "kind", Properties: map[string]schema{"name": {Type: "string", MinLength: new(2), MaxLength: new(3)}},
			Variants: map[string]schema{"Cat": {Object: "Cat"}}},
		"Cat": {Properties: map[string]schema{"kind": {Type: "string", Enum: []string{"Cat"}, Flags: []string{"required"}},
			"lives":  {Type: "integer", Maximum: new(9.0), Flags: []string{"required"}},
			"collar": {Type: "string", Pattern: "^[0-9]+$", Sensitive: true}, "price": {Type: "integer"}}},
	}}
	pet := schema{Type: "array", MaxItems: new(2), Items: &schema{AnyOf: []schema{{Type: "string", Enum: []string{"fish"}}, {Object: "Pet"}}}}
	tests := map[string]struct {
		reason, value string
		want          []Mismatch
	}{
		"no variant": {"the discriminator is required", `[{"name":"abc"}]`, []Mismatch{{Missing, "p[0].kind", "kind", "Pet", "", ""}}},
		"unknown variant": {"it must be one that is defined", `[{"kind":"Dog"}]`,
			[]Mismatch{{NotOneOf, "p[0].kind", "kind", "Pet", "Cat", "Dog"}}},
		"variant": {"its properties count with those of all", `[{"kind":"cat","name":"abcd","lives":10}]`,
			[]Mismatch{{OutOfRange, "p[0].lives", "lives", "Pet", "at most 9", "10"},
				{OutOfRange, "p[0].name", "name", "Pet", "between 2 and 3 characters", "4 characters"}}},
		"required in it": {"the variant has its own required properties", `[{"kind":"Cat"}]`,
			[]Mismatch{{Missing, "p[0].lives", "lives", "Pet", "", ""}}},
		"best of several": {"the best match gives the error", `["meat"]`, []Mismatch{{NotOneOf, "p[0]", "p[0]", "", "fish", "meat"}}},
		"items": {"a list has a length", `["fish","fish","fish"]`,
			[]Mismatch{{OutOfRange, "p", "p", "", "at most 2 items", "3 items"}}},
		"secret": {"a secret is not shown", `[{"kind":"Cat","lives":9,"collar":"x"}]`,
			[]Mismatch{{NotLike, "p[0].collar", "collar", "Pet", "^[0-9]+$", "***"}}},
		"price": {"Bicep calls fractions integers", `[{"kind":"Cat","lives":9,"price":-1.5}]`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			j := &judge{document: document, unpublished: map[string]bool{}}
			var value any
			if err := json.Unmarshal([]byte(test.value), &value); err != nil {
				t.Fatal(err)
			}
			j.checkValue(pet, "", "p", value, false)
			if diff := cmp.Diff(test.want, j.found); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	const (
		network = "Microsoft.Network/virtualNetworks"
		group   = "Microsoft.Network/networkSecurityGroups"
		disk    = "Microsoft.Compute/disks"
		pool    = "Microsoft.ContainerService/managedClusters/agentPools"
		cluster = "Microsoft.ContainerService/managedClusters"
	)
	tests := map[string]struct {
		reason, resource, version, body, shown string
		want                                   []string
	}{
		"nothing known": {"a type without a definition has no mismatches",
			"Microsoft.Unheard/of", "2025-01-01", `{"properties":{"banana":1}}`,
			"", nil},
		"older version": {"the next newer version tells of it", network, "2020-11-01", `{"properties":{"banana":1}}`, "",
			[]string{"Unknown properties.banana"}},
		"unknown preview": {"previews have properties that never came to more", pool, "2024-04-02-preview", `{"properties":{"banana":1}}`, "",
			nil},
		"type in other case": {"Azure folds the case of types", "microsoft.network/VIRTUALNETWORKS", "2025-05-01", `{"properties":{"banana":1}}`,
			"", []string{"Unknown properties.banana"}},
		"shown": {"Azure shows properties that it does not publish, and accepts them back", network, "2025-05-01",
			`{"properties":{"secretSauce":1}}`, `{"properties":{"secretSauce":1}}`, nil},
		"null": {"null takes a value back", network, "2025-05-01", `{"properties":{"enableDdosProtection":null}}`, "", nil},
		"type": {"text is no list", network, "2025-05-01", `{"properties":{"subnets":"a"}}`, "",
			[]string{"WrongType properties.subnets (array)"}},
		"fraction": {"a bounded integer is a whole number", disk, "2025-01-02",
			`{"properties":{"creationData":{"createOption":"Empty","logicalSectorSize":"512"}}}`, "",
			[]string{"WrongType properties.creationData.logicalSectorSize (integer)"}},
		"missing": {"null counts as missing, too", disk, "2025-01-02", `{"properties":{"creationData":{"createOption":null}}}`, "",
			[]string{"Missing properties.creationData.createOption"}},
		"reference": {"an ID is enough for a reference", network, "2025-05-01",
			`{"properties":{"subnets":[{"name":"a","properties":{"networkSecurityGroup":{"id":"/x"}}}]}}`, "", nil},
		"enumeration": {"there are no other values", disk, "2025-01-02",
			`{"properties":{"osType":"BeOS","creationData":{"createOption":"Empty"}}}`, "", []string{"NotOneOf properties.osType (Windows, Linux)"}},
		"case of values": {"Azure folds the case of enumerations", disk, "2025-01-02",
			`{"properties":{"osType":"linux","creationData":{"createOption":"Empty"}}}`, "", nil},
		"open enumeration": {"other values may come", group, "2025-05-01",
			`{"properties":{"securityRules":[{"name":"r","properties":{"access":"Allow","direction":"Inbound","priority":100,"protocol":"Carrier-pigeon"}}]}}`, "", nil},
		"range": {"bounds hold", pool, "2025-10-01",
			`{"properties":{"kubeletConfig":{"containerLogMaxFiles":1},"osDiskSizeGB":4096}}`, "",
			[]string{"OutOfRange properties.kubeletConfig.containerLogMaxFiles (at least 2)",
				"OutOfRange properties.osDiskSizeGB (between 0 and 2048)"}},
		"pattern": {"text has a form", cluster, "2025-10-01", `{"properties":{"networkProfile":{"dnsServiceIP":"ten"}}}`, "",
			[]string{`NotLike properties.networkProfile.dnsServiceIP (^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$)`}},
		"read-only": {"providers pass it over", network, "2025-05-01", `{"properties":{"provisioningState":7,"resourceGuid":["x"]}}`,
			"", nil},
		"version": {"a property belongs to versions", pool, "2025-10-01", `{"properties":{"nodeInitializationTaints":[]}}`, "",
			[]string{"Unknown properties.nodeInitializationTaints"}},
		"version, preview": {"a property belongs to versions", pool, "2025-10-02-preview", `{"properties":{"nodeInitializationTaints":[]}}`,
			"", nil},
		"other case of names": {"Azure folds the case of names", network, "2025-05-01",
			`{"properties":{"AddressSpace":{"addressprefixes":["10.0.0.0/8"]}}}`, "", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var shown map[string]any
			if test.shown != "" {
				shown = decodeJSON(t, test.shown)
			}
			var got []string
			for _, m := range Check(test.resource, test.version, decodeJSON(t, test.body), shown) {
				text := fmt.Sprintf("%s %s", m.Problem, m.Path)
				if m.Want != "" {
					text += " (" + m.Want + ")"
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
