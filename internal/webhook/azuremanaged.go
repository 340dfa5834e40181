package webhook

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

// controlPlanes with sshPublicKey "" get a key whose private half was discarded. Their address ranges are checked against those of
// the Cluster.
func controlPlanes(lookup managedLookup, random generator) kind[*infrav1.AzureManagedControlPlane] {
	return kind[*infrav1.AzureManagedControlPlane]{
		spec: func(c *infrav1.AzureManagedControlPlane) any { return &c.Spec },
		fill: func(ctx context.Context, c *infrav1.AzureManagedControlPlane) error {
			fillEndpoint(ctx, c)
			keepSubnetName(ctx, c, func(c *infrav1.AzureManagedControlPlane) *string { return &c.Spec.VirtualNetwork.Subnet.Name })
			return fillSSHPublicKey(ctx, c, random, func(c *infrav1.AzureManagedControlPlane) *string { return c.Spec.SSHPublicKey })
		},
		defaults: defaults.FillAzureManagedControlPlane,
		create: func(ctx context.Context, c *infrav1.AzureManagedControlPlane) (field.ErrorList, error) {
			cluster, err := lookup.findCluster(ctx, c)
			if err != nil {
				return nil, err
			}
			return ValidateAzureManagedControlPlane(c, cluster), nil
		},
		update: between(ValidateAzureManagedControlPlaneUpdate),
		warn:   controlPlaneWarnings,
	}
}

// managedMachinePoolKind are validated against the version of AKS's API that is used for their cluster. The last System pool of a cluster
// cannot be deleted or change its mode, unless the cluster is being deleted.
func managedMachinePoolKind(lookup managedLookup) kind[*infrav1.AzureManagedMachinePool] {
	return kind[*infrav1.AzureManagedMachinePool]{
		spec:     func(p *infrav1.AzureManagedMachinePool) any { return &p.Spec },
		identity: samePoolName,
		defaults: defaults.FillAzureManagedMachinePool,
		create: func(ctx context.Context, p *infrav1.AzureManagedMachinePool) (field.ErrorList, error) {
			version, err := lookup.apiVersionOf(ctx, p)
			if err != nil {
				return nil, err
			}
			return ValidateAzureManagedMachinePool(p, version), nil
		},
		update: func(ctx context.Context, old, p *infrav1.AzureManagedMachinePool) (field.ErrorList, error) {
			version, err := lookup.apiVersionOf(ctx, p)
			if err != nil {
				return nil, err
			}
			errs := ValidateAzureManagedMachinePoolUpdate(old, p, version)
			if old.Spec.Mode != infrav1.NodePoolModeSystem || p.Spec.Mode == infrav1.NodePoolModeSystem {
				return errs, nil
			}
			last, err := lookup.lastSystemPool(ctx, p, field.NewPath("spec", "mode"))
			return append(errs, last...), err
		},
		remove: func(ctx context.Context, p *infrav1.AzureManagedMachinePool) (field.ErrorList, error) {
			if p.Spec.Mode != infrav1.NodePoolModeSystem {
				return nil, nil
			}
			return lookup.lastSystemPool(ctx, p, field.NewPath("metadata", "deletionTimestamp"))
		},
		warn: func(_, p *infrav1.AzureManagedMachinePool) admission.Warnings {
			return poolWarnings(&p.Spec.AzureManagedMachinePoolClassSpec, "spec.asoManagedClustersAgentPoolPatches")
		},
	}
}

var controlPlaneTemplates = kind[*infrav1.AzureManagedControlPlaneTemplate]{
	template: true,
	spec:     func(t *infrav1.AzureManagedControlPlaneTemplate) any { return &t.Spec.Template.Spec },
	fill: func(ctx context.Context, t *infrav1.AzureManagedControlPlaneTemplate) error {
		keepSubnetName(ctx, t, func(t *infrav1.AzureManagedControlPlaneTemplate) *string {
			return &t.Spec.Template.Spec.VirtualNetwork.Subnet.Name
		})
		return nil
	},
	defaults: defaults.FillAzureManagedControlPlaneTemplate,
	create:   of(ValidateAzureManagedControlPlaneTemplate),
	update:   between(ValidateAzureManagedControlPlaneTemplateUpdate),
	warn:     onCreation(controlPlaneTemplateWarnings),
}

var poolTemplates = kind[*infrav1.AzureManagedMachinePoolTemplate]{
	template: true,
	spec:     func(t *infrav1.AzureManagedMachinePoolTemplate) any { return &t.Spec.Template.Spec },
	defaults: defaults.FillAzureManagedMachinePoolTemplate,
	create:   of(ValidateAzureManagedMachinePoolTemplate),
	update:   between(ValidateAzureManagedMachinePoolTemplateUpdate),
	warn:     onCreation(poolTemplateWarnings),
}
