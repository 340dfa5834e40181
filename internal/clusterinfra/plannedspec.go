package clusterinfra

import clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

// PlannedSpec returns the part of a Cluster's spec that plans may depend on, for fingerprints. Cluster API reads the rest: a change of the
// topology, such as the number of replicas that an autoscaler sets, reaches plans through Machines and MachinePools.
func PlannedSpec(cluster *clusterv1.Cluster) clusterv1.ClusterSpec {
	out := cluster.Spec
	out.Topology, out.AvailabilityGates = clusterv1.Topology{}, nil
	return out
}
