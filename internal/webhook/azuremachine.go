package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

// azureMachineKind get an SSH key and the name of a role assignment on creation, and the role of their identity as soon as their
// subscription is known.
func azureMachineKind(placement PlacementLookup, random generator) kind[*infrav1.AzureMachine] {
	return kind[*infrav1.AzureMachine]{
		spec: func(m *infrav1.AzureMachine) any { return &m.Spec },
		fill: func(ctx context.Context, m *infrav1.AzureMachine) error {
			err := fillSSHPublicKey(ctx, m, random, func(m *infrav1.AzureMachine) *string { return &m.Spec.SSHPublicKey })
			if err != nil {
				return err
			}
			fillIdentityRole(ctx, m, placement, random,
				func(m *infrav1.AzureMachine) *infrav1.ManagedIdentities { return &m.Spec.ManagedIdentities })
			return nil
		},
		identity: sameMachineResources,
		defaults: func(m *infrav1.AzureMachine) { defaults.FillAzureMachine(m, "") },
		create:   of(ValidateAzureMachine),
		update:   between(ValidateAzureMachineUpdate),
		warn: onCreation(func(m *infrav1.AzureMachine) admission.Warnings {
			return vmWarnings(&m.Spec.VirtualMachineProfile, "spec")
		}),
	}
}

func machineTemplates(random generator) kind[*infrav1.AzureMachineTemplate] {
	return kind[*infrav1.AzureMachineTemplate]{
		template: true,
		spec:     func(t *infrav1.AzureMachineTemplate) any { return &t.Spec.Template.Spec },
		fill: func(ctx context.Context, t *infrav1.AzureMachineTemplate) error {
			return fillSSHPublicKey(ctx, t, random, func(t *infrav1.AzureMachineTemplate) *string { return &t.Spec.Template.Spec.SSHPublicKey })
		},
		defaults: defaults.FillAzureMachineTemplate,
		create:   of(ValidateAzureMachineTemplate),
		update:   between(ValidateAzureMachineTemplateUpdate),
		warn: onCreation(func(t *infrav1.AzureMachineTemplate) admission.Warnings {
			return vmWarnings(&t.Spec.Template.Spec.VirtualMachineProfile, "spec.template.spec")
		}),
	}
}
