package engine

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// findFailureReason finds out why a resource is in the state Failed when the operation that failed is not known any more. Only
// machines tell, in their instance view, which is asked for when what was found came from a list.
func (e *Engine) findFailureReason(ctx context.Context, c *client.Client, found Observed, row types.Type) error {
	failure := &arm.Error{Method: http.MethodPut, ID: found.ID, Status: http.StatusOK, Code: CodeProvisioningFailed,
		Message: "Azure shows the resource in the state Failed; it is not made again on its own: delete and replace it"}
	if row.Name != types.VirtualMachine {
		return failure
	}
	statuses := instanceStatuses(found.Body)
	if len(statuses) == 0 {
		response, err := c.Get(ctx, found.ID, row.APIVersion, row.GetQuery)
		if err != nil {
			return failure
		}
		statuses = instanceStatuses(response.Body)
	}
	for _, status := range statuses {
		if code, ok := strings.CutPrefix(status.Code, "ProvisioningState/failed/"); ok {
			failure.Code, failure.Message = code, status.Message
		}
	}
	return failure
}

type status struct{ Code, Message string }

// instanceStatuses are the statuses in the instance view of a machine.
func instanceStatuses(body json.RawMessage) []status {
	var machine struct {
		Properties struct {
			InstanceView struct {
				Statuses []status `json:"statuses"`
			} `json:"instanceView"`
		} `json:"properties"`
	}
	// A body of another shape says nothing.
	_ = json.Unmarshal(body, &machine)
	return machine.Properties.InstanceView.Statuses
}
