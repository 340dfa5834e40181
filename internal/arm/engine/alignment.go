package engine

import "time"

// alignment is the desired state that a resource was last seen in.
type alignment struct {
	// hash identifies the desired state; "" means none.
	hash string
	// drifted means that the resource differed from it afterwards.
	drifted bool
	// inPlace means that the last convergence had nothing to do for the resource.
	inPlace bool
	// repairedAt is when the engine last repaired the resource, in Unix seconds; 0 means never. A time.Time would be three times as large, and
	// each resource of a fleet has one.
	repairedAt int64
}

// wasInPlace reports whether the last convergence found the resource in its desired state and had nothing to do for it.
func (a alignment) wasInPlace() bool { return a.hash != "" && a.inPlace }

// recordDrift records that the resource no longer is in its desired state. It returns true if that was not known before.
func (a *alignment) recordDrift() (first bool) {
	first = !a.drifted
	a.drifted = true
	return first
}

// recordRepair records that a write has brought the resource into its desired state. It returns whether the resource had drifted, and
// whether it was repaired within the period before, too.
func (a *alignment) recordRepair(now time.Time, period time.Duration) (drifted, again bool) {
	if drifted = a.drifted; !drifted {
		return false, false
	}
	again = a.repairedAt != 0 && now.Unix()-a.repairedAt <= int64(period/time.Second)
	a.drifted, a.repairedAt = false, now.Unix()
	return true, again
}
