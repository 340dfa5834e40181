package webhook

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// identities have no rules beside those of the CRD.
var identities = kind[*infrav1.AzureClusterIdentity]{warn: identityWarnings}

// served is a kind with its webhooks, whatever its type.
type served interface {
	name() string
	operations() (mutating, validating []admissionregistrationv1.OperationType)
	register(ctrl.Manager) error
}

// kinds are all kinds that have webhooks: one row is all that a kind needs beside its rules. config/webhook is written from
// them by `make generate`.
func kinds(reader client.Reader, random generator, features plan.Features, trusts bool) []served {
	lookup, placement := managedLookup{reader: reader}, PlacementOf(reader)
	if trusts {
		placement = trusting(placement)
	}
	return []served{
		identities,
		clusters(features),
		clusterTemplates,
		machines(placement, random),
		machineTemplates(random),
		machinePools(placement, random),
		controlPlanes(lookup, random),
		controlPlaneTemplates,
		pools(lookup),
		poolTemplates,
		documentClusters(features),
		documentControlPlanes(features),
		documentPools(features),
	}
}

// SetupWithManager serves the webhooks of all kinds. Their paths are "/mutate-" and "/validate-" and
// "infrastructure-cluster-x-k8s-io-v1beta1-<kind in lower case>".
//
// trusts tells that the manager trusts tenants, so that no identity counts as lent.
//
// What a rule looks up is read from the API server: the manager's cache may lag behind a Cluster that was applied with the
// object, and knows no other namespace than the manager's own.
func SetupWithManager(mgr ctrl.Manager, features plan.Features, trusts bool) error {
	go func() { _, _ = unusable() }() // The first object need not wait for it, and says what is wrong.
	for _, k := range kinds(mgr.GetAPIReader(), random{}, features, trusts) {
		if err := k.register(mgr); err != nil {
			return err
		}
	}
	return nil
}
