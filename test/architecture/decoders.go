package architecture

import (
	"fmt"
	"slices"
	"strings"
)

const whyDecoders = "documents of users are read by internal/userinput, whose errors name fields and types as users know them"

// yamlDecoders are read by people and written by people: no program sends YAML.
var yamlDecoders = []string{"sigs.k8s.io/yaml.Unmarshal*", "k8s.io/apimachinery/pkg/util/yaml.NewYAMLOrJSONDecoder",
	"k8s.io/apimachinery/pkg/util/yaml.NewYAMLToJSONDecoder", "k8s.io/apimachinery/pkg/util/yaml.Unmarshal*"}

var jsonDecoders = []string{"encoding/json.Unmarshal", "encoding/json.NewDecoder", "k8s.io/apimachinery/pkg/util/json.Unmarshal"}

// userManifests are the packages that read JSON of users.
var userManifests = []string{"internal/aksengine/...", "internal/aso", "internal/plan/asoresource", "internal/preview/manifests", "internal/webhook",
	"internal/reconcile/stopping", "internal/migration/check", "internal/cli/...", "lab/settings", "cmd/kubectl-capz", "cmd/manager"}

// otherDecoders are the files of the provider and the lab that decode otherwise, with the reason.
var otherDecoders = map[string]string{
	"internal/userinput/decode.go":             "it is the reader",
	"internal/userinput/types.go":              "it is the reader",
	"internal/rights/needed.go":                "the roles of the release are a part of the program",
	"internal/preview/admission/schema.go":     "the definitions of the release are a part of the program",
	"lab/provider/localize.go":                 "the manifests of a release are those of this repository",
	"internal/aksengine/document.go":           "it reads tokens, and reports each with its path",
	"internal/aksengine/shape.go":              "it explains its errors with internal/userinput",
	"internal/aso/patchtext.go":                "it decodes maps and lists, whose values are checked against Azure's schema",
	"internal/plan/asoresource/exports.go":     "it decodes answers of Azure",
	"internal/plan/asoresource/plan.go":        "it decodes answers of Azure",
	"internal/plan/asoresource/migration.go":   "it decodes answers of Azure",
	"internal/plan/asoresource/manifest.go":    "it explains its errors with internal/userinput",
	"internal/plan/asoresource/plainobject.go": "it explains its errors with internal/userinput",
	"internal/webhook/random.go":               "it decodes the stored object",
	"internal/webhook/spelling.go":             "it decodes maps and lists",
}

// checkDecoders finds code that decodes documents of users past internal/userinput.
func checkDecoders(files []file) []string {
	var findings []string
	for _, f := range files {
		if f.test || otherDecoders[f.path] != "" || !coversAny([]string{"api/...", "internal/...", "cmd/...", "lab/..."}, f.dir) {
			continue
		}
		banned := yamlDecoders
		if coversAny(userManifests, f.dir) {
			banned = slices.Concat(yamlDecoders, jsonDecoders)
		}
		for position, name := range f.usedNames() {
			if slices.ContainsFunc(banned, func(each string) bool {
				prefix, all := strings.CutSuffix(each, "*")
				return name == each || all && strings.HasPrefix(name, prefix)
			}) {
				findings = append(findings, fmt.Sprintf("%s uses %s: %s", position, name, whyDecoders))
			}
		}
	}
	return sortFindings(findings)
}
