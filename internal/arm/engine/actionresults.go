package engine

// actionResults holds the result of an action for each object that waits for it.
type actionResults map[string]error

// newActionResults returns one result for several objects.
func newActionResults(objects []string, err error) actionResults {
	out := actionResults{}
	for _, object := range objects {
		out[object] = err
	}
	return out
}

// take returns and removes the result for an object; ok is false if there is none.
func (a actionResults) take(object string) (err error, ok bool) {
	err, ok = a[object]
	delete(a, object)
	return err, ok
}
