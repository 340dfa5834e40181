package v1beta1

// VirtualMachineProfile describes a VM: one of its own, or each one of a scale set.
// +kubebuilder:validation:XValidation:rule=`self.?subnetName.orValue("") == "" || size(self.?networkInterfaces.orValue([])) == 0 || oldSelf.optMap(old, !(old.?subnetName.orValue("") == "" || size(old.?networkInterfaces.orValue([])) == 0)).orValue(false)`,message="is deprecated and excludes networkInterfaces: use networkInterfaces[0].subnetName",fieldPath=".subnetName",reason="FieldValueForbidden",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule="!has(self.acceleratedNetworking) || size(self.?networkInterfaces.orValue([])) == 0 || oldSelf.optMap(old, !(!has(old.acceleratedNetworking) || size(old.?networkInterfaces.orValue([])) == 0)).orValue(false)",message="is deprecated and excludes networkInterfaces: use networkInterfaces[0].acceleratedNetworking",fieldPath=".acceleratedNetworking",reason="FieldValueForbidden",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") == "" || self.?securityProfile.?securityType.orValue('ConfidentialVM') == 'ConfidentialVM' && (!has(self.securityProfile) || has(self.securityProfile.securityType)) || oldSelf.optMap(old, !(old.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") == "" || old.?securityProfile.?securityType.orValue('ConfidentialVM') == 'ConfidentialVM' && (!has(old.securityProfile) || has(old.securityProfile.securityType)))).orValue(false)`,message="a disk with a securityEncryptionType needs ConfidentialVM",fieldPath=".securityProfile.securityType",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") == "" || !has(self.securityProfile) || self.securityProfile.?uefiSettings.?vTpmEnabled.orValue(false) || oldSelf.optMap(old, !(old.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") == "" || !has(old.securityProfile) || old.securityProfile.?uefiSettings.?vTpmEnabled.orValue(false))).orValue(false)`,message="a confidential VM needs it to be true",fieldPath=".securityProfile.uefiSettings.vTpmEnabled",reason="FieldValueRequired",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") != 'DiskWithVMGuestState' || !self.?securityProfile.?encryptionAtHost.orValue(false) || oldSelf.optMap(old, !(old.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") != 'DiskWithVMGuestState' || !old.?securityProfile.?encryptionAtHost.orValue(false))).orValue(false)`,message="does not go together with the securityEncryptionType DiskWithVMGuestState: remove one",fieldPath=".securityProfile.encryptionAtHost",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`self.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") != 'DiskWithVMGuestState' || !has(self.securityProfile) || self.securityProfile.?uefiSettings.?secureBootEnabled.orValue(false) || oldSelf.optMap(old, !(old.osDisk.?managedDisk.?securityProfile.?securityEncryptionType.orValue("") != 'DiskWithVMGuestState' || !has(old.securityProfile) || old.securityProfile.?uefiSettings.?secureBootEnabled.orValue(false))).orValue(false)`,message="the securityEncryptionType DiskWithVMGuestState needs it to be true",fieldPath=".securityProfile.uefiSettings.secureBootEnabled",reason="FieldValueRequired",optionalOldSelf=true
type VirtualMachineProfile struct {
	// vmSize is the size, for example Standard_D2s_v5.
	// +required
	VMSize string `json:"vmSize"`

	// image is the image. The default is the reference image for the Machine's Kubernetes version.
	// +optional
	Image *Image `json:"image,omitempty"`

	// osDisk is the disk with the operating system.
	// +required
	OSDisk OSDisk `json:"osDisk"`

	// dataDisks are the data disks.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, b.nameSuffix == a.nameSuffix))",message="every data disk needs a nameSuffix of its own"
	// +kubebuilder:validation:XValidation:rule="self.all(a, !has(a.lun) || self.exists_one(b, has(b.lun) && b.lun == a.lun))",message="every data disk needs a lun of its own"
	DataDisks []DataDisk `json:"dataDisks,omitempty"`

	// sshPublicKey is the SSH public key of the user capi: a line of an authorized_keys file, in base64. The default is a
	// key that nobody can use.
	// +optional
	SSHPublicKey string `json:"sshPublicKey,omitempty"`

	// additionalCapabilities turn on capabilities of the VM.
	// +optional
	AdditionalCapabilities *AdditionalCapabilities `json:"additionalCapabilities,omitempty"`

	// acceleratedNetworking turns on accelerated networking.
	// Deprecated: use networkInterfaces.
	// +optional
	AcceleratedNetworking *bool `json:"acceleratedNetworking,omitempty"`

	// diagnostics describe the diagnostics. The default is boot diagnostics in a storage account of Azure.
	// +optional
	Diagnostics *Diagnostics `json:"diagnostics,omitempty"`

	// spotVMOptions make the VM a spot VM.
	// +optional
	SpotVMOptions *SpotVMOptions `json:"spotVMOptions,omitempty"`

	// securityProfile describes the security of the VM.
	// +optional
	SecurityProfile *SecurityProfile `json:"securityProfile,omitempty"`

	// subnetName is the subnet.
	// Deprecated: use networkInterfaces.
	// +optional
	SubnetName string `json:"subnetName,omitempty"`

	// disableVMBootstrapExtension leaves out the extension that reports whether bootstrapping succeeded. The default is
	// true.
	// +optional
	DisableVMBootstrapExtension *bool `json:"disableVMBootstrapExtension,omitempty"`

	// vmExtensions are the extensions of the VM.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	VMExtensions []VMExtension `json:"vmExtensions,omitempty"`

	// networkInterfaces are the network interfaces. The default is one.
	// +optional
	// +kubebuilder:validation:MaxItems=32
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitempty"`
}
