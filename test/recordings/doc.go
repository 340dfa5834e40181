// Package recordings holds the rules of this provider against recorded traffic of the real Azure.
//
// The recordings are those of the Azure Service Operator's tests (MIT licence), read from the module cache and not
// copied. The package is a module of its own, so that the provider does not depend on that operator.
package recordings
