package agentpool

import (
	"encoding/json"
	"math"
)

// Scale is Cluster API's request for a pool's number of nodes.
type Scale struct {
	// Replicas is spec.replicas of the MachinePool. Nil leaves the number to the body.
	Replicas *int32
	// Manager is the annotation replicas-managed-by of the MachinePool. Own is the value of it that the controller of the pool writes
	// while AKS's autoscaler runs.
	Manager, Own string
}

// isManagedByOthers reports whether another program than AKS's autoscaler changes the number of nodes. "false" is Cluster API's value
// for none. The controller's own value may be left over from when the autoscaler ran.
func (s Scale) isManagedByOthers() bool {
	return s.Manager != "" && s.Manager != "false" && s.Manager != s.Own
}

// UsesReplicas reports whether the number of nodes follows spec.replicas of the MachinePool, and not the number in Azure, which AKS's
// autoscaler or another program has chosen.
func (s Scale) UsesReplicas(properties map[string]any, have Observed) bool {
	return s.Replicas != nil && !s.keepsCount(properties, have)
}

func (s Scale) keepsCount(properties map[string]any, have Observed) bool {
	return have.Properties.Count != nil && (IsAutoscaled(properties, have) || s.isManagedByOthers())
}

// SetCount sets the number of nodes in the properties of a pool.
func (s Scale) SetCount(properties map[string]any, have Observed) {
	switch {
	case s.keepsCount(properties, have):
		properties["count"] = clampCount(properties, have, *have.Properties.Count)
	case s.Replicas != nil:
		properties["count"] = clampCount(properties, have, *s.Replicas)
	}
}

// clampCount limits a count to the bounds of the autoscaler. AKS rejects a count outside of them.
func clampCount(properties map[string]any, have Observed, count int32) float64 {
	out := float64(count)
	if !IsAutoscaled(properties, have) {
		return out
	}
	if least, ok := toNumber(properties["minCount"]); ok {
		out = math.Max(out, least)
	}
	if most, ok := toNumber(properties["maxCount"]); ok {
		out = math.Min(out, most)
	}
	return out
}

// IsAutoscaled reports whether AKS's autoscaler changes the number of nodes of a pool. Properties that leave the switch out keep it as
// it is in Azure.
func IsAutoscaled(properties map[string]any, have Observed) bool {
	if on, ok := properties["enableAutoScaling"].(bool); ok {
		return on
	}
	return have.Properties.EnableAutoScaling
}

// toNumber returns a number of a decoded body.
func toNumber(value any) (number float64, ok bool) {
	switch value := value.(type) {
	case float64:
		return value, true
	case json.Number:
		number, err := value.Float64()
		return number, err == nil
	}
	return 0, false
}
