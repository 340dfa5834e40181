package rollout_test

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestFixedImage upgrades a pool from Kubernetes 1.30, whose default image is in the Marketplace, to 1.31, whose image is in a gallery, and
// adds a VM. Azure cannot change the kind of image: the pool names the field, grows with the former image, and replaces no VM for it. All ends
// with the former version.
func TestFixedImage(t *testing.T) {
	for _, mode := range []infrav1.OrchestrationMode{infrav1.UniformOrchestration, infrav1.FlexibleOrchestration} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, three)
				w.StartProvider()
				w.createNetwork()
				setVersion := func(version string, replicas int32) {
					harness.ChangeObject(w.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}}, func(p *clusterv1.MachinePool) {
						p.Spec.Template.Spec.Version, p.Spec.Replicas = version, &replicas
					})
				}
				azurePool := w.AzureMachinePool("c1", poolName)
				azurePool.Spec.OrchestrationMode, azurePool.Spec.Template.Image = mode, marketplaceImage()
				azurePool.Spec.Strategy = infrav1.AzureMachinePoolDeploymentStrategy{Type: infrav1.RollingUpdateAzureMachinePoolDeploymentStrategyType,
					RollingUpdate: &w.settings.strategy}
				w.CreatePool(azurePool, 3)
				w.waitUntil("the pool exists", w.isWhole)
				mark := w.Azure.MarkRequests()

				harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
					func(p *infrav1.AzureMachinePool) { p.Spec.Template.Image = nil })
				setVersion("v1.31.0", 4)
				read := func() *infrav1.AzureMachinePool {
					pool := &infrav1.AzureMachinePool{}
					w.ReadObject(pool, poolName)
					return pool
				}
				w.waitUntil("the pool is larger", func() bool {
					pool := read()
					return pool.Status.Replicas == 4 &&
						harness.FindCondition(pool, infrav1.ScaleSetDesiredReplicasCondition).Status == metav1.ConditionTrue
				})
				for range 30 {
					virtual.WaitForSignal(nil, time.Minute)
				}
				pool := read()
				if n := pool.Status.Replicas; n != 4 {
					t.Errorf("%d VMs half an hour later, want 4", n)
				}
				writes := countCalls(w.Azure, mark)
				maps.DeleteFunc(writes, func(call string, _ int) bool { return strings.HasPrefix(call, "GET") })
				if diff := cmp.Diff(map[string]int{"PUT": 1}, writes); diff != "" {
					t.Errorf("writes, of which one adds a VM (-want +got):\n%s", diff)
				}
				if pool.Status.Image == nil || pool.Status.Image.Marketplace == nil {
					t.Errorf("the image of new VMs is %v", pool.Status.Image)
				}
				for conditionType, want := range map[string]metav1.ConditionStatus{
					infrav1.ScaleSetRunningCondition: metav1.ConditionTrue, infrav1.ScaleSetDesiredReplicasCondition: metav1.ConditionTrue,
					infrav1.ScaleSetModelUpdatedCondition: metav1.ConditionFalse, infrav1.ReadyCondition: metav1.ConditionFalse,
				} {
					if got := harness.FindCondition(pool, conditionType); got.Status != want {
						t.Errorf("%s is %s: %s, want %s", conditionType, got.Status, got.Message, want)
					}
				}
				model := harness.FindCondition(pool, infrav1.ScaleSetModelUpdatedCondition)
				if model.Reason != infrav1.InvalidConfigurationReason {
					t.Errorf("the reason is %s", model.Reason)
				}
				for _, part := range []string{"MachinePool.spec.template.spec.version", "cannot change the kind of a scale set's image",
					"create another machine pool"} {
					if !strings.Contains(model.Message, part) {
						t.Errorf("%q is not in %q", part, model.Message)
					}
				}

				harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
					func(p *infrav1.AzureMachinePool) { p.Spec.Template.Image = marketplaceImage() })
				w.settings.replicas = 4
				w.waitUntil("the former image ends it", w.isWhole)
			})
		})
	}
}

// marketplaceImage is the default image of Kubernetes 1.30.3.
func marketplaceImage() *infrav1.Image {
	return &infrav1.Image{Marketplace: &infrav1.AzureMarketplaceImage{Version: "130.3.20240717",
		ImagePlan: infrav1.ImagePlan{Publisher: "cncf-upstream", Offer: "capi", SKU: "ubuntu-2204-gen1"}}}
}
