package compare

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// completeElements adds the observed members that the plan leaves out to the elements of the list at steps, and to the objects in them.
// Lists in an element are not changed.
func completeElements(body, have any, steps jsonpath.Path) {
	for i, s := range steps {
		if s.Element {
			forEachPair(body, have, func(item, other any) { completeElements(item, other, steps[i+1:]) })
			return
		}
		object, _ := body.(map[string]any)
		observed, _ := have.(map[string]any)
		body, _ = jsonpath.LookUp(object, s.Name)
		have, _ = jsonpath.LookUp(observed, s.Name)
	}
	forEachPair(body, have, copyMissing)
}

// forEachPair calls do with each element of a planned list and the observed element of the same name or ID.
func forEachPair(body, have any, do func(item, other any)) {
	planned, _ := body.([]any)
	list, _ := have.([]any)
	key := jsonpath.ElementKey(planned, list)
	for _, item := range planned {
		if name := jsonpath.ElementName(item, key); name != "" {
			do(item, jsonpath.FindElement(list, key, name))
		}
	}
}

// copyMissing copies the members of an observed object that a planned one lacks.
func copyMissing(item, other any) {
	object, _ := item.(map[string]any)
	observed, _ := other.(map[string]any)
	if object == nil {
		return
	}
	for key, value := range observed {
		if planned, ok := jsonpath.LookUp(object, key); ok {
			copyMissing(planned, value)
		} else {
			object[key] = jsonpath.Clone(value)
		}
	}
}

// preserve copies the observed value at steps to body, which has none there. In lists, elements are paired as in forEachPair.
func preserve(body, have any, steps jsonpath.Path) {
	if i := slices.IndexFunc(steps, func(s jsonpath.Step) bool { return s.Element }); i >= 0 {
		forEachPair(steps[:i].GetFold(body), steps[:i].GetFold(have), func(item, other any) { preserve(item, other, steps[i+1:]) })
		return
	}
	object, _ := body.(map[string]any)
	if value := steps.GetFold(have); object != nil && !isEmpty(value) && steps.GetFold(body) == nil {
		steps.Set(object, jsonpath.Clone(value))
	}
}
