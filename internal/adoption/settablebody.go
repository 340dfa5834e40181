package adoption

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// stateProperties are settable properties that show a state and not a wish. In a manifest they would revert changes of the cluster's
// operators, of the autoscaler and of upgrades. Pools, versions and counts have objects of their own.
var stateProperties = []string{
	"properties.agentPoolProfiles", "properties.count", "properties.kubernetesVersion", "properties.orchestratorVersion",
	"properties.nodeImageVersion", "properties.powerState", "properties.privateLinkResources",
	"properties.networkProfile.loadBalancerProfile.effectiveOutboundIPs", "properties.networkProfile.natGatewayProfile.effectiveOutboundIPs",
	"properties.status", "properties.virtualMachineNodesStatus", "kind",
}

// singleValueLists are lists that AKS derives from a single value if there is one family of addresses.
var singleValueLists = map[string]string{"properties.networkProfile.podCidrs": "properties.networkProfile.podCidr",
	"properties.networkProfile.serviceCidrs": "properties.networkProfile.serviceCidr"}

// settableBody returns the part of a resource in Azure that a request may set, without empty values.
func settableBody(r Resource) (map[string]any, schema.Definition, error) {
	definition, ok := schema.NearestDefinition(r.ID.Type(), r.APIVersion)
	if !ok {
		return nil, definition, fmt.Errorf("%s: its type has no definition", r.ID)
	}
	shown, err := arm.DecodeBody(r.Body)
	if err != nil {
		return nil, definition, fmt.Errorf("%s: %w", r.ID, err)
	}
	out, _ := definition.Body().StripUnsettable(shown).(map[string]any)
	for _, path := range stateProperties {
		jsonpath.Delete(out, path)
	}
	for list, single := range singleValueLists {
		if values, _ := jsonpath.GetFold(out, list).([]any); len(values) == 1 && values[0] == jsonpath.GetFold(out, single) {
			jsonpath.Delete(out, list)
		}
	}
	deleteKubeletIdentityOfAKS(out)
	return out, definition, nil
}

// deleteKubeletIdentityOfAKS deletes the kubelet identity that AKS created in the node resource group.
func deleteKubeletIdentityOfAKS(body map[string]any) {
	group, _ := jsonpath.GetFold(body, "properties.nodeResourceGroup").(string)
	profiles, _ := jsonpath.GetFold(body, "properties.identityProfile").(map[string]any)
	for key, value := range profiles {
		profile, _ := value.(map[string]any)
		id, _ := profile["resourceId"].(string)
		if strings.Contains(strings.ToLower(id), strings.ToLower("/resourceGroups/"+group+"/")) {
			delete(profiles, key)
		}
	}
	if len(profiles) == 0 {
		jsonpath.Delete(body, "properties.identityProfile")
	}
}

// decodeAs converts a value to another type by JSON. Keys ignore case. It returns nil if the value does not fit.
func decodeAs[T any](value any) *T {
	raw, err := json.Marshal(value)
	if err != nil || value == nil {
		return nil
	}
	out := new(T)
	if json.NewDecoder(bytes.NewReader(raw)).Decode(out) != nil {
		return nil
	}
	return out
}
