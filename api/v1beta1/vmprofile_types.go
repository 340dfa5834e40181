package v1beta1

// VirtualMachineProfile describes a single VM or the VMs of a scale set.
// +kubebuilder:validation:XValidation:rule=`self.?subnetName.orValue("") == "" || size(self.?networkInterfaces.orValue([])) == 0 || oldSelf.optMap(old, !(old.?subnetName.orValue("") == "" || size(old.?networkInterfaces.orValue([])) == 0)).orValue(false)`,message="is deprecated and excludes networkInterfaces: use networkInterfaces[0].subnetName",fieldPath=".subnetName",reason="FieldValueForbidden",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule="!has(self.acceleratedNetworking) || size(self.?networkInterfaces.orValue([])) == 0 || oldSelf.optMap(old, !(!has(old.acceleratedNetworking) || size(old.?networkInterfaces.orValue([])) == 0)).orValue(false)",message="is deprecated and excludes networkInterfaces: use networkInterfaces[0].acceleratedNetworking",fieldPath=".acceleratedNetworking",reason="FieldValueForbidden",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") == "" || self.?securityProfile.?securityType.orValue('ConfidentialVM') == 'ConfidentialVM' && (!has(self.securityProfile) || has(self.securityProfile.securityType)) || oldSelf.optMap(old, !(old.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") == "" || old.?securityProfile.?securityType.orValue('ConfidentialVM') == 'ConfidentialVM' && (!has(old.securityProfile) || has(old.securityProfile.securityType)))).orValue(false)`,message="a disk with a securityEncryptionType needs ConfidentialVM",fieldPath=".securityProfile.securityType",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") == "" || !has(self.securityProfile) || self.securityProfile.?uefiSettings.?vTpmEnabled.orValue(false) || oldSelf.optMap(old, !(old.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") == "" || !has(old.securityProfile) || old.securityProfile.?uefiSettings.?vTpmEnabled.orValue(false))).orValue(false)`,message="must be true for a confidential VM",fieldPath=".securityProfile.uefiSettings.vTpmEnabled",reason="FieldValueRequired",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") != 'DiskWithVMGuestState' || !self.?securityProfile.?encryptionAtHost.orValue(false) || oldSelf.optMap(old, !(old.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") != 'DiskWithVMGuestState' || !old.?securityProfile.?encryptionAtHost.orValue(false))).orValue(false)`,message="does not go together with the securityEncryptionType DiskWithVMGuestState: remove one",fieldPath=".securityProfile.encryptionAtHost",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") != 'DiskWithVMGuestState' || !has(self.securityProfile) || self.securityProfile.?uefiSettings.?secureBootEnabled.orValue(false) || oldSelf.optMap(old, !(old.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") != 'DiskWithVMGuestState' || !has(old.securityProfile) || old.securityProfile.?uefiSettings.?secureBootEnabled.orValue(false))).orValue(false)`,message="the securityEncryptionType DiskWithVMGuestState needs it to be true",fieldPath=".securityProfile.uefiSettings.secureBootEnabled",reason="FieldValueRequired",optionalOldSelf=true
type VirtualMachineProfile struct {
	// vmSize is the VM size, for example Standard_D2s_v5.
	// +required
	VMSize string `json:"vmSize"`

	// image is the image of the VM. The default is the reference image for the Kubernetes version of the Machine.
	// +optional
	Image *Image `json:"image,omitempty"`

	// osDisk describes the disk of the operating system.
	// +required
	OSDisk OSDisk `json:"osDisk"`

	// dataDisks describe the data disks. At most 64.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.nameSuffix == a.nameSuffix))",message="every data disk needs a nameSuffix of its own"
	// +kubebuilder:validation:XValidation:rule="self.all(a, !has(a.lun) || self.exists_one(b, has(b.lun) && b.lun == a.lun))",message="every data disk needs a lun of its own"
	DataDisks []DataDisk `json:"dataDisks,omitempty"`

	// sshPublicKey is the SSH public key of the user capi on the VM: a line of an authorized_keys file, encoded in
	// base64. By default the provider generates a key and discards its private half.
	// +optional
	SSHPublicKey string `json:"sshPublicKey,omitempty"`

	// additionalCapabilities are optional capabilities of the VM.
	// +optional
	AdditionalCapabilities *AdditionalCapabilities `json:"additionalCapabilities,omitempty"`

	// acceleratedNetworking turns accelerated networking on or off.
	// Deprecated: use networkInterfaces[].acceleratedNetworking.
	// +optional
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`

	// diagnostics configures the diagnostics of the VM. By default boot diagnostics are on, with a storage account that
	// Azure manages.
	// +optional
	Diagnostics *Diagnostics `json:"diagnostics,omitempty"`

	// spotVMOptions make the VM a spot VM. {} uses the default options.
	// +optional
	SpotVMOptions *SpotVMOptions `json:"spotVMOptions,omitempty"`

	// securityProfile has the security settings of the VM.
	// +optional
	SecurityProfile *SecurityProfile `json:"securityProfile,omitempty"`

	// capacityReservationGroupID is the Azure resource ID of the capacity reservation group from which the VM is
	// allocated.
	// +optional
	// +kubebuilder:validation:Pattern=`(?i)^(azure://)?/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Compute/capacityReservationGroups/[^/]+/?$`
	CapacityReservationGroupID *string `json:"capacityReservationGroupID,omitempty"`

	// subnetName is the name of the subnet.
	// Deprecated: use networkInterfaces[].subnetName.
	// +optional
	SubnetName string `json:"subnetName,omitempty"`

	// disableVMBootstrapExtension leaves out the VM extension that reports the result of the bootstrap. The default is
	// true. The extension exists in the public cloud only. The value cannot change once it is set.
	// +optional
	DisableVMBootstrapExtension *bool `json:"disableVMBootstrapExtension,omitempty"`

	// vmExtensions are the extensions of the VM. At most 64.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	VMExtensions []VMExtension `json:"vmExtensions,omitempty"`

	// networkInterfaces are the network interfaces of the VM, at most 32. The default is one interface.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitempty"`
}
