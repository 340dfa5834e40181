package cloudconfig

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// rateLimit is the client-side rate limit of one kind of resource. Its numbers have single precision.
type rateLimit struct {
	CloudProviderRateLimit            bool    `json:"cloudProviderRateLimit,omitempty"`
	CloudProviderRateLimitQPS         float32 `json:"cloudProviderRateLimitQPS,omitempty"`
	CloudProviderRateLimitBucket      int     `json:"cloudProviderRateLimitBucket,omitempty"`
	CloudProviderRateLimitQPSWrite    float32 `json:"cloudProviderRateLimitQPSWrite,omitempty"`
	CloudProviderRateLimitBucketWrite int     `json:"cloudProviderRateLimitBucketWrite,omitempty"`
}

// backOff configures the retries of failed requests.
type backOff struct {
	CloudProviderBackoff         bool    `json:"cloudProviderBackoff,omitempty"`
	CloudProviderBackoffRetries  int     `json:"cloudProviderBackoffRetries,omitempty"`
	CloudProviderBackoffExponent float64 `json:"cloudProviderBackoffExponent,omitempty"`
	CloudProviderBackoffDuration int     `json:"cloudProviderBackoffDuration,omitempty"`
	CloudProviderBackoffJitter   float64 `json:"cloudProviderBackoffJitter,omitempty"`
}

// applyOverrides sets the rate limits and the back-off of the spec. The error is an unknown name of a rate limit.
func (c *config) applyOverrides(overrides *infrav1.CloudProviderConfigOverrides) error {
	targets := map[string]**rateLimit{
		"routeRateLimit":                  &c.RouteRateLimit,
		"subnetsRateLimit":                &c.SubnetsRateLimit,
		"interfaceRateLimit":              &c.InterfaceRateLimit,
		"routeTableRateLimit":             &c.RouteTableRateLimit,
		"loadBalancerRateLimit":           &c.LoadBalancerRateLimit,
		"publicIPAddressRateLimit":        &c.PublicIPAddressRateLimit,
		"securityGroupRateLimit":          &c.SecurityGroupRateLimit,
		"virtualMachineRateLimit":         &c.VirtualMachineRateLimit,
		"storageAccountRateLimit":         &c.StorageAccountRateLimit,
		"diskRateLimit":                   &c.DiskRateLimit,
		"snapshotRateLimit":               &c.SnapshotRateLimit,
		"virtualMachineScaleSetRateLimit": &c.VirtualMachineScaleSetRateLimit,
		"virtualMachineSizesRateLimit":    &c.VirtualMachineSizesRateLimit,
		"availabilitySetRateLimit":        &c.AvailabilitySetRateLimit,
	}
	for _, limit := range overrides.RateLimits {
		out := toRateLimit(limit.Config)
		if limit.Name == "defaultRateLimit" {
			c.rateLimit = out
			continue
		}
		target, ok := targets[limit.Name]
		if !ok {
			return fmt.Errorf("spec.cloudProviderConfigOverrides.rateLimits: %q is not the name of a rate limit", limit.Name)
		}
		*target = &out
	}
	c.backOff = backOff{
		CloudProviderBackoff:         overrides.BackOffs.CloudProviderBackoff,
		CloudProviderBackoffRetries:  overrides.BackOffs.CloudProviderBackoffRetries,
		CloudProviderBackoffExponent: toFloat(overrides.BackOffs.CloudProviderBackoffExponent),
		CloudProviderBackoffDuration: overrides.BackOffs.CloudProviderBackoffDuration,
		CloudProviderBackoffJitter:   toFloat(overrides.BackOffs.CloudProviderBackoffJitter),
	}
	return nil
}

func toRateLimit(spec infrav1.RateLimitConfig) rateLimit {
	return rateLimit{
		CloudProviderRateLimit:            spec.CloudProviderRateLimit,
		CloudProviderRateLimitQPS:         float32(toFloat(spec.CloudProviderRateLimitQPS)),
		CloudProviderRateLimitBucket:      spec.CloudProviderRateLimitBucket,
		CloudProviderRateLimitQPSWrite:    float32(toFloat(spec.CloudProviderRateLimitQPSWrite)),
		CloudProviderRateLimitBucketWrite: spec.CloudProviderRateLimitBucketWrite,
	}
}

// toFloat returns the quantity as a number, 0 for nil.
func toFloat(quantity *resource.Quantity) float64 {
	if quantity == nil {
		return 0
	}
	return quantity.AsApproximateFloat64()
}
