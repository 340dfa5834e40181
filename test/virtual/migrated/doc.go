// Package migrated deletes AKS clusters of documents that the established provider has left: what was created for them goes, and what
// was adopted, detached or only claimed stays in Azure. It also upgrades the annotations of v2.0.0 on objects of all kinds. Time is virtual.
package migrated
