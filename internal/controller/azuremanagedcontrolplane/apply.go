package azuremanagedcontrolplane

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
)

func newSecret(in *input, name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta(in, name), Data: data, Type: corev1.SecretTypeOpaque}
}

func newConfigMap(in *input, name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: meta(in, name), Data: data}
}

func meta(in *input, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: in.key.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: in.cluster.Name},
	}
}

// apply makes a Secret or ConfigMap, or brings it in line: its data are ours whole, of its labels and owners what is
// missing. It goes with the AzureManagedControlPlane. What is as it should be is not written.
func (r *Reconciler) apply(ctx context.Context, in *input, want client.Object) error {
	kind := "Secret"
	have := client.Object(&corev1.Secret{})
	if _, ok := want.(*corev1.ConfigMap); ok {
		kind, have = "ConfigMap", &corev1.ConfigMap{}
	}
	key := client.ObjectKeyFromObject(want)
	err := r.Client.Get(ctx, key, have)
	if apierrors.IsNotFound(err) {
		if err := controllerutil.SetControllerReference(in.controlPlane, want, r.Client.Scheme()); err != nil {
			return fmt.Errorf("owner of %s %s: %w", kind, key, err)
		}
		if err := r.Client.Create(ctx, want); err != nil {
			return fmt.Errorf("create %s %s: %w", kind, key, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("get %s %s: %w", kind, key, err)
	}
	changed := have.DeepCopyObject().(client.Object)
	labels := maps.Clone(have.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, want.GetLabels())
	changed.SetLabels(labels)
	switch changed := changed.(type) {
	case *corev1.Secret:
		changed.Data = want.(*corev1.Secret).Data
	case *corev1.ConfigMap:
		changed.Data = want.(*corev1.ConfigMap).Data
	}
	if owner := metav1.GetControllerOf(have); owner == nil || outlived(owner, in.controlPlane) {
		changed.SetOwnerReferences(slices.DeleteFunc(changed.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return outlived(&o, in.controlPlane) }))
		if err := controllerutil.SetControllerReference(in.controlPlane, changed, r.Client.Scheme()); err != nil {
			return fmt.Errorf("owner of %s %s: %w", kind, key, err)
		}
	}
	if equality.Semantic.DeepEqual(have, changed) {
		return nil
	}
	if err := r.Client.Patch(ctx, changed, client.MergeFrom(have)); err != nil {
		return fmt.Errorf("patch %s %s: %w", kind, key, err)
	}
	return nil
}

// outlived tells whether an owner is the control plane as it was before it was restored or moved: an owner that does not
// exist has the garbage collector take what it owns.
func outlived(owner *metav1.OwnerReference, controlPlane *infrav1.AzureManagedControlPlane) bool {
	return owner.Kind == managed.ControlPlaneKind && owner.Name == controlPlane.Name && owner.UID != controlPlane.UID
}
