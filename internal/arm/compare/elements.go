package compare

// completeElements adds the observed members that the plan leaves out to the elements of the list at steps, and to the objects in them.
// Lists in an element are not changed.
func completeElements(body, have any, steps []step) {
	for i, s := range steps {
		if s.inList {
			forEachPair(body, have, func(item, other any) { completeElements(item, other, steps[i+1:]) })
			return
		}
		object, _ := body.(map[string]any)
		observed, _ := have.(map[string]any)
		body, _ = lookupKey(object, s.member)
		have, _ = lookupKey(observed, s.member)
	}
	forEachPair(body, have, copyMissing)
}

// forEachPair calls do with each element of a planned list and the observed element of the same name or ID.
func forEachPair(body, have any, do func(item, other any)) {
	planned, _ := body.([]any)
	list, _ := have.([]any)
	key := elementKey(planned, list)
	for _, item := range planned {
		if name := elementName(item, key); name != "" {
			do(item, findElement(list, key, name))
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
		if planned, ok := lookupKey(object, key); ok {
			copyMissing(planned, value)
		} else {
			object[key] = cloneValue(value)
		}
	}
}
