// Package observed observes clusters of all kinds with resources in Azure while they are created, changed and deleted: nothing is written
// to Azure, and the differences that the condition Drifted lists are written when observing ends. Time is virtual.
package observed
