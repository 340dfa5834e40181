package engine

// alignment is the desired state that a resource was last seen in.
type alignment struct {
	// hash identifies the desired state; "" means none.
	hash string
	// drifted means that the resource differed from it afterwards.
	drifted bool
	// inPlace means that the last convergence had nothing to do for the resource.
	inPlace bool
}

// wasInPlace reports whether the last convergence found the resource in its desired state and had nothing to do for it.
func (a alignment) wasInPlace() bool { return a.hash != "" && a.inPlace }

// recordDrift records that the resource no longer is in its desired state. It returns true if that was not known before.
func (a *alignment) recordDrift() (first bool) {
	first = !a.drifted
	a.drifted = true
	return first
}

// clearDrift records that the resource is in its desired state. It returns true if it was not before.
func (a *alignment) clearDrift() (drifted bool) {
	drifted, a.drifted = a.drifted, false
	return drifted
}
