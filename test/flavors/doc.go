// Package flavors creates clusters from the manifests of users: the templates that clusterctl renders, and the pages of
// the book.
//
// A manifest is applied unchanged, to a real API server with this provider's webhooks and Cluster API's definitions,
// and the harness plays Cluster API: machines come from the templates that control planes and MachineDeployments refer
// to. Machines do not boot, so the effects of bootstrap data are not tested here.
package flavors
