package result

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Write is a request that changes Azure.
type Write struct {
	// Object is the index of the object in the plan that it is for.
	Object int
	Method string
	// ID is the resource, and Action the last segment of the path of a POST request.
	ID     arm.ID
	Action string
	// Before is the resource before the request, nil if it did not exist; Body is that of the request.
	Before, Body json.RawMessage
	// Refused is the message of Azure if it would refuse the request.
	Refused string
	// TagsOnly is set for a request that changes the tags alone.
	TagsOnly bool
	// Cause is the reason as far as it is known from the object.
	Cause string
}

// AddWrite adds a write to the plan. A write that is repeated after a refusal is added once.
func (p *Plan) AddWrite(w Write) {
	change := Change{Resource: w.ID, Type: w.ID.Type(), Method: w.Method, Refused: w.Refused, Reason: w.Cause}
	row, _ := types.ForID(w.ID) // Without a row the body is compared by the general rules.
	if row.Name == "" {
		row = types.Type{Name: w.ID.Type()}
	}
	switch {
	case w.Method == "POST":
		change.Action = ActionRun
		change.Reason = w.Action
	case w.Method == "DELETE":
		change.Action = ActionDelete
	case w.Before == nil:
		change.Action, change.Properties = ActionCreate, listProperties(row, w.Body)
		change.Reason = "it does not exist in Azure"
	default:
		change.Action, change.Properties = ActionChange, listDifferences(row, w)
	}
	for _, property := range change.Properties {
		change.Reimages = change.Reimages || change.Action == ActionChange && isReimaging(row.Name, property)
	}
	of := &p.Objects[w.Object]
	same := func(c Change) bool {
		return c.Resource.Equal(change.Resource) && c.Method == change.Method && slices.Equal(c.Properties, change.Properties)
	}
	if slices.ContainsFunc(of.Changes, same) && (w.Refused != "" || w.Method == "DELETE") {
		return
	}
	of.Changes = append(of.Changes, change)
}

// listProperties returns the values of a new resource.
func listProperties(row types.Type, raw json.RawMessage) (out []Property) {
	body, err := arm.DecodeBody(raw)
	if err != nil {
		return nil
	}
	jsonpath.Walk(maskSecrets(row, body), func(path jsonpath.Path, value any) bool {
		switch value := value.(type) {
		case map[string]any:
			return true
		case []any:
			return true
		default:
			if value != nil {
				out = append(out, Property{Path: path.String(), New: formatValue(value)})
			}
		}
		return true
	})
	return out
}

// listDifferences returns the properties that a request changes.
func listDifferences(row types.Type, w Write) (out []Property) {
	body, err := arm.DecodeBody(w.Body)
	if err != nil {
		return nil
	}
	before, err := arm.DecodeBody(w.Before)
	if err != nil {
		return nil
	}
	if w.TagsOnly {
		tags := jsonpath.Get(body, "properties.tags")
		body = map[string]any{"tags": tags}
	}
	desired := compare.Desired{Type: row, Body: maskSecrets(row, body)}
	for _, difference := range compare.Diff(desired, maskSecrets(row, before)) {
		out = append(out, Property{Path: difference.Path, Old: difference.Have, New: difference.Want})
	}
	return out
}

func formatValue(value any) string {
	if text, is := value.(string); is {
		if text == Masked {
			return Masked
		}
		value = text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	if len(raw) > maxValue {
		return strings.ToValidUTF8(string(raw[:maxValue]), "") + "..."
	}
	return string(raw)
}

// maxValue bounds the text of one value.
const maxValue = 200

// indexOf returns the position that a step of a path names, or -1.
func indexOf(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil {
		return -1
	}
	return n
}

// virtualMachineTypes are the types of machines and of instances of pools.
var virtualMachineTypes = []string{types.VirtualMachine, types.ScaleSet + "/virtualMachines"}

// Complete counts the changes and sets the verdicts. Objects without a change and without a report are left out.
func (p *Plan) Complete() {
	p.Objects = slices.DeleteFunc(p.Objects, func(o Object) bool {
		return len(o.Changes) == 0 && len(o.Reports) == 0 && o.Verdict == ""
	})
	created, deleted := map[string]bool{}, map[string]bool{}
	for i := range p.Objects {
		o := &p.Objects[i]
		for _, c := range o.Changes {
			key := c.Resource.Key()
			switch {
			case c.Refused != "":
				p.Summary.Refused++
			case c.Action == ActionCreate:
				created[key] = true
			case c.Action == ActionDelete:
				deleted[key] = true
			default:
				p.Summary.Change++
			}
		}
		p.setVerdict(o)
	}
	p.Summary.Create, p.Summary.Delete = len(created), len(deleted)
	for _, o := range p.Objects {
		if o.Verdict == VerdictReplaced {
			p.Summary.Replace++
		}
	}
}

// setVerdict sets the verdict of a machine, unless the rollout of its group has set it.
func (p *Plan) setVerdict(o *Object) {
	if o.Kind != "AzureMachine" && o.Kind != "AzureMachinePoolMachine" || o.Verdict != "" {
		return
	}
	for _, c := range o.Changes {
		of := slices.ContainsFunc(virtualMachineTypes, func(known string) bool { return strings.EqualFold(known, c.Type) })
		switch {
		case c.Refused != "":
			o.Verdict, o.Why = VerdictRefused, c.Refused
			return
		case of && c.Action == ActionCreate:
			o.Verdict = VerdictNew
			return
		case of && c.Action == ActionDelete:
			o.Verdict = VerdictDeleted
			return
		}
	}
	if len(o.Changes) > 0 {
		o.Verdict = VerdictInPlace
	} else if len(o.Reports) > 0 {
		o.Verdict, o.Why = VerdictRefused, o.Reports[0]
	}
}
