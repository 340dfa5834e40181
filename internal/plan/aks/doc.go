// Package aks plans the Azure resources of AKS clusters: resource groups, network, the managed cluster, its agent pools, and the
// resources that are attached to it.
//
// The package is pure: every function depends on its arguments only. Call CheckSpec and CheckPool before BuildPlan and
// BuildPoolPlan, and create nothing while they return errors.
//
// AKS sets many properties itself, and its PUT keeps the properties that a request leaves out. A body therefore contains only the
// values of the spec, and values that AKS has set are left alone. A value that was removed from the spec is reset by means of the
// paths that earlier plans sent, which the caller stores.
package aks
