package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Values of spec.mode.
const (
	// NodePoolModeSystem is a pool for AKS's own pods. A cluster has at least one.
	NodePoolModeSystem = "System"
	// NodePoolModeUser is a pool for workloads.
	NodePoolModeUser = "User"
)

// AzureManagedMachinePoolClassSpec is the part of an AKS agent pool that all pools of a ClusterClass have in common.
// The MachinePool has the replicas and the version.
type AzureManagedMachinePoolClassSpec struct {
	// additionalTags are Azure tags for the agent pool and its virtual machines, in addition to those that the provider
	// sets.
	// +optional
	AdditionalTags Tags `json:"additionalTags,omitempty"`

	// name is the name of the agent pool in AKS. It starts with a lower-case letter and contains only lower-case
	// letters and digits, at most 12 characters, 6 for Windows. The default is the name of the AzureManagedMachinePool.
	// It cannot change.
	// +optional
	Name *string `json:"name,omitempty"`

	// mode is System for a pool that runs AKS's system pods, or User for any other pool. A cluster needs at least one
	// system pool.
	// +required
	// +kubebuilder:validation:Enum=System;User
	Mode string `json:"mode"`

	// sku is the VM size of the nodes, for example Standard_D2s_v5. It cannot change.
	// +required
	SKU string `json:"sku"`

	// osDiskSizeGB is the size of the OS disk in GiB, at most 2048. With 0, the default, AKS chooses the size. It
	// cannot change.
	// +optional
	// +kubebuilder:validation:Maximum=2048
	OSDiskSizeGB *int `json:"osDiskSizeGB,omitempty"`

	// availabilityZones are the availability zones of the nodes, for example ["1", "2", "3"]. At most 10.
	// +optional
	// +kubebuilder:validation:MaxItems=10
	AvailabilityZones []string `json:"availabilityZones,omitempty"`

	// nodeLabels are Kubernetes labels of the nodes. At most 1000.
	// +optional
	// +kubebuilder:validation:MaxProperties=1000
	NodeLabels map[string]string `json:"nodeLabels,omitempty"`

	// taints are Kubernetes taints of the nodes. At most 100.
	// +optional
	Taints Taints `json:"taints,omitempty"`

	// scaling lets AKS's cluster autoscaler choose the number of nodes, between minSize and maxSize.
	// +optional
	Scaling *ManagedMachinePoolScaling `json:"scaling,omitempty"`

	// maxPods is the maximum number of pods on a node, 10 to 250. The default is AKS's and depends on the network
	// plugin. It cannot change.
	// +optional
	// +kubebuilder:validation:Maximum=250
	MaxPods *int `json:"maxPods,omitempty"`

	// osDiskType is Managed (the default) for a managed disk, or Ephemeral for a disk on the host of the VM. It cannot
	// change.
	// +optional
	// +kubebuilder:validation:Enum=Ephemeral;Managed
	// +kubebuilder:default=Managed
	OsDiskType *string `json:"osDiskType,omitempty"`

	// enableUltraSSD lets pods use ultra disks. The default is false. It cannot change.
	// +optional
	EnableUltraSSD *bool `json:"enableUltraSSD,omitempty"`

	// osType is the operating system: Linux (the default) or Windows. It cannot change.
	// +optional
	// +kubebuilder:validation:Enum=Linux;Windows
	// +kubebuilder:default=Linux
	OSType *string `json:"osType,omitempty"`

	// enableNodePublicIP gives each node a public IP address. The default is false. It cannot change.
	// +optional
	EnableNodePublicIP *bool `json:"enableNodePublicIP,omitempty"`

	// nodePublicIPPrefixID is the Azure resource ID of the public IP prefix from which nodes get their public IP
	// addresses. It needs enableNodePublicIP true. It cannot change.
	// +optional
	NodePublicIPPrefixID *string `json:"nodePublicIPPrefixID,omitempty"`

	// scaleSetPriority is Regular (the default of AKS), or Spot for spot VMs. It cannot change.
	// +optional
	// +kubebuilder:validation:Enum=Regular;Spot
	ScaleSetPriority *string `json:"scaleSetPriority,omitempty"`

	// scaleDownMode is Delete (the default) to delete VMs when the pool shrinks, or Deallocate to stop and keep them.
	// +optional
	// +kubebuilder:validation:Enum=Deallocate;Delete
	// +kubebuilder:default=Delete
	ScaleDownMode *string `json:"scaleDownMode,omitempty"`

	// spotMaxPrice is the maximum price of a spot VM in US dollars per hour. -1 is the price of a regular VM. It needs
	// scaleSetPriority Spot.
	// +optional
	SpotMaxPrice *resource.Quantity `json:"spotMaxPrice,omitempty"`

	// kubeletConfig has settings of the kubelet.
	// +optional
	KubeletConfig *KubeletConfig `json:"kubeletConfig,omitempty"`

	// kubeletDiskType is the disk that stores emptyDir volumes, container images and kubelet data: OS or Temporary. It
	// cannot change.
	// +optional
	KubeletDiskType *KubeletDiskType `json:"kubeletDiskType,omitempty"`

	// linuxOSConfig has settings of Linux on the nodes.
	// +optional
	LinuxOSConfig *LinuxOSConfig `json:"linuxOSConfig,omitempty"`

	// subnetName is the name of the nodes' subnet in the virtual network of the cluster. The default is the subnet of
	// the cluster.
	// +optional
	SubnetName *string `json:"subnetName,omitempty"`

	// enableFIPS uses an image with FIPS-validated cryptography for the nodes. The default is false.
	// +optional
	EnableFIPS *bool `json:"enableFIPS,omitempty"`

	// enableEncryptionAtHost encrypts the disks, temporary disks and caches on the host of the VM. The default is
	// false. It cannot change.
	// +optional
	EnableEncryptionAtHost *bool `json:"enableEncryptionAtHost,omitempty"`

	// asoManagedClustersAgentPoolPatches are JSON merge patches, written in JSON or YAML, for settings that no other
	// field has. They use the format of the ManagedClustersAgentPool of the Azure Service Operator and are applied in
	// order, after all other fields. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	ASOManagedClustersAgentPoolPatches []string `json:"asoManagedClustersAgentPoolPatches,omitempty"`
}

