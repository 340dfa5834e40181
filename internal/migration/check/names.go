package check

import (
	"k8s.io/apimachinery/pkg/runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// managerAccount is the ServiceAccount of the manager, in the established provider and here.
const managerAccount = "capz-manager"

// newScheme returns the kinds of this provider.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, infrav1.AddToScheme(scheme)
}
