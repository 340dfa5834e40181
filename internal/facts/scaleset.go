package facts

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// ListScaleSetVMs returns the VMs of a scale set with their power states from one list, none if it does not exist. Instances of a
// uniform scale set are listed below it. VMs of a flexible one are those of its group that refer to it.
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-set-vms/list
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machines/list
func (f *Facts) ListScaleSetVMs(ctx context.Context, caller Caller, scaleSet arm.ID, flexible bool) ([]json.RawMessage, error) {
	path, query := string(scaleSet)+"/virtualMachines", url.Values{"$expand": {"instanceView"}}
	if flexible {
		path = string(arm.ResourceGroupID(scaleSet.Subscription(), scaleSet.ResourceGroup())) + "/providers/" + types.VirtualMachine
		query.Set("$filter", "'virtualMachineScaleSet/id' eq '"+string(scaleSet)+"'")
	}
	items, err := askUnlessFailed(ctx, f.failures, caller, caller.scopedKey(scaleSet.Key()+"|instances"),
		func(ctx context.Context) ([]json.RawMessage, error) {
			return caller.Client.List(ctx, path, types.ScaleSetAPIVersion, query)
		})
	if arm.IsNotFound(err) {
		return nil, nil
	}
	return items, err
}

// ReadScaleSetVM reads one VM of a scale set in the form of the list, which may leave it out. It returns nil if the VM does not
// exist or belongs to another scale set.
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-set-vms/get
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machines/get
func (f *Facts) ReadScaleSetVM(ctx context.Context, caller Caller, scaleSet, vm arm.ID, flexible bool) (json.RawMessage, error) {
	response, err := askUnlessFailed(ctx, f.failures, caller, caller.scopedKey(vm.Key()+"|instance"),
		func(ctx context.Context) (*client.Response, error) {
			return caller.Client.Get(ctx, vm, types.ScaleSetAPIVersion, url.Values{"$expand": {"instanceView"}})
		})
	if arm.IsNotFound(err) {
		return nil, nil
	}
	if err != nil || !flexible {
		return responseBody(response), err
	}
	var shown struct {
		Properties struct {
			VirtualMachineScaleSet struct {
				ID arm.ID `json:"id"`
			} `json:"virtualMachineScaleSet"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(response.Body, &shown); err != nil {
		return nil, arm.AddSubject("GET "+vm.ShortName(), err)
	}
	if !shown.Properties.VirtualMachineScaleSet.ID.Equal(scaleSet) {
		return nil, nil
	}
	return response.Body, nil
}

func responseBody(response *client.Response) json.RawMessage {
	if response == nil {
		return nil
	}
	return response.Body
}

// ScaleSet holds the properties of a scale set that the plan of its pool depends on.
type ScaleSet struct {
	Exists bool
	// Body is the scale set as Azure shows it.
	Body json.RawMessage
	// Capacity is the number of VMs requested from Azure, State the provisioning state.
	Capacity int
	State    string
	// Tags are its tags with the keys in lower case.
	Tags map[string]string
	// PrincipalID is the principal of its system-assigned identity, "" for none.
	PrincipalID string
}

// ParseScaleSet decodes a scale set. An empty body stands for one that does not exist.
func ParseScaleSet(id arm.ID, body json.RawMessage) (ScaleSet, error) {
	var shown struct {
		Tags map[string]string `json:"tags"`
		SKU  struct {
			Capacity int `json:"capacity"`
		} `json:"sku"`
		Identity struct {
			PrincipalID string `json:"principalId"`
		} `json:"identity"`
		Properties struct {
			ProvisioningState string `json:"provisioningState"`
		} `json:"properties"`
	}
	if len(body) == 0 {
		return ScaleSet{}, nil
	}
	if err := json.Unmarshal(body, &shown); err != nil {
		return ScaleSet{}, arm.AddSubject("GET "+id.ShortName(), err)
	}
	out := ScaleSet{Exists: true, Body: body, Capacity: shown.SKU.Capacity, State: shown.Properties.ProvisioningState,
		PrincipalID: shown.Identity.PrincipalID, Tags: map[string]string{}}
	for key, value := range shown.Tags {
		out.Tags[strings.ToLower(key)] = value
	}
	return out, nil
}
