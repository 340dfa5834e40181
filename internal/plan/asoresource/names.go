package asoresource

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/objectkey"
)

// objectName refuses what is not a name of a Secret or ConfigMap.
func objectName(path *field.Path, of, name string) *field.Error {
	if wrong := objectkey.WrongName(of, name); wrong != "" {
		return field.Invalid(path, "", wrong)
	}
	return nil
}

// dataKey refuses what is not a key of a Secret or ConfigMap.
func dataKey(path *field.Path, of, key string) *field.Error {
	if wrong := objectkey.WrongKey(of, key); wrong != "" {
		return field.Invalid(path, "", wrong)
	}
	return nil
}

// plainID is the ID that a text is, if Azure reads it as it is written.
func plainID(text string) (arm.ID, bool) {
	id, plain := arm.ParsePlainID(text)
	return id, plain && strings.HasPrefix(text, "/")
}
