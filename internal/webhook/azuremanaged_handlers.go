package webhook

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/topology"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedcontrolplane,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanes,versions=v1beta1,name=default.azuremanagedcontrolplane.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedcontrolplane,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanes,versions=v1beta1,name=validation.azuremanagedcontrolplane.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1

type controlPlaneHandler struct {
	admitDelete[*infrav1.AzureManagedControlPlane]
	lookup managedLookup
	random generator
}

// Default implements admission.Defaulter. "" as an SSH key asks for one that nobody has. It is made on creation only, and
// afterwards means the one that was made.
func (h *controlPlaneHandler) Default(ctx context.Context, c *infrav1.AzureManagedControlPlane) error {
	if key := c.Spec.SSHPublicKey; key != nil && *key == "" {
		stored := &infrav1.AzureManagedControlPlane{}
		switch {
		case isCreate(ctx):
			generated, err := h.random.sshPublicKey()
			if err != nil {
				return err
			}
			c.Spec.SSHPublicKey = &generated
		case storedObject(ctx, stored) && isSet(stored.Spec.SSHPublicKey):
			c.Spec.SSHPublicKey = stored.Spec.SSHPublicKey
		}
	}
	DefaultAzureManagedControlPlane(c)
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *controlPlaneHandler) ValidateCreate(ctx context.Context, c *infrav1.AzureManagedControlPlane) (admission.Warnings, error) {
	cluster, err := h.lookup.cluster(ctx, c)
	if err != nil {
		return nil, err
	}
	warnings := append(managedClassWarnings(&c.Spec.AzureManagedControlPlaneClassSpec, "spec"), managedNetworkWarnings(c)...)
	return warnings, refuse("AzureManagedControlPlane", c, ValidateAzureManagedControlPlane(c, cluster))
}

// ValidateUpdate implements admission.Validator.
func (h *controlPlaneHandler) ValidateUpdate(_ context.Context, old, c *infrav1.AzureManagedControlPlane) (admission.Warnings, error) {
	old = old.DeepCopy()
	DefaultAzureManagedControlPlane(old)
	if unchanged(c, old.Spec, c.Spec) {
		return nil, nil
	}
	return managedClassWarnings(&c.Spec.AzureManagedControlPlaneClassSpec, "spec"), refuse("AzureManagedControlPlane", c, ValidateAzureManagedControlPlaneUpdate(old, c))
}

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedcontrolplanetemplate,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanetemplates,versions=v1beta1,name=default.azuremanagedcontrolplanetemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedcontrolplanetemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanetemplates,versions=v1beta1,name=validation.azuremanagedcontrolplanetemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1

type controlPlaneTemplateHandler struct {
	admitDelete[*infrav1.AzureManagedControlPlaneTemplate]
}

// Default implements admission.Defaulter.
func (h *controlPlaneTemplateHandler) Default(_ context.Context, t *infrav1.AzureManagedControlPlaneTemplate) error {
	DefaultAzureManagedControlPlaneTemplate(t)
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *controlPlaneTemplateHandler) ValidateCreate(_ context.Context, t *infrav1.AzureManagedControlPlaneTemplate) (admission.Warnings, error) {
	return controlPlaneTemplateWarnings(t), refuse("AzureManagedControlPlaneTemplate", t, ValidateAzureManagedControlPlaneTemplate(t))
}

// ValidateUpdate implements admission.Validator. Cluster API's dry runs may change anything.
func (h *controlPlaneTemplateHandler) ValidateUpdate(ctx context.Context, old, t *infrav1.AzureManagedControlPlaneTemplate) (admission.Warnings, error) {
	if isTopologyDryRun(ctx, t) {
		return nil, nil
	}
	old = old.DeepCopy()
	DefaultAzureManagedControlPlaneTemplate(old)
	return nil, refuse("AzureManagedControlPlaneTemplate", t, ValidateAzureManagedControlPlaneTemplateUpdate(old, t))
}

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepool,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools,versions=v1beta1,name=default.azuremanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1
// +kubebuilder:webhook:verbs=create;update;delete,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepool,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools,versions=v1beta1,name=validation.azuremanagedmachinepool.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1

type poolHandler struct{ lookup managedLookup }

