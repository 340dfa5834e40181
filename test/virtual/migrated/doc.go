// Package migrated deletes AKS clusters of documents that the established provider has left: resources that were created for them are
// deleted, and resources that were adopted, detached or only claimed stay in Azure. It also upgrades the annotations of v2.0.0-alpha on objects
// of all kinds. Time is virtual.
package migrated
