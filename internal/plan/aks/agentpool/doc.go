// Package agentpool holds the rules about agent pools of AKS that hold for both families of kinds: the typed ones, and those with
// resource manifests. It works on Azure's bodies, whichever family they come from.
//
// The package is pure: every function depends on its arguments only.
package agentpool
