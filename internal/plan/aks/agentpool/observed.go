package agentpool

import (
	"cmp"
	"encoding/json"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// Observed holds the properties of an agent pool in Azure that plans and controllers read. The zero value stands for a pool that
// does not exist.
//
// Values from Azure enter the body of the pool only through this type.
type Observed struct {
	Exists bool `json:"-"`
	raw    json.RawMessage

	Properties observedProperties `json:"properties"`
}

type observedProperties struct {
	ProvisioningState          string                `json:"provisioningState"`
	PowerState                 struct{ Code string } `json:"powerState"`
	Count                      *int32                `json:"count"`
	EnableAutoScaling          bool                  `json:"enableAutoScaling"`
	OrchestratorVersion        string                `json:"orchestratorVersion"`
	CurrentOrchestratorVersion string                `json:"currentOrchestratorVersion"`
	Type                       string                `json:"type"`
	NodeLabels                 map[string]string     `json:"nodeLabels"`
	NodeTaints                 []string              `json:"nodeTaints"`
	Mode                       string                `json:"mode"`
	NodeImageVersion           string                `json:"nodeImageVersion"`
}

// Observe decodes an agent pool. Nil stands for a pool that does not exist. Properties that cannot be decoded are treated as
// absent.
func Observe(observed json.RawMessage) Observed {
	var out Observed
	if len(observed) == 0 || json.Unmarshal(observed, &out) != nil {
		return Observed{Exists: len(observed) > 0}
	}
	out.Exists, out.raw = true, observed
	return out
}

// Power states of an agent pool.
const (
	Running = "Running"
	Stopped = "Stopped"
)

// IsStopped reports whether the pool is stopped, alone or with its cluster.
func (o Observed) IsStopped() bool { return strings.EqualFold(o.Properties.PowerState.Code, Stopped) }

// Version returns the versions that Azure shows for the pool. The requested version counts as the running one until Azure shows that.
func (o Observed) Version() version.Observed {
	requested := o.Properties.OrchestratorVersion
	return version.Observed{Requested: requested, Running: cmp.Or(o.Properties.CurrentOrchestratorVersion, requested)}
}
