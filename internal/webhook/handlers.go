package webhook

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/topology"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azureclusters,versions=v1beta1,name=default.azurecluster.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azurecluster,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azureclusters,versions=v1beta1,name=validation.azurecluster.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1

type clusterHandler struct {
	admitDelete[*infrav1.AzureCluster]
	features plan.Features
}

// Default implements admission.Defaulter.
func (h *clusterHandler) Default(_ context.Context, c *infrav1.AzureCluster) error {
	DefaultAzureCluster(c)
	if h.features.APIServerILB {
		DefaultInternalAPIServerFrontend(c)
	}
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *clusterHandler) ValidateCreate(_ context.Context, c *infrav1.AzureCluster) (admission.Warnings, error) {
	return networkWarnings(nil, c), refuse("AzureCluster", c, ValidateAzureCluster(c, h.features))
}

// ValidateUpdate implements admission.Validator.
func (h *clusterHandler) ValidateUpdate(ctx context.Context, old, c *infrav1.AzureCluster) (admission.Warnings, error) {
	old = old.DeepCopy()
	if err := h.Default(ctx, old); err != nil {
		return nil, err
	}
	return networkWarnings(old, c), refuse("AzureCluster", c, ValidateAzureClusterUpdate(old, c, h.features))
}

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azureclustertemplate,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azureclustertemplates,versions=v1beta1,name=default.azureclustertemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azureclustertemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azureclustertemplates,versions=v1beta1,name=validation.azureclustertemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1

type clusterTemplateHandler struct {
	admitDelete[*infrav1.AzureClusterTemplate]
}

// Default implements admission.Defaulter.
func (h *clusterTemplateHandler) Default(_ context.Context, t *infrav1.AzureClusterTemplate) error {
	DefaultAzureClusterTemplate(t)
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *clusterTemplateHandler) ValidateCreate(_ context.Context, t *infrav1.AzureClusterTemplate) (admission.Warnings, error) {
	return nil, refuse("AzureClusterTemplate", t, ValidateAzureClusterTemplate(t))
}

// ValidateUpdate implements admission.Validator. Cluster API's dry runs, which find out whether a template has to be
// rotated, may change anything.
func (h *clusterTemplateHandler) ValidateUpdate(ctx context.Context, old, t *infrav1.AzureClusterTemplate) (admission.Warnings, error) {
	if request, err := admission.RequestFromContext(ctx); err == nil && topology.IsDryRunRequest(request, t) {
		return nil, nil
	}
	old = old.DeepCopy()
	DefaultAzureClusterTemplate(old)
	return nil, refuse("AzureClusterTemplate", t, ValidateAzureClusterTemplateUpdate(old, t))
}

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachine,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremachines,versions=v1beta1,name=default.azuremachine.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachine,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremachines,versions=v1beta1,name=validation.azuremachine.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1

type machineHandler struct {
	admitDelete[*infrav1.AzureMachine]
	subscription SubscriptionLookup
	random       generator
}

// Default implements admission.Defaulter. Random values are made on creation only: later they cannot change.
func (h *machineHandler) Default(ctx context.Context, m *infrav1.AzureMachine) error {
	if isCreate(ctx) {
		if err := h.fillRandom(m); err != nil {
			return err
		}
	}
	if stored := (&infrav1.AzureMachine{}); m.Spec.SSHPublicKey == "" && storedObject(ctx, stored) {
		m.Spec.SSHPublicKey = stored.Spec.SSHPublicKey
	}
	subscription := ""
	if needsSubscription(m) {
		var err error
		if subscription, err = h.subscription(ctx, m); err != nil {
			logf.FromContext(ctx).Info("The subscription is not known yet, so the identity's role keeps its default for later", "reason", err.Error())
		}
	}
	DefaultAzureMachine(m, subscription)
	return nil
}

