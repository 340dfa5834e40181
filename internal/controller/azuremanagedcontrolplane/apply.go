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
		Namespace: in.controlPlane.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: in.cluster.Name},
	}
}

// apply makes a Secret or ConfigMap, or brings it in line: its data are ours whole, of its labels and owners what is
// missing. It goes with the AzureManagedControlPlane. One that somebody else made, which a patch may name, gets our keys and
// stays theirs. What is as it should be is not written.
func (k *Kind) apply(ctx context.Context, in *input, want client.Object) error {
	kind := "Secret"
	have := client.Object(&corev1.Secret{})
	if _, ok := want.(*corev1.ConfigMap); ok {
		kind, have = "ConfigMap", &corev1.ConfigMap{}
	}
	key := client.ObjectKeyFromObject(want)
	err := k.Client.Get(ctx, key, have)
	if apierrors.IsNotFound(err) {
		if err := controllerutil.SetControllerReference(in.controlPlane, want, k.Client.Scheme()); err != nil {
			return fmt.Errorf("owner of %s %s: %w", kind, key, err)
		}
		if err := k.Client.Create(ctx, want); err != nil {
			return fmt.Errorf("create %s %s: %w", kind, key, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("get %s %s: %w", kind, key, err)
	}
	changed := have.DeepCopyObject().(client.Object)
	mine := ours(in, have)
	setData(changed, want, !mine)
	if mine {
		if err := k.own(in, changed, want.GetLabels()); err != nil {
			return fmt.Errorf("owner of %s %s: %w", kind, key, err)
		}
	}
	if equality.Semantic.DeepEqual(have, changed) {
		return nil
	}
	if err := k.Client.Patch(ctx, changed, client.MergeFrom(have)); err != nil {
		return fmt.Errorf("patch %s %s: %w", kind, key, err)
	}
	return nil
}

// ours tells whether an object is one that this controller makes: by its owner, or by the label of the cluster where it lost
// that.
func ours(in *input, have client.Object) bool {
	if owner := metav1.GetControllerOf(have); owner != nil {
		return owner.Kind == managed.ControlPlaneKind && owner.Name == in.controlPlane.Name
	}
	return have.GetLabels()[clusterv1.ClusterNameLabel] == in.cluster.Name
}

// setData gives an object the data of another one, beside what it has if keep is set.
func setData(changed, want client.Object, keep bool) {
	switch changed := changed.(type) {
	case *corev1.Secret:
		data := want.(*corev1.Secret).Data
		if keep {
			data = joined(changed.Data, data)
		}
		changed.Data = data
	case *corev1.ConfigMap:
		data := want.(*corev1.ConfigMap).Data
		if keep {
			data = joined(changed.Data, data)
		}
		changed.Data = data
	}
}

func joined[V any](have, want map[string]V) map[string]V {
	out := make(map[string]V, len(have)+len(want))
	maps.Copy(out, have)
	maps.Copy(out, want)
	return out
}

// own gives an object its labels, and the control plane as its owner. One from before the control plane was restored or
// moved does not exist any more, and would have the garbage collector take the object.
func (k *Kind) own(in *input, object client.Object, labels map[string]string) error {
	object.SetLabels(joined(object.GetLabels(), labels))
	controlPlane := in.controlPlane
	object.SetOwnerReferences(slices.DeleteFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.Kind == managed.ControlPlaneKind && owner.Name == controlPlane.Name && owner.UID != controlPlane.UID
	}))
	return controllerutil.SetControllerReference(controlPlane, object, k.Client.Scheme())
}