// ManagedMachinePoolScaling are the limits of the cluster autoscaler.
type ManagedMachinePoolScaling struct {
	// minSize is the minimum number of nodes, at most 1000. System pools need at least 1.
	// +optional
	// +kubebuilder:validation:Maximum=1000
	MinSize *int `json:"minSize,omitempty"`

	// maxSize is the maximum number of nodes, at most 1000.
	// +optional
	// +kubebuilder:validation:Maximum=1000
	MaxSize *int `json:"maxSize,omitempty"`
}

// TaintEffect is the effect of a taint on pods that do not tolerate it.
// +kubebuilder:validation:Enum=NoSchedule;NoExecute;PreferNoSchedule
type TaintEffect string

// Taint is a Kubernetes taint of nodes.
type Taint struct {
	// effect is the effect on pods that do not tolerate the taint: NoSchedule, NoExecute or PreferNoSchedule.
	// +required
	Effect TaintEffect `json:"effect"`

	// key is the key of the taint, for example dedicated.
	// +required
	Key string `json:"key"`

	// value is the value of the taint.
	// +required
	Value string `json:"value"`
}

// Taints are taints of nodes.
// +kubebuilder:validation:MaxItems=100
type Taints []Taint

// AzureManagedMachinePoolSpec describes an agent pool of an AKS cluster.
type AzureManagedMachinePoolSpec struct {
	AzureManagedMachinePoolClassSpec `json:",inline"`

	// providerIDList lists the provider IDs of the nodes' virtual machines. The provider sets it. At most 5000.
	// +optional
	// +kubebuilder:validation:MaxItems=5000
	ProviderIDList []string `json:"providerIDList,omitempty"`
}

