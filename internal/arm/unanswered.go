package arm

import "errors"

// IsUnanswered tells whether err is no answer to what was asked: the request or its answer got lost, Azure or Entra ID could
// not answer, or the request was not taken because there are too many. It says nothing about the resource. What an
// operation ended with and what Azure refuses are answers.
func IsUnanswered(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Status == 0 || e.Status == 408 || e.Status == 429 || e.Status >= 500
}
