package requests_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/queue"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestNamespacesShareWorkers applies 238 clusters in one namespace whose networks Azure refuses, and then one cluster in another namespace
// that uses the same identity. Each controller has one worker. That one is Ready nearly as soon as one that was applied alone before.
func TestNamespacesShareWorkers(t *testing.T) {
	const broken = 238
	playUnmanaged(t, func(w *world) {
		w.StartManager(func(ctx context.Context, m *virtual.Manager) error {
			return virtual.RegisterControllersWith(ctx, m, controller.Options{MaxConcurrentReconciles: 1, NewQueue: queue.New(engine.SystemClock{})})
		})
		in := func(namespace, name string, change func(*infrav1.AzureCluster)) {
			own := w.Namespace
			defer func() { w.Namespace = own }()
			w.Namespace = namespace
			w.ApplyNetwork(name, func(c *infrav1.AzureCluster) {
				c.Spec.IdentityRef.Namespace = own
				if change != nil {
					change(c)
				}
			})
		}
		for _, namespace := range []string{"large", "small"} {
			w.CreateObject(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		}
		ready := func(namespace, name string) func() bool {
			return func() bool {
				c := &infrav1.AzureCluster{}
				if err := w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: namespace, Name: name}, c); err != nil {
					w.T.Fatal(err)
				}
				return harness.IsReady(c)
			}
		}
		alone := w.measureTime(func() {
			in("small", "alone", nil)
			w.WaitUntil("the cluster is Ready", ready("small", "alone"))
		})
		for i := range broken {
			in("large", fmt.Sprintf("broken-%d", i), func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"192.168.0.0/16"}
				c.Spec.NetworkSpec.Subnets = infrav1.Subnets{
					{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "control-planes", Role: infrav1.SubnetControlPlane,
						CIDRBlocks: []string{"10.0.0.0/24"}}},
					{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, CIDRBlocks: []string{"10.1.0.0/16"}}},
				}
			})
		}
		among := w.measureTime(func() {
			in("small", "among", nil)
			w.WaitUntil("the cluster is Ready", ready("small", "among"))
		})
		if ready("large", "broken-0")() {
			w.T.Error("the clusters are not broken")
		}
		t.Logf("a cluster is Ready after %s alone, and after %s among %d broken ones of another namespace: a ratio of %.2f", alone, among, broken,
			among.Seconds()/alone.Seconds())
		// How long Azure takes is drawn for each operation.
		if among > 2*alone {
			w.T.Errorf("the broken clusters of another namespace delay a cluster from %s to %s", alone, among)
		}
	})
}
