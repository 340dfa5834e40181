// Package result is the output of a plan: per object its changes in Azure, resource by resource and property by property. It is plain
// data, and it has no secrets: write-only properties, and others whose names tell that they are secret, are masked when a result is made.
//
// Its functions are pure.
package result

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm"

// Plan is the result.
type Plan struct {
	Objects []Object `json:"objects"`
	// Summary counts resources.
	Summary Summary `json:"summary"`
	// Notes are remarks about the plan as a whole: facts that it cannot know.
	Notes []string `json:"notes,omitempty"`
}

// Summary counts the resources of a plan by action.
type Summary struct {
	Create int `json:"create"`
	Change int `json:"change"`
	Delete int `json:"delete"`
	// Replace counts machines and instances of pools that are deleted and created again.
	Replace int `json:"replace"`
	// Refused counts writes that Azure would refuse.
	Refused int `json:"refused"`
}

// Object is a Kubernetes object with the changes that are made for it.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Verdict is the effect of the plan on a machine, or on an instance of a pool; "" for other kinds.
	Verdict Verdict `json:"verdict,omitempty"`
	// Order is the position of a replacement among those of the plan, from 1; 0 for others.
	Order int `json:"order,omitempty"`
	// Why has the reasons of the verdict.
	Why string `json:"why,omitempty"`
	// Observed are the settings that have the object observed. The manager makes the changes when they are removed.
	Observed []string `json:"observed,omitempty"`
	// Changes are in the order of the writes.
	Changes []Change `json:"changes,omitempty"`
	// Reports are conditions and warnings that stay: changes that are not possible in place, and refusals.
	Reports []string `json:"reports,omitempty"`
}

// Verdict is the effect of a plan on a machine or an instance.
type Verdict string

// The verdicts.
const (
	VerdictNew      Verdict = "new"
	VerdictInPlace  Verdict = "changed in place"
	VerdictReplaced Verdict = "replaced"
	VerdictDeleted  Verdict = "deleted"
	VerdictRefused  Verdict = "refused"
)

// Action is the effect of a plan on a resource.
type Action string

// The actions.
const (
	ActionCreate Action = "create"
	ActionChange Action = "change"
	ActionDelete Action = "delete"
	// ActionRun is a POST request, such as the restart of a VM.
	ActionRun Action = "run"
)

// Change is a write to a resource.
type Change struct {
	Action   Action `json:"action"`
	Resource arm.ID `json:"resource"`
	Type     string `json:"type"`
	Method   string `json:"method"`
	// Reason tells why.
	Reason string `json:"reason"`
	// Properties are those that change, or all of a new resource.
	Properties []Property `json:"properties,omitempty"`
	// Reimages is set if AKS replaces the nodes of the pool for this change.
	Reimages bool `json:"reimages,omitempty"`
	// Refused is Azure's answer if it would refuse the write.
	Refused string `json:"refused,omitempty"`
}

// Property is a value in the body of a resource.
type Property struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

// HasChanges reports whether anything would be written.
func (p *Plan) HasChanges() bool { return p.Summary != Summary{} }
