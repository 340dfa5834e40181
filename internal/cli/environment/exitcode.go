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

// ExitStatusError ends a verb that ran a command elsewhere, with the status of that command. It carries no message: the command has written its own.
type ExitStatusError struct{ Status int }

// Error implements error.
func (ExitStatusError) Error() string { return "" }

// ExitCode returns the exit code for the error of a verb.
func ExitCode(err error) int {
	var exit ExitStatusError
	switch {
	case errors.As(err, &exit):
		return exit.Status
	case err == nil:
		return CodeDone
	case errors.As(err, new(FoundError)):
		return CodeFound
	default:
		return CodeError
	}
}
