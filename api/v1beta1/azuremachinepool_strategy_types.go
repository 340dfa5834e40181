package v1beta1

import "k8s.io/apimachinery/pkg/util/intstr"

// AzureMachinePoolDeploymentStrategyType is the way in which VMs of an older model are replaced.
// +kubebuilder:validation:Enum=RollingUpdate
type AzureMachinePoolDeploymentStrategyType string

// RollingUpdateAzureMachinePoolDeploymentStrategyType replaces them a few at a time.
const RollingUpdateAzureMachinePoolDeploymentStrategyType AzureMachinePoolDeploymentStrategyType = "RollingUpdate"

// AzureMachinePoolDeletePolicyType is the order in which VMs of a pool are deleted.
// +kubebuilder:validation:Enum=Random;Newest;Oldest
type AzureMachinePoolDeletePolicyType string

const (
	// RandomDeletePolicyType deletes VMs in any order.
	RandomDeletePolicyType AzureMachinePoolDeletePolicyType = "Random"
	// NewestDeletePolicyType deletes the newest VMs first.
	NewestDeletePolicyType AzureMachinePoolDeletePolicyType = "Newest"
	// OldestDeletePolicyType deletes the oldest VMs first.
	OldestDeletePolicyType AzureMachinePoolDeletePolicyType = "Oldest"
)

// AzureMachinePoolDeploymentStrategy is the way in which VMs of an older model are replaced.
type AzureMachinePoolDeploymentStrategy struct {
	// type is RollingUpdate, the only strategy: VMs are replaced a few at a time.
	// +optional
	// +kubebuilder:default=RollingUpdate
	Type AzureMachinePoolDeploymentStrategyType `json:"type,omitempty"`

	// rollingUpdate limits how many VMs may be missing or added during the replacement.
	// +optional
	RollingUpdate *MachineRollingUpdateDeployment `json:"rollingUpdate,omitempty"`
}

// MachineRollingUpdateDeployment limits the number of VMs while VMs are replaced.
// +kubebuilder:validation:XValidation:rule="!has(self.maxSurge) || self.maxSurge != 0 || has(self.maxUnavailable) && self.maxUnavailable != 0 || oldSelf.optMap(old, !(!has(old.maxSurge) || old.maxSurge != 0 || has(old.maxUnavailable) && old.maxUnavailable != 0)).orValue(false)",message="cannot be 0 where maxSurge is 0: nothing would ever be replaced",fieldPath=".maxUnavailable",optionalOldSelf=true
type MachineRollingUpdateDeployment struct {
	// maxUnavailable is the number of VMs that may be missing during the replacement: a number, or a percentage of the
	// replicas, rounded down. The default is 0. It cannot be 0 if maxSurge is 0.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%$`
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0",message="must be 0 or more, or a percentage such as 20%"
	// +kubebuilder:default:=0
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// maxSurge is the number of VMs that may be added to the replicas during the replacement: a number, or a percentage
	// of the replicas, rounded up. The default is 1.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%$`
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0",message="must be 0 or more, or a percentage such as 20%"
	// +kubebuilder:default:=1
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`

	// deletePolicy is the order in which VMs are deleted: Oldest (the default), Newest or Random.
	// +optional
	// +kubebuilder:default=Oldest
	DeletePolicy AzureMachinePoolDeletePolicyType `json:"deletePolicy,omitempty"`
}
