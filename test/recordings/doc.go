// Package recordings holds the rules of this provider against recorded traffic of the real Azure, and the translation of
// patches against the types that they are written for.
//
// Both are the Azure Service Operator's (MIT licence): the recordings of its tests and its API types, read from the module
// cache and not copied. The package is a module of its own, so that the provider does not depend on that operator.
package recordings
