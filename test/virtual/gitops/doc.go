// Package gitops computes the health of objects as Argo CD and Flux do with the checks that a release ships, and compares it with the result
// of kstatus. It is pure.
package gitops
