package machine

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// AppliedTags is the annotation to set on the AzureMachine once the VM has the planned tags. A later plan tells by it
// which tags were taken from the spec and which ones others set.
func AppliedTags(in plan.MachineInput) (annotation, value string) {
	raw, _ := json.Marshal(plan.MachineAdditionalTags(in)) // A map of strings always marshals.
	return infrav1.LastAppliedVMTagsAnnotation, string(raw)
}

// droppedTags are the tags that an earlier spec had and this one has not. An annotation that cannot be read names none.
func droppedTags(in plan.MachineInput) []string {
	var applied map[string]string
	if json.Unmarshal([]byte(in.AzureMachine.Annotations[infrav1.LastAppliedVMTagsAnnotation]), &applied) != nil {
		return nil
	}
	wanted := plan.MachineAdditionalTags(in)
	var out []string
	for _, key := range slices.Sorted(maps.Keys(applied)) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(wanted)), func(k string) bool { return strings.EqualFold(k, key) }) {
			out = append(out, key)
		}
	}
	return out
}
