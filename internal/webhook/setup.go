package webhook

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// SetupWithManager registers the webhooks of all kinds.
func SetupWithManager(mgr ctrl.Manager, features plan.Features) error {
	return nil
}
