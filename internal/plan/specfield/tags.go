package specfield

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// Limits of tags: https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources#limitations
const (
	maxTagName    = 512
	maxTagValue   = 256
	reservedInTag = `<>%&\?/`
)

// CheckTags returns an error for each tag of the spec that Azure refuses, whatever resource has it. Webhooks check every kind. Tags of a
// virtual network are not checked, because the provider does not write them.
func (s Spec) CheckTags() (errs field.ErrorList) {
	jsonpath.Walk(s.decoded, func(path jsonpath.Path, value any) bool {
		if tags, ok := value.(map[string]any); ok && areTags(path) {
			errs = append(errs, checkTags(tags, ToFieldPath(path))...)
		}
		return !isFreeText(path, value)
	})
	return errs
}

// FieldOfTag returns the first field with a tag whose key find returns for the tags around it, "" if there is none.
func (s Spec) FieldOfTag(find func(tags map[string]string) (key string)) (found string) {
	jsonpath.Walk(s.decoded, func(path jsonpath.Path, value any) bool {
		if object, ok := value.(map[string]any); ok && areTags(path) && found == "" {
			tags := map[string]string{}
			for key, tag := range object {
				tags[key], _ = tag.(string)
			}
			if key := find(tags); key != "" {
				found = ToFieldPath(path).Key(key).String()
			}
		}
		return found == "" && !isFreeText(path, value)
	})
	return found
}

// areTags reports whether the value at a path are tags that the provider writes.
func areTags(path jsonpath.Path) bool {
	last := len(path) - 1
	if last < 0 || path[last].Element {
		return false
	}
	return path[last].Name == "additionalTags" || path[last].Name == "tags" && last > 0 && path[last-1].Name == "securityGroup"
}

func checkTags(tags map[string]any, path *field.Path) (errs field.ErrorList) {
	spelling := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		path := path.Key(key)
		if wrong := wrongTagName(key); wrong != "" {
			errs = append(errs, field.Invalid(path, key, wrong))
		}
		if value, _ := tags[key].(string); utf8.RuneCountInString(value) > maxTagValue {
			errs = append(errs, field.Invalid(path, value,
				fmt.Sprintf("has more than the %d characters that Azure takes in the value of a tag", maxTagValue)))
		}
		low := strings.ToLower(key)
		if former, known := spelling[low]; known {
			errs = append(errs, field.Invalid(path, key,
				fmt.Sprintf("is the tag %q as well, because Azure ignores the case of their names: keep one of them", former)))
		}
		spelling[low] = key
	}
	return errs
}

// wrongTagName returns the reason why Azure refuses the name of a tag, or "". Names that begin with "hidden" or "link" are Azure's own, and
// have paths in them.
func wrongTagName(name string) string {
	low := strings.ToLower(name)
	switch {
	case name == "":
		return "is not a valid name of a tag: write at least one character"
	case utf8.RuneCountInString(name) > maxTagName:
		return fmt.Sprintf("has more than the %d characters that Azure takes in the name of a tag", maxTagName)
	case strings.HasPrefix(low, "hidden") || strings.HasPrefix(low, "link"):
		return ""
	case strings.ContainsAny(name, reservedInTag) || strings.ContainsFunc(name, unicode.IsControl):
		return `is not a valid name of a tag in Azure: leave out <, >, %, &, \, ?, / and control characters`
	}
	return ""
}
