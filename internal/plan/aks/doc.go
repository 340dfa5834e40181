// Package managed plans the Azure resources of AKS clusters: resource groups, network, the managed cluster, its agent
// pools, and what is attached to it.
//
// It is pure: every function is one of its input alone. Check and CheckPool are to be asked before Plan and PoolPlan;
// when they find something, nothing is to be made.
//
// AKS decides much by itself and its PUT keeps what it leaves out, so a body has what the spec says and nothing else:
// what AKS decided is never fought over. What a spec once said and says no more is taken back by the paths that earlier
// plans sent, which the caller stores.
package aks
