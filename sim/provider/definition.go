package provider

import (
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/definition"
)

// checkDefinition refuses a body with a property that the type does not have in the api-version that is spoken, or of
// another JSON type than is defined. shown is the resource as it is read; nil for a new one.
//
// No recording has such a refusal: the clients that were recorded send only what the definitions have. Codes are those of the
// fact sheets and of public issue reports, the words follow the deserialisers that the providers use (Json.NET, for AKS Go's
// encoding/json).
func (c *Call) checkDefinition(shown body.Object) error {
	m := definition.Check(c.Type.Name, c.APIVersion, c.Body, shown)
	if m == nil {
		return nil
	}
	why := fmt.Sprintf("Could not find member '%s' on object of type '%s'. Path '%s', line 1, position 1.", m.Member, m.Object, m.Path)
	if m.Want != "" {
		why = fmt.Sprintf("Error converting value of type '%s' to type '%s'. Path '%s', line 1, position 1.", m.Got, m.Want, m.Path)
	}
	if !strings.Contains(m.Path, ".") && m.Want == "" {
		// The envelope is Resource Manager's.
		return gateway(Errorf(400, "InvalidRequestContent", "The request content was invalid and could not be deserialized: '%s'.",
			strings.Replace(why, "'"+m.Object+"'", "'ResourceDefinition'", 1)))
	}
	switch c.Type.Style {
	case Network:
		return network(Errorf(400, "InvalidRequestFormat", "Cannot parse the request.").WithDetail(Errorf(0, "InvalidJson", "%s", why)))
	case Containers:
		message := fmt.Sprintf("json: unknown field %q", m.Member)
		if m.Want != "" {
			message = fmt.Sprintf("json: cannot unmarshal %s into Go struct field %s.%s of type %s", m.Got, m.Object, m.Path, m.Want)
		}
		e := Errorf(400, "UnmarshalError", "UnmarshalEntity encountered error: %s.", message)
		e.Bare = true
		return e
	case Compute, Disk:
		return Errorf(400, "BadRequest", "%s", why).WithTarget(m.Path)
	default:
		return Errorf(400, "InvalidRequestContent", "The request content was invalid and could not be deserialized: '%s'.", why)
	}
}
