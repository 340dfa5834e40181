package arm

import "errors"

// IsUnanswered reports whether err means that there was no answer to the request: the request or its answer got lost, Azure or Entra ID
// could not answer, or there were too many requests. Such an error has no information about the resource. Results of operations and
// refusals by Azure are answers.
func IsUnanswered(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Status == 0 || e.Status == 408 || e.Status == 429 || e.Status >= 500
}
