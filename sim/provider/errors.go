package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Error is an answer in Azure's error shape. A failed operation carries one, too.
type Error struct {
	Status     int // HTTP status; not used by a failed operation
	Code       string
	Message    string
	Target     string
	Details    []*Error
	Gateway    bool          // set by Azure Resource Manager itself, not by a provider: header x-ms-failure-cause
	Bare       bool          // AKS style: not wrapped in "error"
	NoDetails  bool          // a bare error without "details", which those of AKS always have
	RetryAfter time.Duration // not scaled; 0: no header
	Header     map[string]string
	More       body.Object // further keys of the error object
}

// Errorf makes an Error.
func Errorf(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// WithTarget sets the path of the faulty property.
func (e *Error) WithTarget(target string) *Error {
	e.Target = target
	return e
}

// WithDetail adds an inner error.
func (e *Error) WithDetail(d *Error) *Error {
	e.Details = append(e.Details, d)
	return e
}

// InnerObject returns the inside of the "error" property. withDetails adds an empty "details", as the network provider does.
func (e *Error) InnerObject(withDetails bool) body.Object {
	o := body.Object{"code": e.Code}
	if e.Message != "" {
		o["message"] = e.Message
	}
	if e.Target != "" {
		o["target"] = e.Target
	}
	if len(e.Details) > 0 || withDetails {
		list := []any{}
		for _, d := range e.Details {
			list = append(list, d.InnerObject(false))
		}
		o["details"] = list
	}
	for k, v := range e.More {
		o[k] = v
	}
	return o
}

// JSON returns the whole answer.
func (e *Error) JSON() []byte {
	var o body.Object
	if e.Bare {
		o = e.InnerObject(false)
		if len(e.Details) == 0 && !e.NoDetails {
			o["details"] = nil
		}
	} else {
		o = body.Object{"error": e.InnerObject(strings.HasPrefix(e.Header[networkMark], "1"))}
	}
	raw, _ := json.Marshal(o)
	return raw
}

const networkMark = "network"

// networkError marks an error as written by the network provider, which always sends "details".
func networkError(e *Error) *Error {
	h := maps.Clone(e.Header)
	if h == nil {
		h = map[string]string{}
	}
	h[networkMark] = "1"
	e.Header = h
	return e
}

// gatewayError marks an error as written by Azure Resource Manager itself.
func gatewayError(e *Error) *Error {
	e.Gateway = true
	return e
}

// GatewayErrorf returns an error that Azure Resource Manager itself writes.
func GatewayErrorf(status int, code, format string, args ...any) *Error {
	return gatewayError(Errorf(status, code, format, args...))
}

// ResourceGroupNotFound is Azure Resource Manager's answer for anything inside an unknown resource group.
func ResourceGroupNotFound(name string) *Error {
	return GatewayErrorf(404, "ResourceGroupNotFound", "Resource group '%s' could not be found.", name)
}

// ResourceNotFound is Azure Resource Manager's answer for a top-level resource that was never created.
func ResourceNotFound(id store.ID) *Error {
	return GatewayErrorf(404, "ResourceNotFound",
		"The Resource '%s' under resource group '%s' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix",
		relativeID(id), id.ResourceGroup)
}

// relativeID returns an ID below its scope: "Microsoft.Network/virtualNetworks/v".
func relativeID(id store.ID) string {
	path := id.Namespace
	for i, t := range id.Types {
		path += "/" + t
		if i < len(id.Names) {
			path += "/" + id.Names[i]
		}
	}
	return path
}

// NestedResourcesExist refuses the deletion of a resource with nested resources that are not deleted with it. The ID
// is that of one of them. Source: recordings of private DNS zones, whose link is being deleted.
func NestedResourcesExist(id string) *Error {
	nested, _ := store.ParseID(id)
	return Errorf(409, "CannotDeleteResource",
		"Cannot delete resource while nested resources exist. Some existing nested resource IDs include: '%s'. Please delete all nested resources before deleting this resource.", relativeID(nested))
}

// ResourceGroupBeingDeleted answers writes into a resource group that is on its way out.
func ResourceGroupBeingDeleted(name string) *Error {
	return GatewayErrorf(409, "ResourceGroupBeingDeleted",
		"The resource group '%s' is in deprovisioning state and cannot perform this operation.", name)
}

// InvalidReference reports that a referenced resource does not exist. from is the ID of the resource with the
// reference.
func InvalidReference(to, from string) *Error {
	return networkError(Errorf(400, "InvalidResourceReference",
		"Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", to, from))
}

// InvalidParameter returns the usual 400 of the compute provider.
func InvalidParameter(target, format string, args ...any) *Error {
	return Errorf(400, "InvalidParameter", format, args...).WithTarget(target)
}

// MissingProperty reports that a required property is absent.
func MissingProperty(target string) *Error {
	return Errorf(400, "InvalidParameter", "Required parameter '%s' is missing (null).", target).WithTarget(target)
}
