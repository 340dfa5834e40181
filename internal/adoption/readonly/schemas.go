package readonly

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/admission"
)

// plurals are the names of the CRDs of the kinds that an adoption writes.
var plurals = map[string]string{
	"AzureManagedCluster": "azuremanagedclusters", "AzureManagedControlPlane": "azuremanagedcontrolplanes",
	"AzureManagedMachinePool": "azuremanagedmachinepools", "AzureASOManagedCluster": "azureasomanagedclusters",
	"AzureASOManagedControlPlane": "azureasomanagedcontrolplanes", "AzureASOManagedMachinePool": "azureasomanagedmachinepools",
}

// checkSchemas adds a line for each value that an API server would refuse. in has the objects of AzureManaged kinds as webhooks default
// them, nil for AzureASOManaged kinds.
func (p *dryRun) checkSchemas(ctx context.Context, m adoption.ClusterObjects, in *aks.Input) error {
	var objects []client.Object
	if in != nil {
		objects = append(objects, m.Infrastructure, in.ControlPlane)
		for _, pool := range in.Pools {
			objects = append(objects, pool.AzurePool)
		}
	} else {
		objects = append(objects, m.ASO.Infrastructure, m.ASO.ControlPlane)
		for _, pool := range m.ASO.Pools {
			objects = append(objects, pool.AzurePool)
		}
	}
	for _, object := range objects {
		kind := object.GetObjectKind().GroupVersionKind().Kind
		schema, err := admission.LoadSchema(plurals[kind])
		if err != nil {
			return fmt.Errorf("schema of kind %q: %w", kind, err)
		}
		errs, err := schema.Validate(ctx, object)
		if err != nil {
			return err
		}
		p.addRefusals(kind+" "+object.GetName(), errs)
	}
	return nil
}
