package bridge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cloud-provider-azure is two programs. The bridge always plays cloud-node-manager, which runs on each machine, asks the metadata service
// and initializes the Node of its machine. The bridge plays what cloud-controller-manager does to Nodes, which is to taint those of stopped
// VMs and to delete those of deleted VMs, unless one runs. Its chart switches cloud-controller-manager's own controller that initializes
// Nodes off: https://github.com/kubernetes-sigs/cloud-provider-azure/blob/v1.36.5/helm/cloud-provider-azure/templates/cloud-provider-azure.yaml

// cloudControllerLease is the Lease of a cloud-controller-manager, in kube-system: the default of its flag --leader-elect-resource-name.
const cloudControllerLease = "cloud-controller-manager"

// hasCloudController reports whether a cloud-controller-manager runs, by its Lease.
func (w *workload) hasCloudController(ctx context.Context) bool {
	lease := &coordinationv1.Lease{}
	if w.client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: cloudControllerLease}, lease) != nil {
		return false
	}
	s := lease.Spec
	if s.HolderIdentity == nil || *s.HolderIdentity == "" || s.RenewTime == nil || s.LeaseDurationSeconds == nil {
		return false
	}
	return time.Since(s.RenewTime.Time) < time.Duration(*s.LeaseDurationSeconds)*time.Second
}

// initializeNodes writes onto the Nodes of machines that run what cloud-node-manager finds there. The caller holds w.mu.
func (w *workload) initializeNodes(ctx context.Context) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(w.members)) {
		m := w.members[name]
		if m.found == nil || m.off || !w.isUninitialized(ctx, name) {
			continue
		}
		err := w.changeNode(ctx, name, func(node *corev1.Node) { lookUp(node, *m.found) })
		errs = append(errs, client.IgnoreNotFound(err))
	}
	return errors.Join(errs...)
}

func (w *workload) isUninitialized(ctx context.Context, name string) bool {
	node := &corev1.Node{}
	if w.client.Get(ctx, client.ObjectKey{Name: name}, node) != nil {
		return false
	}
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == uninitializedTaint })
}

// deleteDeparted deletes the Nodes of deleted machines that a cloud-controller-manager has left, because it does not run any more. The
// caller holds w.mu.
func (w *workload) deleteDeparted(ctx context.Context) error {
	if len(w.departed) == 0 || w.hasCloudController(ctx) {
		return nil
	}
	var errs []error
	for name := range w.departed {
		errs = append(errs, deleteIfThere(ctx, w.client, &corev1.Node{}, "", name))
		delete(w.departed, name)
	}
	return errors.Join(errs...)
}
