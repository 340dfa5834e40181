package plan

import (
	"encoding/json"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// MadeAnnotation is a JSON list of IDs, without the subscription, of resources of an AzureCluster that were seen in Azure and
// that fields of its spec cannot change any more for: its subnets, and of everything else one, because all are in one
// region and subscription. What Azure refused to make is not among them, so that it can be corrected. It survives clusterctl
// move and backups, which status does not.
const MadeAnnotation = "sigs.k8s.io/cluster-api-provider-azure-made"

// Made is the value of MadeAnnotation after a pass: what it had before and what the pass found, without what is done away
// with.
func Made(in ClusterInput, g *arm.Graph, outcome arm.Outcome) string {
	subscription := string(arm.SubscriptionID(in.SubscriptionID))
	var ids []string
	add := func(id arm.ID) {
		short := strings.TrimPrefix(string(id), subscription)
		subnet := isSubnet(short)
		if !slices.ContainsFunc(ids, func(have string) bool { return strings.EqualFold(have, short) || !subnet && !isSubnet(have) }) {
			ids = append(ids, short)
		}
	}
	for _, short := range made(in.AzureCluster) {
		if id := arm.ID(subscription + short); g.Has(id) || !outcome.Done() {
			add(id)
		}
	}
	for _, result := range outcome.Results {
		if result.Owned && len(result.Observed) > 0 {
			add(result.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	slices.Sort(ids)
	raw, _ := json.Marshal(ids) // A list of strings always marshals.
	return string(raw)
}

// InAzure tells whether something of a cluster is in Azure, or was, so that its region and subscription cannot change any
// more: something was seen there, it has an endpoint, or it was ready, also in the words of the established provider, which
// wrote the tags of the network into the spec. What only a status says is not known after clusterctl move, so it is never
// all there is.
func InAzure(c *infrav1.AzureCluster) bool {
	provisioned := c.Status.Initialization.Provisioned
	return len(made(c)) > 0 || c.Spec.ControlPlaneEndpoint.Host != "" || c.Status.Ready || provisioned != nil && *provisioned || TaggedNetwork(c)
}

// TaggedNetwork tells whether the tags in the spec say that the virtual network is the cluster's.
func TaggedNetwork(c *infrav1.AzureCluster) bool {
	return c.Spec.NetworkSpec.Vnet.Tags[infrav1.ClusterTagKey(ClusterName(ClusterInput{AzureCluster: c}))] == infrav1.TagOwned ||
		c.Spec.NetworkSpec.Vnet.Tags[infrav1.ClusterTagKey(c.Name)] == infrav1.TagOwned
}

// MadeSubnet tells whether a subnet was made for the cluster.
func MadeSubnet(c *infrav1.AzureCluster, name string) bool {
	return slices.ContainsFunc(made(c), func(short string) bool { return isSubnet(short) && strings.EqualFold(arm.ID(short).Name(), name) })
}

func isSubnet(short string) bool {
	return strings.EqualFold(arm.ID(short).Type(), types.Subnet)
}

// made is the list in the annotation. One that cannot be read has nothing.
func made(c *infrav1.AzureCluster) []string {
	var ids []string
	if json.Unmarshal([]byte(c.Annotations[MadeAnnotation]), &ids) != nil {
		return nil
	}
	return ids
}
