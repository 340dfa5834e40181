// Package migrated deletes AKS clusters of documents that the established provider has left: what was created for them goes, and what
// was adopted, detached or only claimed stays in Azure. Time is virtual.
package migrated
