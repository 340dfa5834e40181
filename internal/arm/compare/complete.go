package compare

// complete adds to the elements of the list at steps what the plan leaves out of them, as observed, and to the objects inside. Lists inside an
// element are left as they are.
func complete(body, have any, steps []step) {
	for i, s := range steps {
		if s.inList {
			eachPair(body, have, func(item, other any) { complete(item, other, steps[i+1:]) })
			return
		}
		object, _ := body.(map[string]any)
		observed, _ := have.(map[string]any)
		body, _ = lookup(object, s.member)
		have, _ = lookup(observed, s.member)
	}
	eachPair(body, have, fill)
}

// eachPair calls do with each element of a planned list and the observed one of the same name or ID.
func eachPair(body, have any, do func(item, other any)) {
	planned, _ := body.([]any)
	list, _ := have.([]any)
	key := elementKey(planned, list)
	for _, item := range planned {
		if name := keyOf(item, key); name != "" {
			do(item, find(list, key, name))
		}
	}
}

// fill copies the members of an observed object that a planned one lacks.
func fill(item, other any) {
	object, _ := item.(map[string]any)
	observed, _ := other.(map[string]any)
	if object == nil {
		return
	}
	for key, value := range observed {
		if planned, ok := lookup(object, key); ok {
			fill(planned, value)
		} else {
			object[key] = clone(value)
		}
	}
}
