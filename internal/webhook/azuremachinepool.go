package webhook

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// machinePools get the same defaults as machines.
func machinePools(placement PlacementLookup, random generator) kind[*infrav1.AzureMachinePool] {
	return kind[*infrav1.AzureMachinePool]{
		spec: func(p *infrav1.AzureMachinePool) any { return &p.Spec },
		fill: func(ctx context.Context, p *infrav1.AzureMachinePool) error {
			err := fillSSHPublicKey(ctx, p, random, func(p *infrav1.AzureMachinePool) *string { return &p.Spec.Template.SSHPublicKey })
			if err != nil {
				return err
			}
			fillIdentityRole(ctx, p, placement, random,
				func(p *infrav1.AzureMachinePool) *infrav1.ManagedIdentities { return &p.Spec.ManagedIdentities })
			return nil
		},
		identity: sameScaleSet,
		defaults: func(p *infrav1.AzureMachinePool) { defaults.FillAzureMachinePool(p, "") },
		create:   of(ValidateAzureMachinePool),
		update:   between(ValidateAzureMachinePoolUpdate),
		warn: onCreation(func(p *infrav1.AzureMachinePool) admission.Warnings {
			return vmWarnings(&p.Spec.Template.VirtualMachineProfile, "spec.template")
		}),
	}
}

// ValidateAzureMachinePool checks the rules of a defaulted AzureMachinePool that its CRD cannot express.
func ValidateAzureMachinePool(p *infrav1.AzureMachinePool) field.ErrorList {
	return ValidateSSHPublicKey(p.Spec.Template.SSHPublicKey, field.NewPath("spec", "template", "sshPublicKey"))
}

// ValidateAzureMachinePoolUpdate checks a change of an AzureMachinePool; both objects are defaulted. The template may change,
// because new VMs are created from it.
func ValidateAzureMachinePoolUpdate(old, p *infrav1.AzureMachinePool) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if p.Spec.Template.SSHPublicKey != old.Spec.Template.SSHPublicKey {
		errs = ValidateAzureMachinePool(p)
	}
	return append(errs, visibleExtensions(old.Spec.Template.VMExtensions, p.Spec.Template.VMExtensions,
		path.Child("template", "vmExtensions"))...)
}

// sameScaleSet refuses changes that give the scale set of a pool another name, once it was planned, and changes of its role assignment,
// because Azure cannot change the name, scope or role of one. An update may leave out the provider ID where the name stays.
func sameScaleSet(old, p *infrav1.AzureMachinePool) (errs field.ErrorList) {
	path := field.NewPath("spec")
	before, after := pool.ScaleSetName(pool.Input{AzureMachinePool: old}), pool.ScaleSetName(pool.Input{AzureMachinePool: p})
	if pool.WasPlanned(old) && !strings.EqualFold(before, after) {
		errs = append(errs, field.Forbidden(path.Child("providerID"),
			fmt.Sprintf("must name the scale set %s of the pool and not %s. To use another scale set, create a new pool", before, after)))
	}
	if before, after := old.Spec.SystemAssignedIdentityRole, p.Spec.SystemAssignedIdentityRole; before != nil && after != nil {
		errs = append(errs, filledIdentityRole(before, after, path.Child("systemAssignedIdentityRole"))...)
	}
	return errs
}
