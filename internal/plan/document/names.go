package document

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// objectName refuses what is no name of a Secret or ConfigMap, as a path to that of another namespace. Nothing of the value is told:
// it may be a password that stands where a name belongs.
func objectName(path *field.Path, of, name string) *field.Error {
	if len(validation.IsDNS1123Subdomain(name)) == 0 {
		return nil
	}
	return field.Invalid(path, "", "is no name of a "+of+": documents name those of their own namespace, by lower-case letters, digits, '-' and '.'")
}

// dataKey refuses what is no key of a Secret or ConfigMap.
func dataKey(path *field.Path, of, key string) *field.Error {
	if len(validation.IsConfigMapKey(key)) == 0 {
		return nil
	}
	return field.Invalid(path, "", "is no key of a "+of+": those have letters, digits, '-', '_' and '.'")
}

// plainID is the ID that a text is, if it says by itself what it names: nothing in it leads elsewhere once Azure has read it.
func plainID(text string) (arm.ID, bool) {
	id, err := arm.ParseID(text)
	if err != nil || !strings.HasPrefix(text, "/") || strings.ContainsAny(text, `\?#%`) {
		return "", false
	}
	for segment := range strings.SplitSeq(text, "/") {
		if segment == "." || segment == ".." {
			return "", false
		}
	}
	return id, true
}
