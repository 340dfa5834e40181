// Package flavors brings clusters up from manifests as people have them: the templates that clusterctl renders, and the
// pages of the book.
//
// Its promise: a manifest is applied as it is, to a real API server with this provider's webhooks and Cluster API's
// definitions, and Cluster API is played after it: machines come from the templates that control planes and
// MachineDeployments refer to. Machines do not boot, so what a guest does with its bootstrap data is not seen here.
package flavors
