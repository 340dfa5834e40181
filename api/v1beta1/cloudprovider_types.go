package v1beta1

import "k8s.io/apimachinery/pkg/api/resource"

// CloudProviderConfigOverrides are settings for azure.json, the configuration of cloud-provider-azure.
type CloudProviderConfigOverrides struct {
	// rateLimits are the client-side rate limits by kind of resource.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	RateLimits []RateLimitSpec `json:"rateLimits,omitempty"`

	// backOffs tell how failed requests are tried again.
	// +optional
	BackOffs BackOffConfig `json:"backOffs,omitempty,omitzero"`
}

// RateLimitSpec is the rate limit of one kind of resource.
type RateLimitSpec struct {
	// name is the kind of resource, or defaultRateLimit for those that are not listed.
	// +required
	// +kubebuilder:validation:Enum=defaultRateLimit;routeRateLimit;subnetsRateLimit;interfaceRateLimit;routeTableRateLimit;loadBalancerRateLimit;publicIPAddressRateLimit;securityGroupRateLimit;virtualMachineRateLimit;storageAccountRateLimit;diskRateLimit;snapshotRateLimit;virtualMachineScaleSetRateLimit;virtualMachineSizesRateLimit;availabilitySetRateLimit
	Name string `json:"name"`

	// config is the limit.
	// +optional
	Config RateLimitConfig `json:"config,omitempty,omitzero"`
}

// RateLimitConfig is a client-side rate limit.
type RateLimitConfig struct {
	// cloudProviderRateLimit turns the limit on.
	// +optional
	CloudProviderRateLimit bool `json:"cloudProviderRateLimit,omitempty"`

	// cloudProviderRateLimitQPS is the number of reads per second.
	// +optional
	CloudProviderRateLimitQPS *resource.Quantity `json:"cloudProviderRateLimitQPS,omitempty"`

	// cloudProviderRateLimitBucket is the number of reads at once.
	// +optional
	// +kubebuilder:validation:Maximum=1000000
	CloudProviderRateLimitBucket int `json:"cloudProviderRateLimitBucket,omitempty"`

	// cloudProviderRateLimitQPSWrite is the number of writes per second.
	// +optional
	CloudProviderRateLimitQPSWrite *resource.Quantity `json:"cloudProviderRateLimitQPSWrite,omitempty"`

	// cloudProviderRateLimitBucketWrite is the number of writes at once.
	// +optional
	// +kubebuilder:validation:Maximum=1000000
	CloudProviderRateLimitBucketWrite int `json:"cloudProviderRateLimitBucketWrite,omitempty"`
}

// BackOffConfig tells how failed requests are tried again.
type BackOffConfig struct {
	// cloudProviderBackoff turns the backoff on.
	// +optional
	CloudProviderBackoff bool `json:"cloudProviderBackoff,omitempty"`

	// cloudProviderBackoffRetries is the number of tries.
	// +optional
	// +kubebuilder:validation:Maximum=1000
	CloudProviderBackoffRetries int `json:"cloudProviderBackoffRetries,omitempty"`

	// cloudProviderBackoffExponent is the factor by which the wait grows.
	// +optional
	CloudProviderBackoffExponent *resource.Quantity `json:"cloudProviderBackoffExponent,omitempty"`

	// cloudProviderBackoffDuration is the first wait in seconds.
	// +optional
	// +kubebuilder:validation:Maximum=86400
	CloudProviderBackoffDuration int `json:"cloudProviderBackoffDuration,omitempty"`

	// cloudProviderBackoffJitter is the jitter of the wait.
	// +optional
	CloudProviderBackoffJitter *resource.Quantity `json:"cloudProviderBackoffJitter,omitempty"`
}
