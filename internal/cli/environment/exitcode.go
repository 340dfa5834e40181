package environment

import "errors"

// Exit codes of all verbs.
const (
	// CodeDone ends a verb that succeeded and found nothing to report.
	CodeDone = 0
	// CodeError ends a verb that failed.
	CodeError = 1
	// CodeFound ends a verb that only looks and found something: a change, a finding.
	CodeFound = 2
)

// FoundError ends a verb that only looks and found something. It carries no message: the output has the findings.
type FoundError struct{}

// Error implements error.
func (FoundError) Error() string { return "" }

// ExitCode returns the exit code for the error of a verb.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return CodeDone
	case errors.As(err, new(FoundError)):
		return CodeFound
	default:
		return CodeError
	}
}
