package schema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFilesAreConsistent reads every file: each resource and each object that a shape names exists, and each shape is of a kind that
// the check supports.
func TestFilesAreConsistent(t *testing.T) {
	if len(fileNames()) < 20 {
		t.Fatalf("only %d files: %v", len(fileNames()), fileNames())
	}
	for _, name := range fileNames() {
		f := openFile(name)
		var walk func(where string, s Shape)
		walk = func(where string, s Shape) {
			if s.Object != "" {
				if _, ok := f.Objects[s.Object]; !ok {
					t.Errorf("%s: %s refers to the missing object %q", name, where, s.Object)
				}
			}
			if known := []string{"", "string", "integer", "boolean", "any", "null", "array", "map"}; !slices.Contains(known, s.Type) {
				t.Errorf("%s: %s is of type %q", name, where, s.Type)
			}
			if s.Object == "" && s.Type == "" && len(s.AnyOf) == 0 {
				t.Errorf("%s: %s has no shape", name, where)
			}
			if s.Pattern != "" {
				if _, err := regexp.Compile(s.Pattern); err != nil && !strings.Contains(s.Pattern, "(?") {
					t.Errorf("%s: pattern of %s: %v", name, where, err)
				}
			}
			for _, inner := range []*Shape{s.Items, s.Values} {
				if inner != nil {
					walk(where+"[]", *inner)
				}
			}
			for _, option := range s.AnyOf {
				walk(where, option)
			}
		}
		for resource, shape := range f.Resources {
			walk(resource, shape)
		}
		for object, o := range f.Objects {
			for property, shape := range o.Properties {
				walk(object+"."+property, shape)
			}
		}
	}
}

