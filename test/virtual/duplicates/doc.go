// Package duplicates has two pools of a cluster name the same resource in Azure. The pool that had it first keeps working, and the other one
// can be deleted without it. Time is virtual.
package duplicates
