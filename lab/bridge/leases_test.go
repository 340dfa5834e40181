package bridge

import (
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// holderOf returns the holder of a Lease that has not expired, or "".
func holderOf(t *testing.T, leases coordinationclient.LeaseInterface, name string) string {
	t.Helper()
	l, err := leases.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if time.Since(l.Spec.RenewTime.Time) > time.Duration(*l.Spec.LeaseDurationSeconds)*time.Second {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// TestLeases checks the Leases of kubelets and of the controllers of the control plane.
func TestLeases(t *testing.T) {
	f, d := newFakeSimulator(t), newBootData(t)
	f.runBridge()
	c := bootCluster(t, f, d)
	system, nodes := c.CoordinationV1().Leases(metav1.NamespaceSystem), c.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	if got := holderOf(t, nodes, "worker-0"); got != "worker-0" {
		t.Errorf("the Lease of worker-0 is held by %q", got)
	}
	for _, component := range []string{"kube-controller-manager", "kube-scheduler"} {
		if got := holderOf(t, system, component); got != "cp-0_"+component {
			t.Errorf("the Lease of %s is held by %q, want that of the first control plane", component, got)
		}
	}
	f.deleteGuest("cp-0")
	eventually(t, "another control plane holds the Lease of kube-controller-manager", func() bool {
		return holderOf(t, system, "kube-controller-manager") == "cp-1_kube-controller-manager"
	})
	f.deleteGuest("worker-0")
	eventually(t, "the Lease of the deleted machine is gone", func() bool {
		list, err := nodes.List(t.Context(), metav1.ListOptions{})
		return err == nil && !slices.ContainsFunc(list.Items, func(l coordinationv1.Lease) bool { return l.Name == "worker-0" })
	})
}

// TestCloudControllerManager checks that the bridge leaves the Nodes of stopped and deleted machines to a cloud-controller-manager while
// one holds its Lease.
func TestCloudControllerManager(t *testing.T) {
	f, d := newFakeSimulator(t), newBootData(t)
	f.runBridge()
	c := bootCluster(t, f, d)
	lease := holdLease(t, c, time.Hour)
	f.editGuest("worker-0", func(g *guest) { g.PowerState = "deallocated" })
	awaitNode(t, c, "worker-0", "NotReady without the taint of stopped VMs", func(_ watch.Event, n *corev1.Node) bool {
		return readyStatus(n) == corev1.ConditionUnknown && !hasTaint(n, shutdownTaint)
	})
	f.deleteGuest("cp-2")
	awaitNode(t, c, "cp-2", "NotReady but there",
		func(_ watch.Event, n *corev1.Node) bool { return readyStatus(n) == corev1.ConditionUnknown })

	// A program that stops without giving up its Lease does not renew it.
	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now().Add(-2 * time.Hour)}
	if _, err := c.CoordinationV1().Leases(metav1.NamespaceSystem).Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Node that was left is gone", func() bool { return !slices.Contains(nodeNames(t, c), "cp-2") })
	f.editGuest("worker-0", func(g *guest) { g.PowerState, g.BootID = "running", "boot-2" })
	awaitNode(t, c, "worker-0", "Ready", func(_ watch.Event, n *corev1.Node) bool { return readyStatus(n) == corev1.ConditionTrue })
	f.editGuest("worker-0", func(g *guest) { g.PowerState = "deallocated" })
	awaitNode(t, c, "worker-0", "tainted", func(_ watch.Event, n *corev1.Node) bool { return hasTaint(n, shutdownTaint) })
}

func hasTaint(n *corev1.Node, key string) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}

// holdLease takes the Lease of a cloud-controller-manager.
func holdLease(t *testing.T, c *kubernetes.Clientset, d time.Duration) *coordinationv1.Lease {
	t.Helper()
	now := metav1.NowMicro()
	lease, err := c.CoordinationV1().Leases(metav1.NamespaceSystem).Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: cloudControllerLease},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("ccm"), RenewTime: &now, LeaseDurationSeconds: new(int32(d.Seconds()))},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return lease
}
