package asoresource

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/objectkey"
)

// checkObjectName refuses what is not a name of a Secret or ConfigMap.
func checkObjectName(path *field.Path, of, name string) *field.Error {
	if wrong := objectkey.WrongName(of, name); wrong != "" {
		return field.Invalid(path, "", wrong)
	}
	return nil
}

// checkDataKey refuses what is not a key of a Secret or ConfigMap.
func checkDataKey(path *field.Path, of, key string) *field.Error {
	if wrong := objectkey.WrongKey(of, key); wrong != "" {
		return field.Invalid(path, "", wrong)
	}
	return nil
}

// parseAbsoluteID is the ID that a text is, if Azure reads it as it is written.
func parseAbsoluteID(text string) (arm.ID, bool) {
	id, plain := arm.ParsePlainID(text)
	return id, plain && strings.HasPrefix(text, "/")
}
