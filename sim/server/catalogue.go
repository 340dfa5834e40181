package server

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resources"
)

// catalogue lists the resource providers that are served.
func catalogue() []*provider.Provider {
	return []*provider.Provider{
		resources.Provider(),
		network.Provider(),
		compute.Provider(),
	}
}
