package userinput_test

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

type inline struct {
	Size int8 `json:"size"`
}

// document has one field of each type.
type document struct {
	inline   `json:",inline"`
	Name     string             `json:"name"`
	On       *bool              `json:"enabled"`
	Ratio    float64            `json:"ratio"`
	Port     uint16             `json:"port"`
	Labels   map[string]string  `json:"labels"`
	Disks    []inline           `json:"disks"`
	Key      []byte             `json:"key"`
	Memory   resource.Quantity  `json:"memory"`
	Timeout  *metav1.Duration   `json:"timeout"`
	Since    metav1.Time        `json:"since"`
	MaxSurge intstr.IntOrString `json:"maxSurge"`
}

func TestDecode(t *testing.T) {
	tests := map[string]struct {
		reason, document, want string
	}{
		"all right": {"each field has its type",
			"{name: a, size: 3, enabled: true, ratio: 1, port: 80, labels: {a: b}, disks: [{size: 1}], key: YQ==, memory: 1Gi, timeout: 1h, since: '2026-01-31T12:00:00Z', maxSurge: 1}", ""},
		"null":          {"it is no value", "{name: null, disks: null, labels: null}", ""},
		"unknown field": {"it has no type", "{other: [1]}", ""},
		"string":        {"a list is no string", "{name: [a]}", `name: Invalid value: "array": must be of type string`},
		"element":       {"the index is that of the element", "{disks: [{size: 1}, {size: big}]}", `disks[1].size: Invalid value: "string": must be of type integer`},
		"key":           {"the key of a map", "{labels: {a: {}}}", `labels[a]: Invalid value: "object": must be of type string`},
		"list":          {"one element is no list", "{disks: {size: 1}}", `disks: Invalid value: "object": must be of type array`},
		"object":        {"an element of another type", "{disks: [1]}", `disks[0]: Invalid value: "integer": must be of type object`},
		"boolean":       {"text is not true", `{enabled: "yes"}`, `enabled: Invalid value: "string": must be of type boolean`},
		"fraction":      {"it is no integer", "{size: 1.5}", `size: Invalid value: "number": must be of type integer`},
		"too large":     {"300 does not fit", "{size: 300}", `size: Invalid value: "integer": must be of type integer and fit in 8 bits`},
		"negative":      {"a port has no sign", "{port: -1}", `port: Invalid value: "integer": must be of type integer and fit in 16 bits without a sign`},
		"number":        {"text is no number", "{ratio: high}", `ratio: Invalid value: "string": must be of type number`},
		"base64":        {"the value may be a secret, so it is not repeated", "{key: 'hunter2!'}", `key: Invalid value: "string": must be a string in base64`},
		"quantity":      {"a unit that does not exist", "{memory: 3 cups}", `memory: Invalid value: "string": must be a quantity, for example 10Gi`},
		"duration":      {"a unit that does not exist", "{timeout: 3 days}", `timeout: Invalid value: "string": must be a duration, for example 1h30m`},
		"time":          {"a day is no time", "{since: yesterday}", `since: Invalid value: "string": must be a time, for example 2026-01-31T12:00:00Z`},
		"two types":     {"a list is none of them", "{maxSurge: [1]}", `maxSurge: Invalid value: "array": must be of type integer or string`},
		"two errors": {"all are listed", "{name: [a], enabled: 3}",
			`[enabled: Invalid value: "integer": must be of type boolean, name: Invalid value: "array": must be of type string]`},
		"whole document": {"a list in place of an object", "[a]", `document: Invalid value: "array": must be of type object`},
		"syntax":         {"the line is named", "name: a\n b: [", "line 2: mapping values are not allowed in this context"},
	}
	namesOfGo := regexp.MustCompile(`Go |json:|v1\.|inline|unmarshal`)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := userinput.Decode([]byte(test.document), nil, &document{}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if found := namesOfGo.FindString(got); found != "" {
				t.Errorf("the message has %q", found)
			}
		})
	}
}

// TestPlaces checks that all functions name the place of a document within another one, and keep to the form that they read.
func TestPlaces(t *testing.T) {
	at := field.NewPath("spec", "patches").Index(2)
	for name, test := range map[string]struct {
		reason, want string
		err          error
	}{
		"place":         {"the path begins with it", `spec.patches[2].name: Invalid value: "array": must be of type string`, userinput.Decode([]byte("name: [a]"), at, &document{})},
		"unknown field": {"only the strict function refuses it", `unknown field "other"`, userinput.DecodeStrict([]byte("other: 1"), nil, &document{})},
		"JSON":          {"YAML is not JSON", "invalid character 'n' looking for beginning of object key string", userinput.DecodeJSON([]byte("{name: a}"), nil, &document{})},
		"JSON, type":    {"likewise", `name: Invalid value: "integer": must be of type string`, userinput.DecodeJSON([]byte(`{"name": 5}`), nil, &document{})},
		"decoded": {"maps of Kubernetes have other numbers", `disks[0].size: Invalid value: "number": must be of type integer`,
			userinput.Convert(map[string]any{"disks": []any{map[string]any{"size": 1.5}}}, &document{})},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("%s: %s: got %v, want %s", name, test.reason, test.err, test.want)
		}
	}
	object, err := userinput.DecodeObject([]byte("replicas: 3\nratio: 0.5"))
	if diff := cmp.Diff(map[string]any{"replicas": int64(3), "ratio": 0.5}, object); err != nil || diff != "" {
		t.Errorf("%v, numbers are not those of Kubernetes: %s", err, diff)
	}
	if object, err = userinput.DecodeObject([]byte("# nothing")); len(object) > 0 || err != nil {
		t.Errorf("a comment is no object: %v, %v", object, err)
	}
}

// FuzzDecode checks that the errors of all documents are free of Go's types, and that documents without errors can be decoded.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"{name: [a]}", "disks: [{size: 1}]", "[", "{labels: {1: 2}}", "memory: 1Ei"} {
		f.Add(seed)
	}
	namesOfGo := regexp.MustCompile(`Go (struct|value)|v1\.|reflect`)
	f.Fuzz(func(t *testing.T, text string) {
		if err := userinput.Decode([]byte(text), nil, &document{}); err != nil && namesOfGo.MatchString(err.Error()) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
