// Package template reads Azure Resource Manager templates: the part of their language that the Azure CLI writes, with
// the messages with which Azure refuses the rest.
//
// Its promise: an element of a template that this package does not know is refused by its name, and never ignored. A
// Template is a function of its document, its parameters and the group it is deployed to. The properties of deployed
// resources are read when a body is made, and never to compute the dependencies. The package keeps no state and does
// not block.
//
// Sources: https://learn.microsoft.com/azure/azure-resource-manager/templates/syntax, .../template-expressions and
// .../template-functions. The messages of refusals are those of public reports, because no recording has one. Azure's
// messages have the line and column of the error; here both are always 1.
package template

import "fmt"

// Error is a refusal of a template. Azure's code for it is InvalidTemplate.
type Error struct {
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

func newRefusal(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...)}
}
