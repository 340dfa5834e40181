package v1beta1

import "k8s.io/apimachinery/pkg/util/intstr"

// AzureMachinePoolDeploymentStrategyType is how VMs of an older template are replaced.
// +kubebuilder:validation:Enum=RollingUpdate
type AzureMachinePoolDeploymentStrategyType string

// RollingUpdateAzureMachinePoolDeploymentStrategyType replaces them a few at a time.
const RollingUpdateAzureMachinePoolDeploymentStrategyType AzureMachinePoolDeploymentStrategyType = "RollingUpdate"

// AzureMachinePoolDeletePolicyType is which VMs of a pool go first.
// +kubebuilder:validation:Enum=Random;Newest;Oldest
type AzureMachinePoolDeletePolicyType string

const (
	// RandomDeletePolicyType is any.
	RandomDeletePolicyType AzureMachinePoolDeletePolicyType = "Random"
	// NewestDeletePolicyType is the ones made last.
	NewestDeletePolicyType AzureMachinePoolDeletePolicyType = "Newest"
	// OldestDeletePolicyType is the ones made first.
	OldestDeletePolicyType AzureMachinePoolDeletePolicyType = "Oldest"
)

// AzureMachinePoolDeploymentStrategy is how VMs of an older template are replaced.
type AzureMachinePoolDeploymentStrategy struct {
	// type is RollingUpdate.
	// +optional
	// +kubebuilder:default=RollingUpdate
	Type AzureMachinePoolDeploymentStrategyType `json:"type,omitempty"`

	// rollingUpdate bounds how many VMs there are meanwhile.
	// +optional
	RollingUpdate *MachineRollingUpdateDeployment `json:"rollingUpdate,omitempty"`
}

// MachineRollingUpdateDeployment bounds how many VMs there are while they are replaced.
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || self.maxSurge != 0 || has(self.maxUnavailable) && self.maxUnavailable != 0 || oldSelf.optMap(old, !(!has(old.maxSurge) || old.maxSurge != 0 || has(old.maxUnavailable) && old.maxUnavailable != 0)).orValue(false)",message="cannot be 0 where maxSurge is 0: nothing would ever be replaced",fieldPath=".maxUnavailable",optionalOldSelf=true
type MachineRollingUpdateDeployment struct {
	// maxUnavailable is how many VMs fewer than wanted there may be: a number or a percentage of those that are wanted,
	// rounded down.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%$`
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0",message="must be 0 or more, or a percentage as in 20%"
	// +kubebuilder:default:=0
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// maxSurge is how many VMs more than wanted there may be: a number or a percentage of those that are wanted, rounded up.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%$`
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0",message="must be 0 or more, or a percentage as in 20%"
	// +kubebuilder:default:=1
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// deletePolicy is which VMs go first.
	// +optional
	// +kubebuilder:default=Oldest
	DeletePolicy AzureMachinePoolDeletePolicyType `json:"deletePolicy,omitempty"`
}
