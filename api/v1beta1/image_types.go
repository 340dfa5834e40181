package v1beta1

// Image identifies the image of a VM. Exactly one of its fields is set.
// +kubebuilder:validation:XValidation:rule="[has(self.id), has(self.marketplace), has(self.sharedGallery), has(self.computeGallery)].exists_one(x, x)",message="must have exactly one of id, marketplace, computeGallery and sharedGallery; leave out the image for the default"
type Image struct {
	// id is the Azure resource ID of an image.
	// +optional
	// +kubebuilder:validation:MinLength=1
	ID *string `json:"id,omitempty"`

	// sharedGallery is an image in a gallery of a subscription.
	// Deprecated: use computeGallery.
	// +optional
	SharedGallery *AzureSharedGalleryImage `json:"sharedGallery,omitempty"`

	// marketplace is an image in the Azure Marketplace.
	// +optional
	Marketplace *AzureMarketplaceImage `json:"marketplace,omitempty"`

	// computeGallery is an image in a community gallery, or in a gallery of a subscription.
	// +optional
	ComputeGallery *AzureComputeGalleryImage `json:"computeGallery,omitempty"`
}

// ImagePlan is a purchase plan of the Azure Marketplace.
type ImagePlan struct {
	// publisher is the publisher of the image.
	// +required
	// +kubebuilder:validation:MinLength=1
	Publisher string `json:"publisher"`

	// offer is the name of a group of images of the publisher.
	// +required
	// +kubebuilder:validation:MinLength=1
	Offer string `json:"offer"`

	// sku is the SKU of the offer, for example 22_04-lts-gen2.
	// +required
	// +kubebuilder:validation:MinLength=1
	SKU string `json:"sku"`
}

// AzureMarketplaceImage names an image in the Azure Marketplace.
type AzureMarketplaceImage struct {
	ImagePlan `json:",inline"`

	// version is the version of the image, or "latest" for the newest one at the time when the VM is created.
	// +required
	// +kubebuilder:validation:MinLength=1
	Version string `json:"version"`

	// thirdPartyImage is true if the image can be used only with its purchase plan. The default is false.
	// +optional
	// +kubebuilder:default=false
	ThirdPartyImage bool `json:"thirdPartyImage"`
}

// AzureSharedGalleryImage names an image in a gallery of a subscription.
type AzureSharedGalleryImage struct {
	// subscriptionID is the ID of the subscription of the gallery.
	// +required
	// +kubebuilder:validation:MinLength=1
	SubscriptionID string `json:"subscriptionID"`

	// resourceGroup is the resource group of the gallery.
	// +required
	// +kubebuilder:validation:MinLength=1
	ResourceGroup string `json:"resourceGroup"`

	// gallery is the name of the gallery.
	// +required
	// +kubebuilder:validation:MinLength=1
	Gallery string `json:"gallery"`

	// name is the name of the image.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// version is the version of the image, or latest.
	// +required
	// +kubebuilder:validation:MinLength=1
	Version string `json:"version"`

	// publisher is the publisher in the purchase plan of the Marketplace image from which this image was created. It is
	// set together with offer and sku.
	// +optional
	Publisher *string `json:"publisher,omitempty"`

	// offer is the offer in the purchase plan. It is set together with publisher and sku.
	// +optional
	Offer *string `json:"offer,omitempty"`

	// sku is the SKU in the purchase plan. It is set together with publisher and offer.
	// +optional
	SKU *string `json:"sku,omitempty"`
}

// AzureComputeGalleryImage names an image in an Azure Compute Gallery.
// +kubebuilder:validation:XValidation:rule=`self.?subscriptionID.orValue("") == "" || self.?resourceGroup.orValue("") != ""`,message="subscriptionID and resourceGroup go together: set the resource group of the gallery, or leave out both for a community gallery",fieldPath=".resourceGroup",reason="FieldValueRequired"
// +kubebuilder:validation:XValidation:rule=`self.?resourceGroup.orValue("") == "" || self.?subscriptionID.orValue("") != ""`,message="subscriptionID and resourceGroup go together: set the subscription of the gallery, or leave out both for a community gallery",fieldPath=".subscriptionID",reason="FieldValueRequired"
type AzureComputeGalleryImage struct {
	// gallery is the name of the gallery.
	// +required
	// +kubebuilder:validation:MinLength=1
	Gallery string `json:"gallery"`

	// name is the name of the image.
	// +required
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`

	// version is the version of the image, or latest.
	// +required
	// +kubebuilder:validation:MinLength=1
	Version string `json:"version"`

	// subscriptionID is the ID of the subscription of the gallery. It is set together with resourceGroup. Without both,
	// the gallery is a community gallery.
	// +optional
	SubscriptionID *string `json:"subscriptionID,omitempty"`

	// resourceGroup is the name of the resource group of the gallery. It is set together with subscriptionID.
	// +optional
	ResourceGroup *string `json:"resourceGroup,omitempty"`

	// plan is the purchase plan of the Marketplace image from which this image was created.
	// +optional
	Plan *ImagePlan `json:"plan,omitempty"`
}
