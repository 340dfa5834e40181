package plan

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// RegionZones returns the availability zones of the cluster's region. The owner of an externally managed AzureCluster need not list them in its
// status: then all zones that are asked for count, and the VM size decides.
func RegionZones(in ClusterInput, asked []string) []string {
	if _, external := in.AzureCluster.Annotations[clusterv1.ManagedByAnnotation]; external && len(in.Facts.Zones) == 0 {
		return asked
	}
	return in.Facts.Zones
}
