package server

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/authorization"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/containerservice"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/kubernetesconfiguration"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/msi"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/privatedns"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/publicdns"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resourcehealth"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/resources"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/standin"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// listProviders lists the resource providers that are served.
func (s *Server) listProviders() []*provider.Provider {
	own := []*provider.Provider{
		resources.Provider(),
		network.Provider(),
		compute.Provider(),
		privatedns.Provider(),
		publicdns.Provider(),
		msi.Provider(),
		authorization.Provider(s.knownObject),
		containerservice.Provider(),
		kubernetesconfiguration.Provider(),
		resourcehealth.Provider(),
	}
	return append(own, standin.NewProviders(own)...)
}

// knownObject reports whether an object ID belongs to a configured principal or to one that was created.
func (s *Server) knownObject(tx *store.Tx, id string) bool {
	var r registrations
	tx.ReadNote(registered, &r)
	for _, a := range r.Applications {
		if a.Created != nil && strings.EqualFold(a.Created.Principal, id) {
			return true
		}
	}
	for _, p := range s.opts.Principals {
		want := p.ObjectID
		if want == "" {
			want = derivedObjectID(p.ClientID)
		}
		if strings.EqualFold(want, id) {
			return true
		}
	}
	return false
}
