package plan

import (
	"encoding/json"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// ProviderID returns the provider ID of a VM in the form of cloud-provider-azure, with the name of the resource group in
// lower case.
// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/master/pkg/provider/azure_standard.go
func ProviderID(vm arm.ID) string {
	segments := strings.Split(string(vm), "/")
	for i := 1; i < len(segments); i++ {
		if strings.EqualFold(segments[i-1], "resourceGroups") {
			segments[i] = strings.ToLower(segments[i])
		}
	}
	return "azure://" + strings.Join(segments, "/")
}

// PowerState returns the power state in the instance view of a VM, such as "running"; "" if it has none.
func PowerState(view json.RawMessage) string {
	var observed struct {
		Statuses []struct {
			Code string `json:"code"`
		} `json:"statuses"`
	}
	// A view of another shape has no power state.
	_ = json.Unmarshal(view, &observed)
	for _, status := range observed.Statuses {
		if state, ok := strings.CutPrefix(strings.ToLower(status.Code), "powerstate/"); ok {
			return state
		}
	}
	return ""
}