func (h *machineHandler) fillRandom(m *infrav1.AzureMachine) (err error) {
	if m.Spec.SSHPublicKey == "" {
		if m.Spec.SSHPublicKey, err = h.random.sshPublicKey(); err != nil {
			return err
		}
	}
	if role := m.Spec.SystemAssignedIdentityRole; m.Spec.Identity == infrav1.VMIdentitySystemAssigned &&
		m.Spec.RoleAssignmentName == "" && (role == nil || role.Name == "") {
		if role == nil {
			m.Spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{}
		}
		m.Spec.SystemAssignedIdentityRole.Name = h.random.roleAssignmentName()
	}
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *machineHandler) ValidateCreate(_ context.Context, m *infrav1.AzureMachine) (admission.Warnings, error) {
	return deprecated(&m.Spec, "spec"), refuse("AzureMachine", m, ValidateAzureMachine(m))
}

// ValidateUpdate implements admission.Validator.
func (h *machineHandler) ValidateUpdate(_ context.Context, old, m *infrav1.AzureMachine) (admission.Warnings, error) {
	old = old.DeepCopy()
	DefaultAzureMachine(old, "")
	return nil, refuse("AzureMachine", m, ValidateAzureMachineUpdate(old, m))
}

// +kubebuilder:webhook:verbs=create;update,path=/mutate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinetemplate,mutating=true,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremachinetemplates,versions=v1beta1,name=default.azuremachinetemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1
// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azuremachinetemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azuremachinetemplates,versions=v1beta1,name=validation.azuremachinetemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1

type machineTemplateHandler struct {
	admitDelete[*infrav1.AzureMachineTemplate]
	random generator
}

// Default implements admission.Defaulter.
func (h *machineTemplateHandler) Default(ctx context.Context, t *infrav1.AzureMachineTemplate) (err error) {
	key := &t.Spec.Template.Spec.SSHPublicKey
	stored := &infrav1.AzureMachineTemplate{}
	switch {
	case *key != "":
	case isCreate(ctx):
		if *key, err = h.random.sshPublicKey(); err != nil {
			return err
		}
	case storedObject(ctx, stored):
		*key = stored.Spec.Template.Spec.SSHPublicKey
	}
	DefaultAzureMachineTemplate(t)
	return nil
}

// ValidateCreate implements admission.Validator.
func (h *machineTemplateHandler) ValidateCreate(_ context.Context, t *infrav1.AzureMachineTemplate) (admission.Warnings, error) {
	return deprecated(&t.Spec.Template.Spec, "spec.template.spec"), refuse("AzureMachineTemplate", t, ValidateAzureMachineTemplate(t))
}

// ValidateUpdate implements admission.Validator. Cluster API's dry runs, which find out whether a template has to be
// rotated, may change anything.
func (h *machineTemplateHandler) ValidateUpdate(ctx context.Context, old, t *infrav1.AzureMachineTemplate) (admission.Warnings, error) {
	if request, err := admission.RequestFromContext(ctx); err == nil && topology.IsDryRunRequest(request, t) {
		return nil, nil
	}
	old = old.DeepCopy()
	DefaultAzureMachineTemplate(old)
	return nil, refuse("AzureMachineTemplate", t, ValidateAzureMachineTemplateUpdate(old, t))
}

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta1-azureclusteridentity,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities,versions=v1beta1,name=validation.azureclusteridentity.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1;v1beta1

// identityHandler warns; what is refused is in the CRD.
type identityHandler struct {
	admitDelete[*infrav1.AzureClusterIdentity]
}

// ValidateCreate implements admission.Validator.
func (h *identityHandler) ValidateCreate(_ context.Context, i *infrav1.AzureClusterIdentity) (admission.Warnings, error) {
	return identityWarnings(i), nil
}

// ValidateUpdate implements admission.Validator.
func (h *identityHandler) ValidateUpdate(_ context.Context, _, i *infrav1.AzureClusterIdentity) (admission.Warnings, error) {
	return identityWarnings(i), nil
}

// storedObject decodes the object that an update replaces. A manifest without an SSH key is applied again without one,
// and then means the key that was made for it. It returns false when there is no such object.
func storedObject(ctx context.Context, into runtime.Object) bool {
	request, err := admission.RequestFromContext(ctx)
	return err == nil && request.Operation == admissionv1.Update && json.Unmarshal(request.OldObject.Raw, into) == nil
}

func isCreate(ctx context.Context) bool {
	request, err := admission.RequestFromContext(ctx)
	return err == nil && request.Operation == admissionv1.Create
}
