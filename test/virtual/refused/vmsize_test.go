package refused_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestUnknownVMSize creates an AKS cluster with a pool whose VM size the region does not have. The condition names the field of the pool
// and similar sizes, and the cluster is created when the size is corrected.
func TestUnknownVMSize(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		create func(*virtual.Scenario)
		shown  func(*virtual.Scenario) metav1.Condition
		field  string
	}{
		"typed": {"the pool is an object of its own",
			func(w *virtual.Scenario) {
				controlPlane := w.ControlPlane("c1")
				defaults.FillAzureManagedControlPlane(controlPlane)
				w.CreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: string(infrav1.NodePoolModeSystem), Replicas: 1,
					Change: func(pool *infrav1.AzureManagedMachinePool) {
						defaults.FillAzureManagedMachinePool(pool)
						pool.Spec.SKU = "Standard_D2s_v33"
					}})
			},
			func(w *virtual.Scenario) metav1.Condition {
				object := &infrav1.AzureManagedControlPlane{}
				w.ReadObject(object, "c1")
				return harness.FindCondition(object, infrav1.ManagedClusterRunningCondition)
			},
			"AzureManagedMachinePool[c1-pool0].spec.sku"},
		"manifests": {"the pool is a manifest of another object",
			func(w *virtual.Scenario) {
				c := w.BuildASOCluster("c1", "pool0")
				manifest := &c.Pools[0].Spec.Resources[0]
				manifest.Raw = bytes.Replace(manifest.Raw, []byte("Standard_D2s_v3"), []byte("Standard_D2s_v33"), 1)
				w.CreateManifests(c)
			},
			func(w *virtual.Scenario) metav1.Condition {
				object := &infrav1.AzureASOManagedControlPlane{}
				w.ReadObject(object, "c1")
				return harness.FindCondition(object, infrav1.ResourcesReadyCondition)
			},
			"AzureASOManagedMachinePool c1-pool0 spec.resources[0].spec.vmSize"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				w.StartProvider()
				test.create(w)
				w.WaitUntil("the size is refused", func() bool { return test.shown(w).Reason == infrav1.InvalidConfigurationReason })
				for _, part := range []string{test.field, "Standard_D2s_v33", "Similar sizes are Standard_D2s_v3,"} {
					if got := test.shown(w).Message; !strings.Contains(got, part) {
						t.Errorf("%s: want %q in %q", test.reason, part, got)
					}
				}
			})
		})
	}
}
