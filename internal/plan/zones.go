package plan

import "sigs.k8s.io/cluster-api/util/annotations"

// RegionZones returns the availability zones of the cluster's region. The owner of an externally managed AzureCluster need not list them in its
// status: then all zones that are asked for count, and the VM size decides.
func RegionZones(in ClusterInput, asked []string) []string {
	if len(in.Facts.Zones) == 0 && annotations.IsExternallyManaged(in.AzureCluster) {
		return asked
	}
	return in.Facts.Zones
}
