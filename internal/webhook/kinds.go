package webhook

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// identities have no rules in addition to those of the CRD, only warnings.
var identities = kind[*infrav1.AzureClusterIdentity]{warn: identityWarnings}

// served is a kind with its webhooks, independent of its Go type.
type served interface {
	name() string
	operations() (mutating, validating []admissionregistrationv1.OperationType)
	register(ctrl.Manager) error
	checkStored(context.Context, client.Object) (StoredResult, error)
}

// servedKinds lists all kinds that have webhooks; a new kind needs one row and its rules. `make generate` writes config/webhook from the
// list.
func servedKinds(reader client.Reader, features plan.Features, trusts bool) []served {
	lookup, placement := managedLookup{reader: reader}, PlacementOf(reader)
	if trusts {
		placement = lookupForTrusted(placement)
	}
	return []served{
		identities,
		azureClusterKind(features),
		clusterTemplates(features),
		azureMachineKind(placement, random{}),
		machineTemplates(random{}),
		machinePools(placement, random{}),
		controlPlanes(lookup, random{}),
		controlPlaneTemplates,
		managedMachinePoolKind(lookup),
		poolTemplates,
		asoClusters(lookup, features),
		asoControlPlanes(lookup, features),
		asoPools(lookup, features),
	}
}

// SetupWithManager serves the webhooks of all kinds. Their paths are "/mutate-" and "/validate-" and
// "infrastructure-cluster-x-k8s-io-v1beta1-<kind in lower case>".
//
// trusts is true if the manager trusts tenants; then no identity counts as lent.
//
// Rules read other objects from the API server and not from the manager's cache, which may lag behind a Cluster that was applied
// with the object, and which has only the namespaces that the manager watches.
func SetupWithManager(mgr ctrl.Manager, features plan.Features, trusts bool) error {
	go func() { _, _ = unusable() }() // Start it early, so that the first object need not wait. That object's request returns the error, if any.
	for _, k := range servedKinds(mgr.GetAPIReader(), features, trusts) {
		if err := k.register(mgr); err != nil {
			return err
		}
	}
	return nil
}
