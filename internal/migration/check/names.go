package check

import (
	"k8s.io/apimachinery/pkg/runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Names in an installation of the established provider. This provider has the same.
const (
	managerAccount = "capz-manager"
	providerLabel  = "cluster.x-k8s.io/provider"
	providerName   = "infrastructure-azure"
	// seriesLabel is on the cluster-wide roles of this provider only.
	seriesLabel = "infrastructure.cluster.x-k8s.io/series"
)

// newScheme returns the kinds of this provider.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, infrav1.AddToScheme(scheme)
}
