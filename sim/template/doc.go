// Package template reads Azure Resource Manager templates: the part of their language that the Azure CLI writes, with the words in which
// Azure refuses the rest.
//
// Its promise: what a template has and this package does not know is refused by its name, and never passed over. A Template is a
// function of its document, its parameters and the group it is deployed to; what a resource shows is asked for when a body is made, and
// for the plan of what depends on what not at all. Nothing is kept and nobody waits.
//
// Sources: https://learn.microsoft.com/azure/azure-resource-manager/templates/syntax, .../template-expressions and
// .../template-functions; the words of refusals are those of public reports of them, because no recording has one. Azure says line and
// column of what is wrong; here both are always 1.
package template

import "fmt"

// Error is a refusal of a template. Azure's code for it is InvalidTemplate.
type Error struct {
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

func refuse(format string, args ...any) error { return &Error{Message: fmt.Sprintf(format, args...)} }
