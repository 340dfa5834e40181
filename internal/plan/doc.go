// Package plan declares the input of plans: plain structs without clients and without clocks. The plans are in the
// packages below, one per kind of object, with one file per feature.
//
// A plan is pure: the same input gives the same graph. Answers of Kubernetes and Azure are read before and are part of the
// input.
package plan
