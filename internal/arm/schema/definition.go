package schema

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/sim/definitions"
)

// Shape describes the allowed values of a place. The zero value allows any value.
type Shape struct {
	// Object is the name of an object of the same file; "" for none.
	Object string `json:"object,omitempty"`
	// Type is string, integer, boolean, any, null, array or map.
	Type string `json:"type,omitempty"`
	// Items is the shape of the items of an array, Values that of the values of a map.
	Items  *Shape `json:"items,omitempty"`
	Values *Shape `json:"values,omitempty"`
	// AnyOf lists alternative shapes of the value.
	AnyOf []Shape `json:"anyOf,omitempty"`

	// Enum lists the allowed strings, or the known ones if Open is set.
	Enum      []string `json:"enum,omitempty"`
	Open      bool     `json:"open,omitempty"`
	Sensitive bool     `json:"sensitive,omitempty"`
	Pattern   string   `json:"pattern,omitempty"`
	MinLength *int     `json:"minLength,omitempty"`
	MaxLength *int     `json:"maxLength,omitempty"`
	Minimum   *int64   `json:"minimum,omitempty"`
	Maximum   *int64   `json:"maximum,omitempty"`
	MinItems  *int     `json:"minItems,omitempty"`
	MaxItems  *int     `json:"maxItems,omitempty"`

	Flags []Flag `json:"flags,omitempty"`
}

// Flag is a mark on a property of an object.
type Flag string

// Flags of properties; the definitions have more.
const (
	Required Flag = "required"
	ReadOnly Flag = "readOnly"
	// WriteOnly is a property that Azure never returns.
	WriteOnly Flag = "writeOnly"
)

// HasFlag reports whether the property has the flag.
func (s Shape) HasFlag(flag Flag) bool { return slices.Contains(s.Flags, flag) }

// IsHidden reports whether Azure accepts the property at a path and never returns it: it is write-only, a secret text, or a protected
// setting of extensions and Flux configurations, which the definitions do not mark.
func (s Shape) IsHidden(path string) bool {
	return s.HasFlag(WriteOnly) || s.Sensitive || strings.Contains(strings.ToLower(path), "protectedsettings")
}

// object is an object of a file: its properties, and the shape of other keys if those are allowed. An object with a discriminator also
// has the properties of the variant that the discriminator's value names.
type object struct {
	Properties    map[string]Shape `json:"properties"`
	Values        *Shape           `json:"values"`
	Discriminator string           `json:"discriminator"`
	Variants      map[string]Shape `json:"variants"`
}

// file is one file of the definitions.
type file struct {
	Resources map[string]Shape  `json:"resources"`
	Objects   map[string]object `json:"objects"`
}

// Definition is the definition of one resource type in one api-version.
type Definition struct {
	// Type is the full type, as in "Microsoft.Network/virtualNetworks/subnets", and APIVersion the version asked for.
	Type, APIVersion string

	file *file
	body Shape
}

const extension = ".json"

// fileNames returns the file names without their extension, read once.
var fileNames = sync.OnceValue(func() []string {
	entries, err := fs.ReadDir(definitions.Files, ".")
	if err != nil {
		panic(err) // The files are part of the binary.
	}
	var out []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), extension); ok {
			out = append(out, name)
		}
	}
	return out
})

var openedFiles sync.Map // file name to func() *file

// openFile returns a file, which is read once.
func openFile(name string) *file {
	once, _ := openedFiles.LoadOrStore(name, sync.OnceValue(func() *file {
		raw, err := definitions.Files.ReadFile(name + extension)
		if err != nil {
			panic(err) // The name comes from the list of files.
		}
		out := &file{}
		if err := json.Unmarshal(raw, out); err != nil {
			panic(fmt.Sprintf("%s: %v", name, err)) // A test reads every file.
		}
		return out
	}))
	return once.(func() *file)()
}

// LookupDefinition finds the definition of a resource type in an api-version, ignoring case. ok is false if the version has no
// definitions or does not have the type.
func LookupDefinition(resourceType, apiVersion string) (Definition, bool) {
	provider, _, _ := strings.Cut(resourceType, "/")
	for _, name := range fileNames() {
		if !strings.EqualFold(name, provider+"@"+apiVersion) {
			continue
		}
		f := openFile(name)
		for full, shape := range f.Resources {
			if strings.EqualFold(full, resourceType) {
				return Definition{Type: full, APIVersion: apiVersion, file: f, body: shape}, true
			}
		}
	}
	return Definition{}, false
}

// Versions returns the api-versions that have the resource type, oldest first; of one date the preview is older.
func Versions(resourceType string) []string {
	provider, _, _ := strings.Cut(resourceType, "/")
	var out []string
	for _, name := range fileNames() {
		of, version, _ := strings.Cut(name, "@")
		if !strings.EqualFold(of, provider) {
			continue
		}
		if _, ok := LookupDefinition(resourceType, version); ok {
			out = append(out, version)
		}
	}
	slices.SortFunc(out, compareVersions)
	return out
}

// NearestDefinition finds the definition of the version, or else of the next newer one, or else of the newest one: later api-versions
// rarely remove properties.
func NearestDefinition(resourceType, apiVersion string) (Definition, bool) {
	versions := Versions(resourceType)
	if len(versions) == 0 {
		return Definition{}, false
	}
	at := slices.IndexFunc(versions, func(v string) bool { return compareVersions(v, apiVersion) >= 0 })
	if at < 0 {
		at = len(versions) - 1
	}
	return LookupDefinition(resourceType, versions[at])
}

// IsOlder reports whether an api-version is older than another.
func IsOlder(a, b string) bool { return compareVersions(a, b) < 0 }

// compareVersions orders api-versions: by date, and a preview before the version of the same date.
func compareVersions(a, b string) int {
	const date = len("2006-01-02")
	if c := strings.Compare(a[:min(date, len(a))], b[:min(date, len(b))]); c != 0 {
		return c
	}
	switch {
	case a == b:
		return 0
	case len(a) <= date:
		return 1
	case len(b) <= date:
		return -1
	default:
		return strings.Compare(a, b)
	}
}
