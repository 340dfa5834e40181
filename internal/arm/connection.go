package arm

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// Connection is the connection of a private endpoint to a service, which the owner of the service approves, rejects and removes.
// https://learn.microsoft.com/en-us/azure/private-link/manage-private-endpoint
type Connection struct {
	// Service is the ID of the service.
	Service ID
	// State is Azure's state, as in "Pending". Description is the reason that the owner of the service gave.
	State, Description string
}

// IsPending reports whether the owner of the service can approve the connection. A rejected or removed one cannot be approved any more:
// MicrosoftDocs/azure-docs#115121, hashicorp/terraform-provider-azurerm#20776.
func (c Connection) IsPending() bool { return strings.EqualFold(c.State, "Pending") }

// ListUnapprovedConnections returns the connections in the lists at paths of a body that have a state other than Approved.
func ListUnapprovedConnections(body json.RawMessage, paths []string) (out []Connection) {
	if len(paths) == 0 {
		return nil
	}
	decoded, err := DecodeBody(body)
	if err != nil {
		return nil
	}
	for _, path := range paths {
		list, _ := jsonpath.Get(decoded, path).([]any)
		for _, element := range list {
			const state = "properties.privateLinkServiceConnectionState."
			found := Connection{Service: ID(jsonpath.GetText(element, "properties.privateLinkServiceId")),
				State: jsonpath.GetText(element, state+"status"), Description: jsonpath.GetText(element, state+"description")}
			if found.State != "" && !strings.EqualFold(found.State, "Approved") {
				out = append(out, found)
			}
		}
	}
	return out
}
