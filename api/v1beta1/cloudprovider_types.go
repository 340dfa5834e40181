package v1beta1

import "k8s.io/apimachinery/pkg/api/resource"

// CloudProviderConfigOverrides are settings for azure.json, the configuration file of cloud-provider-azure.
type CloudProviderConfigOverrides struct {
	// rateLimits are client-side rate limits, one entry per kind of resource. At most 100.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	RateLimits []RateLimitSpec `json:"rateLimits,omitempty"`

	// backOffs configures the retries of failed requests.
	// +optional
	BackOffs BackOffConfig `json:"backOffs,omitempty,omitzero"`
}

// RateLimitSpec is the rate limit of one kind of resource.
type RateLimitSpec struct {
	// name is the kind of resource, for example routeRateLimit, or defaultRateLimit for all kinds that are not listed.
	// +required
	// +kubebuilder:validation:Enum=defaultRateLimit;routeRateLimit;subnetsRateLimit;interfaceRateLimit;routeTableRateLimit;loadBalancerRateLimit;publicIPAddressRateLimit;securityGroupRateLimit;virtualMachineRateLimit;storageAccountRateLimit;diskRateLimit;snapshotRateLimit;virtualMachineScaleSetRateLimit;virtualMachineSizesRateLimit;availabilitySetRateLimit
	Name string `json:"name"`

	// config has the rate limit.
	// +optional
	Config RateLimitConfig `json:"config,omitempty,omitzero"`
}

// RateLimitConfig is a client-side rate limit.
type RateLimitConfig struct {
	// cloudProviderRateLimit turns the rate limit on.
	// +optional
	CloudProviderRateLimit bool `json:"cloudProviderRateLimit,omitempty"`

	// cloudProviderRateLimitQPS is the sustained number of reads per second.
	// +optional
	CloudProviderRateLimitQPS *resource.Quantity `json:"cloudProviderRateLimitQPS,omitempty"`

	// cloudProviderRateLimitBucket is the number of reads in a burst, at most 1000000.
	// +optional
	// +kubebuilder:validation:Maximum=1000000
	CloudProviderRateLimitBucket int `json:"cloudProviderRateLimitBucket,omitempty"`

	// cloudProviderRateLimitQPSWrite is the sustained number of writes per second.
	// +optional
	CloudProviderRateLimitQPSWrite *resource.Quantity `json:"cloudProviderRateLimitQPSWrite,omitempty"`

	// cloudProviderRateLimitBucketWrite is the number of writes in a burst, at most 1000000.
	// +optional
	// +kubebuilder:validation:Maximum=1000000
	CloudProviderRateLimitBucketWrite int `json:"cloudProviderRateLimitBucketWrite,omitempty"`
}

// BackOffConfig configures the retries of failed requests.
type BackOffConfig struct {
	// cloudProviderBackoff turns retries with exponential backoff on.
	// +optional
	CloudProviderBackoff bool `json:"cloudProviderBackoff,omitempty"`

	// cloudProviderBackoffRetries is the number of retries, at most 1000.
	// +optional
	// +kubebuilder:validation:Maximum=1000
	CloudProviderBackoffRetries int `json:"cloudProviderBackoffRetries,omitempty"`

	// cloudProviderBackoffExponent is the factor by which the delay grows with each retry.
	// +optional
	CloudProviderBackoffExponent *resource.Quantity `json:"cloudProviderBackoffExponent,omitempty"`

	// cloudProviderBackoffDuration is the delay before the first retry in seconds, at most 86400.
	// +optional
	// +kubebuilder:validation:Maximum=86400
	CloudProviderBackoffDuration int `json:"cloudProviderBackoffDuration,omitempty"`

	// cloudProviderBackoffJitter is the random part of the delay, as a factor of it.
	// +optional
	CloudProviderBackoffJitter *resource.Quantity `json:"cloudProviderBackoffJitter,omitempty"`
}
