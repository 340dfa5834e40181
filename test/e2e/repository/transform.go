package repository

import (
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/azure"
)

// Transformations return the changes of templates for a run on a subscription: every resource gets the tag of the run. A run without a name is
// one in a lab, and changes nothing.
func Transformations(run string) []clusterctl.RepositoryFileTransformation {
	if run == "" {
		return nil
	}
	return []clusterctl.RepositoryFileTransformation{func(template []byte) ([]byte, error) { return azure.AddTags(template, run) }}
}
