package facts

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
)

// ReadOfferedVersions returns the versions of Kubernetes that AKS offers in a region. It is empty if the identity may not read them.
func (f *Facts) ReadOfferedVersions(ctx context.Context, caller Caller, subscription, location string) (version.Offered, error) {
	region := plan.NormalizeRegion(location)
	key := caller.scopedKey(strings.ToLower(subscription) + "|" + region)
	out, err := f.versions.getOrAsk(ctx, caller, key, func(ctx context.Context) (version.Offered, error) {
		id := arm.SubscriptionID(subscription) + arm.ID("/providers/Microsoft.ContainerService/locations/"+region+"/kubernetesVersions")
		row, err := types.ForID(arm.NewID(subscription, "g", types.ManagedCluster, "c"))
		if err != nil {
			return nil, err
		}
		answer, err := caller.Client.Get(ctx, id, row.APIVersion, nil)
		if arm.IsForbidden(err) {
			return version.Offered{}, nil
		}
		if err != nil {
			return nil, err
		}
		return version.ParseOffered(answer.Body)
	})
	if err != nil {
		return nil, fmt.Errorf("versions of AKS in %s: %w", region, err)
	}
	return out, nil
}
