package provider

import (
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/definition"
)

// checkDefinition checks the call's body against the published definition of its type in the request's api-version. A body
// that cannot be decoded is refused at once: it has a property that does not exist, or a value of another JSON type
// than is defined. Mismatches of values are returned: refuseValue reports them after the type's own rules, which have
// better messages. shown is the resource as it is read; nil for a new one.
func (c *Call) checkDefinition(shown body.Object) ([]definition.Mismatch, error) {
	var values []definition.Mismatch
	for _, m := range definition.Check(c.Type.Name, c.APIVersion, c.Body, shown) {
		if m.PreventsDecoding() {
			return nil, c.refuseDecoding(m)
		}
		if m.Problem == definition.Missing && shown != nil && (c.Type.PutMerges || c.Type.Style == Containers || c.Method == "PATCH") {
			// Properties that an update of these types leaves out keep their values.
			continue
		}
		values = append(values, m)
	}
	return values, nil
}

// decodeBody brings the body into the form in which its provider reads it.
func (c *Call) decodeBody() {
	switch c.Type.Style {
	case Network, Compute, Disk:
		if c.Body != nil {
			definition.Decode(c.Type.Name, c.APIVersion, c.Body)
		}
	}
}

// refuseDecoding returns the error for a body that cannot be decoded.
//
// No recording has such a refusal: the clients that were recorded send only properties of the definitions. Codes are
// those of the fact sheets and of public issue reports, the messages follow the deserialisers that the providers use
// (Json.NET, for AKS Go's encoding/json).
func (c *Call) refuseDecoding(m definition.Mismatch) error {
	why := fmt.Sprintf("Could not find member '%s' on object of type '%s'. Path '%s', line 1, position 1.", m.Member, m.Object, m.Path)
	if m.Problem == definition.WrongType {
		why = fmt.Sprintf("Error converting value of type '%s' to type '%s'. Path '%s', line 1, position 1.", m.Got, m.Want, m.Path)
	}
	if !strings.Contains(m.Path, ".") && m.Problem == definition.Unknown {
		// The envelope is Resource Manager's.
		return gatewayError(Errorf(400, "InvalidRequestContent", "The request content was invalid and could not be deserialized: '%s'.",
			strings.Replace(why, "'"+m.Object+"'", "'ResourceDefinition'", 1)))
	}
	switch c.Type.Style {
	case Network:
		return invalidJSON(why)
	case Containers:
		message := fmt.Sprintf("json: unknown field %q", m.Member)
		if m.Problem == definition.WrongType {
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

// invalidJSON returns the network provider's answer to a body that it cannot read.
func invalidJSON(why string) error {
	return networkError(Errorf(400, "InvalidRequestFormat", "Cannot parse the request.").WithDetail(Errorf(0, "InvalidJson", "%s", why)))
}

// refuseValue returns the error for the first mismatch of a value, with the message of the type's provider.
// Recordings have no such refusal either: codes and messages are those of the fact sheets and of public issue
// reports.
func (c *Call) refuseValue(values []definition.Mismatch) error {
	if len(values) == 0 {
		return nil
	}
	m := values[0]
	parameter := strings.TrimPrefix(m.Path, "properties.")
	var problem string
	switch m.Problem {
	case definition.Missing:
		problem = fmt.Sprintf("Required parameter '%s' is missing (null).", parameter)
	case definition.NotOneOf:
		problem = fmt.Sprintf("The value '%s' of parameter '%s' is not allowed. Allowed values are: %s.", m.Got, parameter, m.Want)
	case definition.OutOfRange:
		problem = fmt.Sprintf("The value '%s' of parameter '%s' is out of range. The value must be %s.", m.Got, parameter, m.Want)
	default:
		problem = fmt.Sprintf("The value '%s' of parameter '%s' does not match the pattern '%s'.", m.Got, parameter, m.Want)
	}
	switch c.Type.Style {
	case Network:
		switch m.Problem {
		case definition.Missing:
			return invalidJSON(fmt.Sprintf("Required property '%s' not found in JSON. Path '%s', line 1, position 1.", m.Member,
				strings.TrimSuffix(strings.TrimSuffix(m.Path, m.Member), ".")))
		case definition.NotOneOf:
			return invalidJSON(fmt.Sprintf("Error converting value %q to type '%s.%s'. Path '%s', line 1, position 1.", m.Got, m.Object, m.Member,
				m.Path))
		}
		return networkError(Errorf(400, "InvalidParameterValue", "%s", problem))
	case Containers:
		e := Errorf(400, "InvalidParameter",
			"The value of parameter %s is invalid. Error details: %s Please see https://aka.ms/aks-naming-rules for more details.", parameter,
			problem).WithTarget(parameter)
		e.Bare = true
		return e
	case Compute, Disk:
		return Errorf(400, "InvalidParameter", "%s", problem).WithTarget(parameter)
	default:
		return Errorf(400, "InvalidRequestContent", "The request content was invalid: '%s'", problem)
	}
}

// hideOtherVersions removes the properties that the request's api-version does not have from a shown body.
func (c *Call) hideOtherVersions(t *Type, shown body.Object) {
	if c.APIVersion == "" || c.Internal || c.Type == nil {
		return
	}
	if c.Type == t {
		definition.HideOtherVersions(t.Name, c.APIVersion, shown)
	}
	// A child that is shown inside its parent is shown in the same version.
	if c.Type == t || t.Inline != "" && strings.HasPrefix(t.Name, c.Type.Name+"/") {
		for path, since := range t.Since {
			if c.APIVersion < since {
				body.Strip(shown, path)
			}
		}
	}
}
