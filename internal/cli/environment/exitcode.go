package environment

import "errors"

// Exit codes of all commands.
const (
	// CodeDone ends a command that succeeded and found nothing to report.
	CodeDone = 0
	// CodeError ends a command that failed.
	CodeError = 1
	// CodeFound ends a command that only looks and found something: a change, a finding.
	CodeFound = 2
)

// FoundError ends a command that only looks and found something. It carries no message: the output has the findings.
type FoundError struct{}

// Error implements error.
func (FoundError) Error() string { return "" }

// ExitStatusError ends a command that ran a program elsewhere, with the status of that program. It carries no message: the program has written its own.
type ExitStatusError struct{ Status int }

// Error implements error.
func (ExitStatusError) Error() string { return "" }

// ExitCode returns the exit code for the error of a command.
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
