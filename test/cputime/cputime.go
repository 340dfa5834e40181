// Package cputime measures the processor time of code in tests that compare the cost of small and large inputs. Other processes delay a test and
// change the time that passes, but not the processor time. It counts all goroutines of the process, so no other test may run at the same time.
package cputime

import (
	"syscall"
	"time"
)

// Measure returns the processor time that the process uses while f runs.
func Measure(f func()) time.Duration {
	before := used()
	f()
	return used() - before
}

func used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // The arguments are valid.
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
