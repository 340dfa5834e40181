package properties

import (
	"fmt"
	"slices"
)

// Property is a rule that holds in each history.
type Property struct {
	Name string
	// because is the reason for the rule.
	because string
	find    func(t *timeline) []string
}

// Always returns the properties of each history.
func Always() []Property {
	return slices.Concat(writeProperties, resourceProperties, objectProperties, statusProperties, secretProperties)
}

// Find returns the violations of a property.
func (p Property) Find(h *History) []string {
	var out []string
	for _, each := range p.find(newTimeline(h)) {
		out = append(out, fmt.Sprintf("%s: %s. %s", p.Name, each, p.because))
	}
	return out
}

// Check returns the violations of all properties, each once.
func Check(h *History) []string {
	t := newTimeline(h)
	var out []string
	for _, p := range Always() {
		for _, each := range p.find(t) {
			if line := fmt.Sprintf("%s: %s. %s", p.Name, each, p.because); !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out
}