func TestVersions(t *testing.T) {
	want := []string{"2025-03-01", "2025-10-01", "2025-10-02-preview", "2026-05-01", "2026-05-02-preview"}
	if diff := cmp.Diff(want, Versions("microsoft.containerservice/MANAGEDCLUSTERS")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := Versions("Microsoft.ContainerService/nothing"); got != nil {
		t.Errorf("an undefined type has versions: %v", got)
	}
	for _, test := range []struct {
		reason, resourceType, version, want string
	}{
		{"the version itself", "Microsoft.ContainerService/managedClusters", "2025-10-01", "2025-10-01"},
		{"the next newer one", "Microsoft.ContainerService/managedClusters", "2025-10-02", "2026-05-01"},
		{"a preview comes before the version of its date", "Microsoft.ContainerService/managedClusters", "2026-05-02-preview",
			"2026-05-02-preview"},
		{"the newest version", "Microsoft.ContainerService/managedClusters", "2027-01-01", "2026-05-02-preview"},
		{"only some versions have the type", "Microsoft.ContainerService/fleets/members", "2024-04-01", "2025-03-01"},
		{"no version has it", "Microsoft.ContainerService/nothing", "2025-10-01", ""},
	} {
		got, ok := NearestDefinition(test.resourceType, test.version)
		if got.APIVersion != test.want || ok != (test.want != "") {
			t.Errorf("%s: Nearest(%s, %s) is %q, %t", test.reason, test.resourceType, test.version, got.APIVersion, ok)
		}
	}
}

func TestCheckRequest(t *testing.T) {
	const (
		network = "Microsoft.Network/virtualNetworks@2025-05-01"
		pool    = "Microsoft.ContainerService/managedClusters/agentPools@2025-10-01"
		disk    = "Microsoft.Compute/disks@2025-01-02"
		machine = "Microsoft.Compute/virtualMachines@2025-04-01"
	)
	tests := map[string]struct {
		reason, resource, body string
		want                   []string
	}{
		"in order": {"a body that Azure accepts has no findings", network,
			`{"location":"westus2","tags":{"a":"b"},"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]}}}`, nil},
		"unknown": {"a misspelt property has no effect", network, `{"properties":{"adressSpace":{}},"banana":1}`,
			[]string{"banana: Unknown", "properties.adressSpace: Unknown"}},
		"other letters": {"Azure ignores the case of names", network, `{"Location":"westus2"}`,
			[]string{"Location: Spelling (location)"}},
		"wrong type": {"each kind of value has its own", pool,
			`{"properties":{"count":"3","enableAutoScaling":"yes","nodeTaints":"a","nodeLabels":[],"vmSize":5,"upgradeSettings":1}}`,
			[]string{"properties.count: WrongType (integer)", "properties.enableAutoScaling: WrongType (boolean)",
				"properties.nodeLabels: WrongType (object)", "properties.nodeTaints: WrongType (array)",
				"properties.upgradeSettings: WrongType (object)", "properties.vmSize: WrongType (string)"}},
		"open enumeration": {"the enumeration is open", pool, `{"properties":{"osSKU":"Next"}}`, nil},
		"bound": {"numbers have bounds", pool, `{"properties":{"osDiskSizeGB":4000}}`,
			[]string{"properties.osDiskSizeGB: NotAllowed (at most 2048)"}},
		"price": {"Bicep has no numbers with a fraction", pool, `{"properties":{"spotMaxPrice":0.5}}`, nil},
		"fraction": {"a bound shows that it is a count", pool, `{"properties":{"osDiskSizeGB":30.5}}`,
			[]string{"properties.osDiskSizeGB: WrongType (integer)"}},
		"null": {"null removes a value", pool, `{"properties":{"nodeTaints":null,"count":null}}`, nil},
		"read-only": {"only Azure sets it", pool, `{"properties":{"provisioningState":"Succeeded"}}`,
			[]string{"properties.provisioningState: ReadOnly"}},
		"missing": {"Azure refuses a disk without its place", disk,
			`{"properties":{"creationData":{"createOption":"Empty"}}}`, []string{"location: Missing"}},
		"missing inside": {"required holds in nested objects", disk, `{"location":"westus2","properties":{"creationData":{}}}`,
			[]string{"properties.creationData.createOption: Missing"}},
		"closed enumeration": {"Azure refuses other values", disk,
			`{"location":"westus2","properties":{"osType":"BeOS","creationData":{"createOption":"Empty"}}}`,
			[]string{"properties.osType: NotAllowed (one of Windows, Linux)"}},
		"value in other case": {"Azure ignores the case of enumerations", disk,
			`{"location":"westus2","properties":{"osType":"linux","creationData":{"createOption":"Empty"}}}`, nil},
		"reference": {"a reference needs only the ID", machine,
			`{"location":"westus2","properties":{"networkProfile":{"networkInterfaces":[{"id":"/x"}]}}}`, nil},
		"items have an index": {"the path leads to the item", machine,
			`{"location":"westus2","properties":{"storageProfile":{"dataDisks":[{"lun":0,"createOption":"Empty"},{"lun":1,"createOption":"Empty","colour":"red"}]}}}`, []string{"properties.storageProfile.dataDisks[1].colour: Unknown"}},
		"no object":           {"a body is an object", network, `[]`, []string{": WrongType (object)"}},
		"identity of the URL": {"properties of the URL may be repeated", network, `{"id":"/x","name":"x","type":"y","properties":{}}`, nil},
		"in another version": {"a property belongs to versions", pool,
			`{"properties":{"nodeInitializationTaints":["a=b:NoSchedule"]}}`, []string{"properties.nodeInitializationTaints: Unknown"}},
		"the preview has it": {"a property belongs to versions",
			"Microsoft.ContainerService/managedClusters/agentPools@2025-10-02-preview",
			`{"properties":{"nodeInitializationTaints":["a=b:NoSchedule"]}}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			resourceType, version, _ := strings.Cut(test.resource, "@")
			definition, ok := LookupDefinition(resourceType, version)
			if !ok {
				t.Fatalf("%s is not defined", test.resource)
			}
			var body any
			if err := json.Unmarshal([]byte(test.body), &body); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, finding := range definition.CheckRequest(body) {
				got = append(got, finding.String())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
