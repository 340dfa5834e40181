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

// findFailureReason returns the error of a resource in the state Failed whose operation is no longer known. Only virtual machines have
// the reason in their instance view. It is requested if the read came from a list.
func (e *Engine) findFailureReason(ctx context.Context, c *client.Client, found Observed, row types.Type) error {
	failure := &arm.Error{Method: http.MethodPut, ID: found.ID, Status: http.StatusOK, Code: CodeProvisioningFailed,
		Message: "Azure shows the resource in the state Failed. It is not created again automatically. Delete and replace it"}
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

// instanceStatuses returns the statuses in the instance view of a machine.
func instanceStatuses(body json.RawMessage) []status {
	var machine struct {
		Properties struct {
			InstanceView struct {
				Statuses []status `json:"statuses"`
			} `json:"instanceView"`
		} `json:"properties"`
	}
	// A body of another shape has no statuses.
	_ = json.Unmarshal(body, &machine)
	return machine.Properties.InstanceView.Statuses
}