// Default implements admission.Defaulter.
func (h *poolHandler) Default(_ context.Context, p *infrav1.AzureManagedMachinePool) error {
	DefaultAzureManagedMachinePool(p)
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *poolHandler) ValidateCreate(ctx context.Context, p *infrav1.AzureManagedMachinePool) (admission.Warnings, error) {
	preview, err := h.lookup.preview(ctx, p)
	if err != nil {
		return nil, err
	}
	return h.warnings(p), refuse("AzureManagedMachinePool", p, ValidateAzureManagedMachinePool(p, preview))
}

// ValidateUpdate implements admission.Validator.
func (h *poolHandler) ValidateUpdate(ctx context.Context, old, p *infrav1.AzureManagedMachinePool) (admission.Warnings, error) {
	old = old.DeepCopy()
	DefaultAzureManagedMachinePool(old)
	if unchanged(p, old.Spec, p.Spec) {
		return nil, nil
	}
	preview, err := h.lookup.preview(ctx, p)
	if err != nil {
		return nil, err
	}
	errs := ValidateAzureManagedMachinePoolUpdate(old, p, preview)
	if old.Spec.Mode == infrav1.NodePoolModeSystem && p.Spec.Mode != infrav1.NodePoolModeSystem {
		last, err := h.lastSystemPool(ctx, p, field.NewPath("spec", "mode"))
		if err != nil {
			return nil, err
		}
		errs = append(errs, last...)
	}
	return h.warnings(p), refuse("AzureManagedMachinePool", p, errs)
}

// ValidateDelete implements admission.Validator.
func (h *poolHandler) ValidateDelete(ctx context.Context, p *infrav1.AzureManagedMachinePool) (admission.Warnings, error) {
	if p.Spec.Mode != infrav1.NodePoolModeSystem {
		return nil, nil
	}
	errs, err := h.lastSystemPool(ctx, p, field.NewPath("metadata", "deletionTimestamp"))
	if err != nil {
		return nil, err
	}
	return nil, refuse("AzureManagedMachinePool", p, errs)
}

func (h *poolHandler) lastSystemPool(ctx context.Context, p *infrav1.AzureManagedMachinePool, path *field.Path) (field.ErrorList, error) {
	if needed, err := h.lookup.needsSystemPool(ctx, p); err != nil || !needed {
		return nil, err
	}
	others, err := h.lookup.otherSystemPools(ctx, p)
	if err != nil {
		return nil, err
	}
	return ValidateLastSystemPool(others, path), nil
}

func (h *poolHandler) warnings(p *infrav1.AzureManagedMachinePool) admission.Warnings {
	return poolWarnings(&p.Spec.AzureManagedMachinePoolClassSpec, "spec.asoManagedClustersAgentPoolPatches")
}

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepooltemplate,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepooltemplates,versions=v1beta1,name=default.azuremanagedmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremanagedmachinepooltemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepooltemplates,versions=v1beta1,name=validation.azuremanagedmachinepooltemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1

type poolTemplateHandler struct {
	admitDelete[*infrav1.AzureManagedMachinePoolTemplate]
}

// Default implements admission.Defaulter.
func (h *poolTemplateHandler) Default(_ context.Context, t *infrav1.AzureManagedMachinePoolTemplate) error {
	DefaultAzureManagedMachinePoolTemplate(t)
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *poolTemplateHandler) ValidateCreate(_ context.Context, t *infrav1.AzureManagedMachinePoolTemplate) (admission.Warnings, error) {
	warnings := poolWarnings(&t.Spec.Template.Spec.AzureManagedMachinePoolClassSpec, "spec.template.spec.asoManagedClustersAgentPoolPatches")
	return warnings, refuse("AzureManagedMachinePoolTemplate", t, ValidateAzureManagedMachinePoolTemplate(t))
}

// ValidateUpdate implements admission.Validator. Cluster API's dry runs may change anything.
func (h *poolTemplateHandler) ValidateUpdate(ctx context.Context, old, t *infrav1.AzureManagedMachinePoolTemplate) (admission.Warnings, error) {
	if isTopologyDryRun(ctx, t) {
		return nil, nil
	}
	old = old.DeepCopy()
	DefaultAzureManagedMachinePoolTemplate(old)
	return nil, refuse("AzureManagedMachinePoolTemplate", t, ValidateAzureManagedMachinePoolTemplateUpdate(old, t))
}

// isTopologyDryRun tells whether Cluster API tries out if a template has to be rotated.
func isTopologyDryRun(ctx context.Context, obj client.Object) bool {
	request, err := admission.RequestFromContext(ctx)
	return err == nil && topology.IsDryRunRequest(request, obj)
}
