package aksengine

// Conversion is the result of the conversion for one value of the model.
type Conversion string

// The kinds of conversion.
const (
	// Carried means that the value is in the manifests.
	Carried Conversion = "carried"
	// Equivalent means that the manifests have the effect of the value by other means, or that it needs none.
	Equivalent Conversion = "equivalent"
	// NotConverted means that the manifests lack the effect of the value. Action describes how to get it.
	NotConverted Conversion = "not converted"
	// Empty means that the value is an empty text, list or object, or null.
	Empty Conversion = "empty"
)

// Finding is the result for one value of the model. It never has the value itself.
type Finding struct {
	Path       string     `json:"path"`
	Conversion Conversion `json:"outcome"`
	// Target is the field of the manifests that has the value.
	Target string `json:"target,omitempty"`
	// Reason names the equivalent, or explains why there is none.
	Reason string `json:"reason,omitempty"`
	// Action describes how to get the effect of the value.
	Action string `json:"action,omitempty"`
}

// Count returns how many findings have a kind of conversion.
func Count(findings []Finding, conversion Conversion) int {
	n := 0
	for _, finding := range findings {
		if finding.Conversion == conversion {
			n++
		}
	}
	return n
}

// carry records that the manifests have the value at target.
func (v *value) carry(target string) {
	v.leaves(func(leaf *value) { leaf.set(Finding{Conversion: Carried, Target: target}) })
}

// replace records that the manifests have the effect of the value by other means.
func (v *value) replace(reason string) {
	v.leaves(func(leaf *value) { leaf.set(Finding{Conversion: Equivalent, Reason: reason}) })
}

// report records that the manifests lack the effect of the value.
func (v *value) report(reason, action string) {
	v.leaves(func(leaf *value) { leaf.set(Finding{Conversion: NotConverted, Reason: reason, Action: action}) })
}

// set records a finding about a leaf.
func (v *value) set(finding Finding) {
	finding.Path = v.path
	if v.isEmpty() {
		finding = Finding{Path: v.path, Conversion: Empty}
	}
	v.finding = &finding
}

// listFindings returns the findings about all leaves. A leaf that no code read has the note of the table, or is unknown.
func listFindings(root *value) []Finding {
	var out []Finding
	root.leaves(func(leaf *value) {
		if leaf.finding == nil {
			reason, action := findNote(leaf.pattern)
			leaf.report(reason, action)
		}
		out = append(out, *leaf.finding)
	})
	return out
}