// AzureManagedMachinePoolStatus is the state of an agent pool.
type AzureManagedMachinePoolStatus struct {
	ObservedStatus `json:",inline"`

	// initialization has the progress of the first provisioning. Cluster API reads it.
	// +optional
	Initialization InitializationStatus `json:"initialization,omitempty,omitzero"`

	// conditions describe the state of the object, one per group of Azure resources. The condition Ready summarizes
	// them. At most one condition of each type.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ready is true when initialization.provisioned is true. Cluster API reads ready of a pool.
	// +optional
	Ready bool `json:"ready,omitempty"`

	// replicas is the number of virtual machines of the pool.
	// +optional
	Replicas int32 `json:"replicas"`

	// version is the Kubernetes version that the pool runs, as Azure reports it, for example 1.33.2.
	// +optional
	Version string `json:"version,omitempty"`

	// resources lists the Azure resources of the pool with their states.
	// +optional
	// +listType=atomic
	Resources []ResourceStatus `json:"resources,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=azuremanagedmachinepools,scope=Namespaced,categories=cluster-api,shortName=ammp
// +kubebuilder:metadata:labels=cluster.x-k8s.io/v1beta2=v1beta1
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this AzureManagedMachinePool belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].reason"
// +kubebuilder:printcolumn:name="Mode",type="string",JSONPath=".spec.mode",description="Mode of the pool: System or User"
// +kubebuilder:printcolumn:name="Replicas",type="string",JSONPath=".status.replicas",description="Number of VMs"
// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".status.version",description="Kubernetes version that the pool runs"
// +kubebuilder:printcolumn:name="VM Size",type="string",JSONPath=".spec.sku",description="Size of the VMs"
// +kubebuilder:printcolumn:name="Paused",type="string",JSONPath=".status.conditions[?(@.type=='Paused')].status",description="Whether reconciliation is paused"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Time since the AzureManagedMachinePool was created"
// +kubebuilder:printcolumn:name="Message",type="string",priority=1,JSONPath=".status.conditions[?(@.type=='Ready')].message"
// +capz:immutable:field=".spec.sku",as="exact",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || (self.spec.sku == oldSelf.spec.sku)",message="sku cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.sku",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.osType",default="'Linux'",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || ((has(self.spec.osType) ? self.spec.osType : 'Linux') == (has(oldSelf.spec.osType) ? oldSelf.spec.osType : 'Linux'))",message="osType cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.osType",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.osDiskType",default="'Managed'",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || ((has(self.spec.osDiskType) ? self.spec.osDiskType : 'Managed') == (has(oldSelf.spec.osDiskType) ? oldSelf.spec.osDiskType : 'Managed'))",message="osDiskType cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.osDiskType",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.osDiskSizeGB",default="0",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || ((has(self.spec.osDiskSizeGB) ? self.spec.osDiskSizeGB : 0) == (has(oldSelf.spec.osDiskSizeGB) ? oldSelf.spec.osDiskSizeGB : 0))",message="osDiskSizeGB cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.osDiskSizeGB",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.scaleSetPriority",default="'Regular'",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || ((has(self.spec.scaleSetPriority) ? self.spec.scaleSetPriority : 'Regular') == (has(oldSelf.spec.scaleSetPriority) ? oldSelf.spec.scaleSetPriority : 'Regular'))",message="scaleSetPriority cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.scaleSetPriority",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.enableUltraSSD",default="false",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || ((has(self.spec.enableUltraSSD) ? self.spec.enableUltraSSD : false) == (has(oldSelf.spec.enableUltraSSD) ? oldSelf.spec.enableUltraSSD : false))",message="enableUltraSSD cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.enableUltraSSD",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.enableNodePublicIP",default="false",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || ((has(self.spec.enableNodePublicIP) ? self.spec.enableNodePublicIP : false) == (has(oldSelf.spec.enableNodePublicIP) ? oldSelf.spec.enableNodePublicIP : false))",message="enableNodePublicIP cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.enableNodePublicIP",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.nodePublicIPPrefixID",default="''",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || ((has(self.spec.nodePublicIPPrefixID) ? self.spec.nodePublicIPPrefixID : '') == (has(oldSelf.spec.nodePublicIPPrefixID) ? oldSelf.spec.nodePublicIPPrefixID : ''))",message="nodePublicIPPrefixID cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.nodePublicIPPrefixID",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.maxPods",as="optional",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || (has(self.spec.maxPods) == has(oldSelf.spec.maxPods) && (!has(self.spec.maxPods) || self.spec.maxPods == oldSelf.spec.maxPods))",message="maxPods cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.maxPods",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.kubeletDiskType",as="optional",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || (has(self.spec.kubeletDiskType) == has(oldSelf.spec.kubeletDiskType) && (!has(self.spec.kubeletDiskType) || self.spec.kubeletDiskType == oldSelf.spec.kubeletDiskType))",message="kubeletDiskType cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.kubeletDiskType",reason="FieldValueForbidden"
// +capz:immutable:field=".spec.enableEncryptionAtHost",as="once",guard="agentPoolMade",because="after the agent pool was created; create a new pool, with another name"
// +kubebuilder:validation:XValidation:rule="!has(self.spec) || !has(oldSelf.spec) || !(has(oldSelf.spec.providerIDList) && size(oldSelf.spec.providerIDList) > 0) && !(has(oldSelf.status) && (has(oldSelf.status.ready) && oldSelf.status.ready || has(oldSelf.status.initialization) && has(oldSelf.status.initialization.provisioned) && oldSelf.status.initialization.provisioned)) || (!has(oldSelf.spec.enableEncryptionAtHost) || (has(self.spec.enableEncryptionAtHost) && self.spec.enableEncryptionAtHost == oldSelf.spec.enableEncryptionAtHost))",message="enableEncryptionAtHost cannot change after the agent pool was created; create a new pool, with another name",fieldPath=".spec.enableEncryptionAtHost",reason="FieldValueForbidden"

// AzureManagedMachinePool is the infrastructure of a MachinePool: an agent pool of an AKS cluster.
type AzureManagedMachinePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AzureManagedMachinePoolSpec `json:"spec,omitempty,omitzero"`

	// +kubebuilder:default={"observedGeneration":-1}
	Status AzureManagedMachinePoolStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (p *AzureManagedMachinePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions.
func (p *AzureManagedMachinePool) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// GetObserved returns the generation and the request that the status was computed for.
func (p *AzureManagedMachinePool) GetObserved() *ObservedStatus { return &p.Status.ObservedStatus }

// +kubebuilder:object:root=true

// AzureManagedMachinePoolList is a list of AzureManagedMachinePools.
type AzureManagedMachinePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AzureManagedMachinePool `json:"items"`
}

func init() {
	objectTypes = append(objectTypes, &AzureManagedMachinePool{}, &AzureManagedMachinePoolList{})
}
