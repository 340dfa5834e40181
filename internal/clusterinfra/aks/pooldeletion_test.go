package aks_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
)

// TestDeletePool decides whether a pool is deleted alone or with its cluster.
func TestDeletePool(t *testing.T) {
	deleting := func(is bool) *metav1.ObjectMeta {
		out := &metav1.ObjectMeta{}
		if is {
			out.DeletionTimestamp = new(metav1.Now())
		}
		return out
	}
	for name, test := range map[string]struct {
		reason                                  string
		cluster, clusterGone, controlPlane      bool
		controlPlaneGone, nothingCreated, other bool
		want                                    bool
	}{
		"alone":            {reason: "its cluster stays", want: false},
		"with the Cluster": {reason: "the control plane is deleted next", cluster: true, want: true},
		"Cluster is gone":  {reason: "the control plane stays without its Cluster", clusterGone: true, want: false},
		"no control plane": {reason: "the agent pool cannot be found", controlPlaneGone: true, want: true},
		"never created":    {reason: "no pool exists", nothingCreated: true, want: true},
		"control plane, all pools": {reason: "the control plane waits for its pools, and all of them are deleted", controlPlane: true,
			other: true, want: true},
		"control plane, not all pools": {reason: "the control plane waits for a pool that stays", controlPlane: true, want: false},
	} {
		t.Run(name, func(t *testing.T) {
			owners := aks.PoolOwners{Cluster: &clusterv1.Cluster{ObjectMeta: *deleting(test.cluster)}, ClusterGone: test.clusterGone,
				NothingCreated: test.nothingCreated}
			if !test.controlPlaneGone {
				owners.ControlPlane = &infrav1.AzureManagedControlPlane{ObjectMeta: *deleting(test.controlPlane)}
			}
			got, err := owners.DeletePool(func() ([]metav1.Object, error) {
				return []metav1.Object{deleting(true), deleting(test.other)}, nil
			})
			if err != nil || got != test.want {
				t.Errorf("%s: got %t, %v", test.reason, got, err)
			}
		})
	}
}

// TestMayCreatePool checks when a pool that is being deleted may be created with its cluster.
func TestMayCreatePool(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		change func(*aks.PoolOwners)
		want   bool
	}{
		"planned":          {"the cluster is not in place yet", func(*aks.PoolOwners) {}, true},
		"nothing created":  {"the plan may be about to be stored", func(o *aks.PoolOwners) { o.NothingCreated = true }, true},
		"Cluster is gone":  {"the control plane stays without its Cluster", func(o *aks.PoolOwners) { o.ClusterGone = true }, true},
		"in place":         {"later writes leave the pools out", func(o *aks.PoolOwners) { o.Initialized = true }, false},
		"no control plane": {"nothing creates a cluster", func(o *aks.PoolOwners) { o.ControlPlane = nil }, false},
		"with the Cluster": {"all pools go with it", func(o *aks.PoolOwners) { o.Cluster.DeletionTimestamp = new(metav1.Now()) }, false},
	} {
		owners := aks.PoolOwners{Cluster: &clusterv1.Cluster{}, ControlPlane: &infrav1.AzureManagedControlPlane{}}
		if test.change(&owners); owners.MayCreatePool() != test.want {
			t.Errorf("%s: %s: got %t", name, test.reason, !test.want)
		}
	}
}
