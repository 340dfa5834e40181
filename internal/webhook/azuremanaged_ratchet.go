package webhook

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var indexPattern = regexp.MustCompile(`\[\d+\]`)

// introducedErrors returns the errors that the stored object does not have, so that an update is only refused for its own errors. It
// ignores indexes, because entries of lists may have moved.
func introducedErrors(stored, errs field.ErrorList) (out field.ErrorList) {
	known := sets.New[string]()
	for _, err := range stored {
		known.Insert(errorKey(err))
	}
	for _, err := range errs {
		if !known.Has(errorKey(err)) {
			out = append(out, err)
		}
	}
	return out
}

func errorKey(err *field.Error) string {
	return fmt.Sprintf("%s %s %v %s", err.Type, indexPattern.ReplaceAllString(err.Field, "[]"), err.BadValue, err.Detail)
}
