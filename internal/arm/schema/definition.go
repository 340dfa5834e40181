package schema

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/definitions"
)

// Shape is what a value may be. Its zero value is any value.
type Shape struct {
	// Object is the name of an object of the same file; "" for none.
	Object string `json:"object,omitempty"`
	// Type is string, integer, boolean, any, null, array or map.
	Type string `json:"type,omitempty"`
	// Items are those of an array, Values those of a map.
	Items  *Shape `json:"items,omitempty"`
	Values *Shape `json:"values,omitempty"`
	// AnyOf are the shapes of which the value has one.
	AnyOf []Shape `json:"anyOf,omitempty"`

	// Enum are the values that a string may have, or, where Open, the known ones.
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

// Flag says something about a property of an object.
type Flag string

// The flags of properties; the definitions have more.
const (
	Required Flag = "required"
	ReadOnly Flag = "readOnly"
	// WriteOnly is a property that Azure never shows.
	WriteOnly Flag = "writeOnly"
)

// HasFlag tells whether the property has the flag.
func (s Shape) HasFlag(flag Flag) bool { return slices.Contains(s.Flags, flag) }

// IsHidden tells whether Azure takes the property at a path and never shows it: it is write-only, a secret text, or among what
// extensions and Flux configurations call protected settings, which the definitions mark in no way.
func (s Shape) IsHidden(path string) bool {
	return s.HasFlag(WriteOnly) || s.Sensitive || strings.Contains(strings.ToLower(path), "protectedsettings")
}

// object is an object of a file: the properties that it may have, and what other keys have where those are allowed. One with
// a discriminator has the properties of a variant, too: of the one that the value of the discriminator names.
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

// Definition is what one api-version says of one resource type.
type Definition struct {
	// Type is the full type, as in "Microsoft.Network/virtualNetworks/subnets", and APIVersion the version asked for.
	Type, APIVersion string

	file *file
	body Shape
}

const extension = ".json"

// fileNames are the file names without their extension, read once.
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

// openFile is a file, read when it is first asked for.
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

// LookupDefinition finds what an api-version says of a resource type, whatever the case of their letters. It is not ok when there is
// no definition of the version, or the version does not have the type.
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

// Versions are the api-versions that have the resource type, oldest first; of one date the preview is the older.
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

// NearestDefinition finds the definition of the version, or else of the next newer one, or else of the newest one there is: what an
// api-version has is rarely taken away in a later one.
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

// IsOlder tells whether an api-version is older than another.
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
