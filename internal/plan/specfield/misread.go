package specfield

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// CheckMisread returns an error for each text in the spec that Azure, or a proxy in front of it, would read as the path of another
// resource: a resource group "..", or an ID with a segment ".." or an escape. Webhooks check every kind, and so does each reconciliation
// before it plans.
func (s Spec) CheckMisread() field.ErrorList {
	var errs field.ErrorList
	jsonpath.Walk(s.decoded, func(path jsonpath.Path, value any) bool {
		if isFreeText(path, value) {
			return false
		}
		if text, ok := value.(string); ok {
			if wrong := misreadReason(nearestField(path), text); wrong != "" {
				errs = append(errs, field.Invalid(ToFieldPath(path), text, wrong))
			}
		}
		return true
	})
	return errs
}

// textFields are fields whose values, at any depth, are text for people or programs and never part of a path.
var textFields = []string{"additionalTags", "annotations", "labels", "nodeLabels", "protectedSettings", "settings", "tags"}

// manifestsField is the field with resource manifests. Their names and IDs are checked when they are translated. Other
// values in them are free: "." is the target of some DNS records.
const manifestsField = "resources"

// isFreeText reports whether nothing in a value becomes part of a path in Azure, or is checked elsewhere.
func isFreeText(path jsonpath.Path, value any) bool {
	if len(path) == 0 || path[len(path)-1].Element {
		return false
	}
	name := path[len(path)-1].Name
	_, isList := value.([]any)
	return slices.Contains(textFields, name) || name == manifestsField && isList
}

// nearestField returns the name of the field with a value: elements of lists have the name of the list's.
func nearestField(path jsonpath.Path) string {
	for _, step := range slices.Backward(path) {
		if !step.Element {
			return step.Name
		}
	}
	return ""
}

// resourceGroupName matches valid names of resource groups.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules#microsoftresources
var resourceGroupName = regexp.MustCompile(`^[\p{L}\p{N}_().-]{0,89}[\p{L}\p{N}_()-]$`)

// misreadReason returns why the value of a field would be misread; "" if it would not.
func misreadReason(name, value string) string {
	switch {
	case value == "." || value == "..":
		return "leads to another path in Azure: write the name of the resource"
	case strings.HasSuffix(strings.ToLower(name), "resourcegroup") || strings.HasSuffix(strings.ToLower(name), "resourcegroupname"):
		if value != "" && !resourceGroupName.MatchString(value) {
			return "is not a name of a resource group: use letters, digits, '_', '-', '.', '(' and ')', at most 90 in all and no '.' at the end"
		}
		if wrong := arm.MisreadReason(value); value != "" && wrong != "" {
			return "is not a name of a resource group that Azure reads as it is written: " + wrong + ". Use another name"
		}
	case strings.HasPrefix(strings.ToLower(arm.TrimScheme(value)), "/subscriptions/"):
		if wrong := arm.MisreadReason(arm.TrimScheme(value)); wrong != "" {
			return fmt.Sprintf("is not the ID of a resource as Azure reads it: %s. Write the ID that Azure shows", wrong)
		}
	}
	return ""
}
