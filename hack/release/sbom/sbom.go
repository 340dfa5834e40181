// Package sbom lists the contents of a release, as SPDX 2.3 in JSON: the image, the manager in it, the modules that the
// manager was linked from, as the linker wrote them into the program, Go's standard library, and the root certificates.
// The same programs give the same bytes.
package sbom

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// Release is the input of a list.
type Release struct {
	// Name and Version are the image's.
	Name, Version string
	// Digest is the image's, as in sha256:...
	Digest string
	// Programs are paths of the manager, one for each architecture.
	Programs []string
	// Roots is the module that the root certificates are from.
	Roots debug.Module
}

type document struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	ID                string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []part         `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type part struct {
	ID               string     `json:"SPDXID"`
	Name             string     `json:"name"`
	Version          string     `json:"versionInfo"`
	DownloadLocation string     `json:"downloadLocation"`
	FilesAnalyzed    bool       `json:"filesAnalyzed"`
	LicenseDeclared  string     `json:"licenseDeclared"`
	LicenseConcluded string     `json:"licenseConcluded"`
	CopyrightText    string     `json:"copyrightText"`
	SourceInfo       string     `json:"sourceInfo,omitempty"`
	Checksums        []checksum `json:"checksums,omitempty"`
	References       []external `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type external struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const (
	documentID = "SPDXRef-DOCUMENT"
	imageID    = "SPDXRef-image"
	managerID  = "SPDXRef-manager"
	unknown    = "NOASSERTION"
	license    = "Apache-2.0"
)

// Write returns the list.
func Write(r Release) ([]byte, error) {
	modules := map[string]debug.Module{}
	var main, toolchain string
	for _, program := range r.Programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, fmt.Errorf("what %s is linked from: %w", program, err)
		}
		main, toolchain = info.Main.Path, strings.TrimPrefix(info.GoVersion, "go")
		for _, module := range info.Deps {
			switch replacement := module.Replace; {
			case replacement == nil:
			case replacement.Version == "" || replacement.Version == "(devel)": // a module of this repository, which is released with the manager
				module = &debug.Module{Path: module.Path, Version: r.Version}
			default:
				module = replacement
			}
			modules[module.Path+"@"+module.Version] = *module
		}
	}
	// Programs of two architectures may differ in modules: what either has is in the release.
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", ID: documentID, Name: r.Name + " " + r.Version,
		DocumentNamespace: namespace(r.Digest),
		// When it was made is none of its content: two builds of the same source are the same release.
		CreationInfo: creation{Created: "1970-01-01T00:00:00Z", Creators: []string{"Tool: hack/release"}},
	}
	image := newPart(imageID, r.Name, r.Version, license)
	image.Checksums = []checksum{{"SHA256", strings.TrimPrefix(r.Digest, "sha256:")}}
	manager := newPart(managerID, main, r.Version, license)
	d.add(image, documentID, "DESCRIBES")
	d.add(manager, imageID, "CONTAINS")
	d.add(ofModule(r.Roots), imageID, "CONTAINS")
	d.add(ofModule(debug.Module{Path: "std", Version: toolchain}), managerID, "DEPENDS_ON")
	for _, key := range slices.Sorted(maps.Keys(modules)) {
		d.add(ofModule(modules[key]), managerID, "DEPENDS_ON")
	}
	raw, err := json.MarshalIndent(d, "", "  ")
	return append(raw, '\n'), err
}

func (d *document) add(p part, element, kind string) {
	d.Packages = append(d.Packages, p)
	d.Relationships = append(d.Relationships, relationship{element, kind, p.ID})
}

func newPart(id, name, version, license string) part {
	return part{ID: id, Name: name, Version: version, DownloadLocation: unknown, LicenseDeclared: license, LicenseConcluded: unknown,
		CopyrightText: unknown}
}

// notInID are the characters that identifiers of SPDX do not have.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func ofModule(m debug.Module) part {
	p := newPart("SPDXRef-"+notInID.ReplaceAllString(m.Path+"-"+m.Version, "-"), m.Path, m.Version, unknown)
	p.References = []external{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}}
	if m.Sum != "" {
		p.SourceInfo = "go.sum " + m.Sum
	}
	return p
}

// namespace returns a URI of this list alone: a UUID of the eighth version, which is made as one likes, from the image's digest.
func namespace(digest string) string {
	sum := sha256.Sum256([]byte(digest))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
