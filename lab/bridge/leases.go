package bridge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/kubeapi"
)

// renewInterval is how often Leases are renewed and Nodes initialized. Kubelets renew theirs every ten
// seconds: https://kubernetes.io/docs/concepts/architecture/leases/
const renewInterval = 5 * time.Second

// Durations of Leases: those of a kubelet and of --leader-elect-lease-duration.
const (
	nodeLeaseSeconds    = 40
	electedLeaseSeconds = 15
)

// electedComponents are the components with a Lease in kube-system.
var electedComponents = []string{"kube-controller-manager", "kube-scheduler"}

// keepAll does for all clusters what their kubelets and controllers do all the time, until ctx is done.
func (f *fleet) keepAll(ctx context.Context) {
	for waitUnlessDone(ctx, renewInterval) {
		f.mu.Lock()
		all := slices.Collect(maps.Values(f.workloads))
		f.mu.Unlock()
		for _, w := range all {
			w.mu.Lock()
			err := w.keepNodes(ctx)
			w.mu.Unlock()
			if err != nil {
				f.log.Error("renew leases and initialize nodes", "cluster", w.settings.name, "error", err)
			}
		}
	}
}

// keepNodes renews the Leases of the machines that run, initializes their Nodes and deletes those of others. The caller holds w.mu.
func (w *workload) keepNodes(ctx context.Context) error {
	var errs []error
	leader := ""
	for _, name := range slices.Sorted(maps.Keys(w.members)) {
		m := w.members[name]
		if m.off {
			continue
		}
		errs = append(errs, w.renewLease(ctx, corev1.NamespaceNodeLease, name, name, nodeLeaseSeconds))
		if m.controlPlane && leader == "" {
			leader = name
		}
	}
	if leader != "" {
		for _, component := range electedComponents {
			errs = append(errs, w.renewLease(ctx, metav1.NamespaceSystem, component, leader+"_"+component, electedLeaseSeconds))
		}
	}
	return errors.Join(append(errs, w.initializeNodes(ctx), w.deleteDeparted(ctx))...)
}

// renewLease writes the Lease of a holder, who takes it from another one at once: that one does not run any more.
func (w *workload) renewLease(ctx context.Context, namespace, name, holder string, seconds int32) error {
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{}
	err := w.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, lease)
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: kubeapi.NewUID()},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now, LeaseTransitions: new(int32(0)),
			},
		}
		return w.client.Create(ctx, lease)
	}
	if err != nil {
		return err
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != holder {
		transitions := int32(1)
		if lease.Spec.LeaseTransitions != nil {
			transitions += *lease.Spec.LeaseTransitions
		}
		lease.Spec.HolderIdentity, lease.Spec.AcquireTime, lease.Spec.LeaseTransitions = &holder, &now, &transitions
	}
	lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &seconds, &now
	if err := w.client.Update(ctx, lease); !apierrors.IsConflict(err) {
		return client.IgnoreNotFound(err)
	}
	return nil // a client wrote it meanwhile; the next turn renews it
}

// dropNodeLease deletes the Lease of a machine that is gone, as the garbage collector does when the Node goes that owns it.
func (w *workload) dropNodeLease(ctx context.Context, node string) error {
	return deleteIfThere(ctx, w.client, &coordinationv1.Lease{}, corev1.NamespaceNodeLease, node)
}
