package asoresource

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/objectkey"
)

// checkObjectName rejects an invalid name of a Secret or ConfigMap.
func checkObjectName(path *field.Path, of, name string) *field.Error {
	if wrong := objectkey.InvalidNameReason(of, name); wrong != "" {
		return field.Invalid(path, "", wrong)
	}
	return nil
}

// checkDataKey rejects an invalid key of a Secret or ConfigMap.
func checkDataKey(path *field.Path, of, key string) *field.Error {
	if wrong := objectkey.InvalidKeyReason(of, key); wrong != "" {
		return field.Invalid(path, "", wrong)
	}
	return nil
}

// parseAbsoluteID returns the ID in a text, if Azure reads the text as it is written.
func parseAbsoluteID(text string) (arm.ID, bool) {
	id, plain := arm.ParsePlainID(text)
	return id, plain && strings.HasPrefix(text, "/")
}
