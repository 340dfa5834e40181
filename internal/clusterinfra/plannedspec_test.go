package clusterinfra_test

import (
	"reflect"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
)

// TestPlannedSpec sets each field of a Cluster's spec. It expects that all but those of the topology count, also fields that Cluster API adds.
func TestPlannedSpec(t *testing.T) {
	leftOut := map[string]bool{"Topology": true, "AvailabilityGates": true}
	empty := clusterinfra.PlannedSpec(&clusterv1.Cluster{})
	for changed, cluster := range map[string]*clusterv1.Cluster{
		"Paused":               {Spec: clusterv1.ClusterSpec{Paused: new(true)}},
		"ClusterNetwork":       {Spec: clusterv1.ClusterSpec{ClusterNetwork: clusterv1.ClusterNetwork{ServiceDomain: "a"}}},
		"ControlPlaneEndpoint": {Spec: clusterv1.ClusterSpec{ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "a"}}},
		"ControlPlaneRef":      {Spec: clusterv1.ClusterSpec{ControlPlaneRef: clusterv1.ContractVersionedObjectReference{Name: "a"}}},
		"InfrastructureRef":    {Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{Name: "a"}}},
		"Topology":             {Spec: clusterv1.ClusterSpec{Topology: clusterv1.Topology{Version: "v1.34.0"}}},
		"AvailabilityGates":    {Spec: clusterv1.ClusterSpec{AvailabilityGates: []clusterv1.ClusterAvailabilityGate{{}}}},
	} {
		if counts := !reflect.DeepEqual(clusterinfra.PlannedSpec(cluster), empty); counts == leftOut[changed] {
			t.Errorf("%s counts: %t", changed, counts)
		}
		if cluster.Spec.Topology.Version == "" && changed == "Topology" {
			t.Error("the Cluster was changed")
		}
	}
	if fields := reflect.TypeFor[clusterv1.ClusterSpec]().NumField(); fields != 7 {
		t.Errorf("Cluster API has %d fields: add a row, and leave the field out of fingerprints if no plan depends on it", fields)
	}
}
