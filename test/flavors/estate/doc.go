// Package estate is what the established provider leaves behind, and how this provider takes it over.
//
// Its promise: a flavor is made as the template has it, and then brought into the form that the established provider gives
// it, in etcd past our definitions and in Azure past our plans, both from its facts. A manager that comes to it writes
// nothing to Azure and finds everything Ready; then the cluster is scaled, rolled and deleted, and Azure is as before.
package estate
