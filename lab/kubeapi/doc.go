// Package kubeapi serves the Kubernetes API of workload clusters from memory: create, read, update, patch, delete and watch of the
// kinds in resources.go, discovery, and an OpenAPI document that kubectl validates manifests by.
//
// Objects are kept by Cluster API's in-memory runtime (sigs.k8s.io/cluster-api/test/infrastructure/inmemory), where its etcd server finds
// them too. Its own API handlers are used for port-forward only: they serve no Leases, EndpointSlices and Events, tell watchers that an
// object is deleted while it has finalizers, and answer most mistakes of clients with status 500.
//
// Of a kube-apiserver's admission there is only what clients rely on: UIDs, and the defaults, cluster IPs and node ports of Services.
// There are no roles, no server-side apply, no validation beyond the names and types of fields, and no controllers. Requests do not
// block but for watches, which last as long as their client wants.
package kubeapi
