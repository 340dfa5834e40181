// Package recordings compares the rules of this provider with recorded traffic of the real Azure, and the translation of
// patches with the types that they are written for.
//
// Both come from the Azure Service Operator (MIT licence): the recordings of its tests and its API types. The recordings of cloud-provider-azure's
// client library (Apache License 2.0) are for sim/conformance alone. The program distil makes testdata of them, and names their module, version and
// files there. The package is a module of its own, because it reads that of the operator.
package recordings
