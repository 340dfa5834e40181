package rollout_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestSystemIdentityGoes takes the system-assigned identity out of the spec of a pool. Its role assignment is deleted before the identity,
// which is the only proof of who created it, and then the identity is removed from the scale set.
func TestSystemIdentityGoes(t *testing.T) {
	const roleName = "11111111-1111-1111-1111-111111111111"
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, three)
		w.StartProvider()
		w.createNetwork()
		azurePool := w.AzureMachinePool("c1", poolName)
		azurePool.Spec.OrchestrationMode, azurePool.Spec.Identity = infrav1.UniformOrchestration, infrav1.VMIdentitySystemAssigned
		azurePool.Spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: roleName}
		azurePool.Spec.Strategy = infrav1.AzureMachinePoolDeploymentStrategy{Type: infrav1.RollingUpdateAzureMachinePoolDeploymentStrategyType,
			RollingUpdate: &w.settings.strategy}
		w.CreatePool(azurePool, 3)
		w.waitUntil("the pool exists", w.isWhole)
		identity := func() string {
			return jsonpath.GetText(w.ReadResource("Microsoft.Compute/virtualMachineScaleSets/pool"), "identity.type")
		}
		if identity() != "SystemAssigned" {
			t.Fatalf("the identity is %q", identity())
		}
		mark := w.Azure.MarkRequests()

		harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}}, func(p *infrav1.AzureMachinePool) {
			p.Spec.Identity, p.Spec.SystemAssignedIdentityRole = infrav1.VMIdentityNone, nil
		})
		w.waitUntil("the identity is removed", func() bool { return identity() != "SystemAssigned" })
		for range 5 {
			virtual.WaitForSignal(nil, time.Minute)
		}
		w.waitUntil("the pool is in order", w.isWhole)
		deleted, written := -1, -1
		for i, request := range w.Azure.RequestsSince(mark) {
			switch {
			case strings.HasPrefix(request, "DELETE") && strings.Contains(request, roleName) && deleted < 0:
				deleted = i
			case strings.HasPrefix(request, "PUT") && strings.Contains(request, "virtualMachineScaleSets/pool") && written < 0:
				written = i
			}
		}
		if deleted < 0 || written < deleted {
			t.Errorf("the role assignment is deleted by request %d, and the scale set written by %d: %v", deleted, written, w.Azure.RequestsSince(mark))
		}
		pool := &infrav1.AzureMachinePool{}
		w.ReadObject(pool, poolName)
		if strings.Contains(pool.Annotations[infrav1.AppliedAnnotation], roleName) {
			t.Errorf("the role assignment is still recorded: %v", pool.Annotations)
		}
	})
}
