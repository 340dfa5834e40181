// Package importing writes manifests for an existing self-managed cluster that has no objects, from the state of its resources in Azure.
//
// Every property that Azure shows and a request may set is carried by a manifest, has its default, or is listed with the reason why the
// manifests lack it. Resources that no manifest describes are listed as well, and so is everything that Azure does not show. The package is
// pure, and its messages contain no secret. Package survey reads the state in Azure.
package importing
