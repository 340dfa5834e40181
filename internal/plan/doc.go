// Package plan declares what the plans are computed from: plain structs without clients, methods that reach out, or
// clocks. The plans themselves are in the packages below, one per kind of object and one file per feature.
//
// A plan is pure: the same input gives the same graph, and everything that has to be asked of Kubernetes or Azure has
// been asked before and is in the input.
package plan
