// Package observed observes clusters of all kinds with resources in Azure while they are created, changed and deleted: nothing is written
// to Azure, and what the condition Drifted lists is written when observing ends. Time is virtual.
package observed
