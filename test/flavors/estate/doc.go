// Package estate has clusters of the established provider, and tests their migration to this provider.
//
// A flavor is created from its template, and then brought into the form that the established provider gives it, in etcd
// past our definitions and in Azure past our plans, both from its facts. A manager that starts then writes nothing to
// Azure and finds everything Ready; then the cluster is scaled, rolled and deleted, and Azure is as before.
package estate
