// Package published keeps the Secrets and ConfigMaps in which a control plane tells what others need to know of it.
package published

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Publisher publishes for one control plane.
type Publisher struct {
	Client client.Client
	// Owner is the control plane, of this kind. What is published goes with it.
	Owner client.Object
	Kind  string
	// Cluster is the name of the Cluster.
	Cluster string
	// Refuse has what somebody else made refused, by a TheirsError. Without it that gets the keys and stays theirs, as does what the Azure
	// Service Operator made for an AKS cluster with the name of the control plane.
	Refuse bool
}

// TheirsError is that a Secret or ConfigMap is not one that the control plane made.
type TheirsError struct{ Kind, Name string }

func (e TheirsError) Error() string {
	return e.Kind + " " + e.Name + " was made by somebody else"
}

// Secret makes a Secret, or brings it in line.
func (p Publisher) Secret(ctx context.Context, name string, data map[string][]byte) error {
	return p.apply(ctx, &corev1.Secret{ObjectMeta: p.meta(name), Data: data, Type: corev1.SecretTypeOpaque})
}

// ClusterSecret is Secret of the type that Cluster API demands of the kubeconfig and the authority of a cluster. A Secret of another
// type, which no write can change, is replaced.
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane#cluster-kubeconfig-management
func (p Publisher) ClusterSecret(ctx context.Context, name string, data map[string][]byte) error {
	secret := &corev1.Secret{ObjectMeta: p.meta(name), Data: data, Type: clusterv1.ClusterSecretType}
	if err := p.retire(ctx, secret); err != nil {
		return err
	}
	return p.apply(ctx, secret)
}

// retire deletes a Secret of ours that has another type than is wanted, in the version that was read and no other one. The labels and
// annotations that others gave it are put on the one to be made. If the manager ends before that is made, its next pass over the control
// plane makes it. A Secret with finalizers stays as it is while it has them: its name would be taken until somebody takes them off.
func (p Publisher) retire(ctx context.Context, want *corev1.Secret) error {
	have, key := &corev1.Secret{}, client.ObjectKeyFromObject(want)
	if err := p.Client.Get(ctx, key, have); err != nil {
		return client.IgnoreNotFound(err)
	}
	if have.Type == want.Type || !p.ours(have) || len(have.Finalizers) > 0 {
		return nil
	}
	preconditions := client.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion}
	if err := p.Client.Delete(ctx, have, preconditions); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Secret %s of type %s to make it of type %s: %w", key, have.Type, want.Type, err)
	}
	want.Labels = joined(have.Labels, want.Labels)
	want.Annotations = have.Annotations
	return nil
}

// Renew gives the control plane's owner references on what it published the API version of today. Owners without a pass, as those whose
// cluster is in order, keep theirs up to date by it.
func (p Publisher) Renew(ctx context.Context) error {
	for _, kind := range []string{"Secret", "ConfigMap"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := p.Client.List(ctx, list, client.InNamespace(p.Owner.GetNamespace()), client.MatchingLabels{clusterv1.ClusterNameLabel: p.Cluster}); err != nil {
			return fmt.Errorf("list %ss: %w", kind, err)
		}
		for i := range list.Items {
			have := &list.Items[i]
			have.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
			if !metav1.IsControlledBy(have, p.Owner) {
				continue
			}
			changed := have.DeepCopy()
			if err := p.own(changed, nil); err != nil {
				return fmt.Errorf("owner of %s %s: %w", kind, client.ObjectKeyFromObject(have), err)
			}
			if equality.Semantic.DeepEqual(have.OwnerReferences, changed.OwnerReferences) {
				continue
			}
			if err := p.Client.Patch(ctx, changed, client.MergeFromWithOptions(have, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("patch %s %s: %w", kind, client.ObjectKeyFromObject(have), err)
			}
		}
	}
	return nil
}

// Stored is a key of a Secret that the control plane made, nil where there is none.
func (p Publisher) Stored(ctx context.Context, name, key string) ([]byte, error) {
	secret := &corev1.Secret{ObjectMeta: p.meta(name)}
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if apierrors.IsNotFound(err) || err == nil && !p.ours(secret) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return secret.Data[key], nil
}

// ConfigMap makes a ConfigMap, or brings it in line.
func (p Publisher) ConfigMap(ctx context.Context, name string, data map[string]string) error {
	return p.apply(ctx, &corev1.ConfigMap{ObjectMeta: p.meta(name), Data: data})
}

func (p Publisher) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: p.Owner.GetNamespace(), Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: p.Cluster},
	}
}

// apply makes a Secret or ConfigMap, or brings it in line: its data are ours whole, of its labels and owners what is missing. One
// that somebody else made, which a spec may name, gets our keys and stays theirs. What is as it should be is not written.
func (p Publisher) apply(ctx context.Context, want client.Object) error {
	kind := "Secret"
	have := client.Object(&corev1.Secret{})
	if _, ok := want.(*corev1.ConfigMap); ok {
		kind, have = "ConfigMap", &corev1.ConfigMap{}
	}
	key := client.ObjectKeyFromObject(want)
	err := p.Client.Get(ctx, key, have)
	if apierrors.IsNotFound(err) {
		if err := controllerutil.SetControllerReference(p.Owner, want, p.Client.Scheme()); err != nil {
			return fmt.Errorf("owner of %s %s: %w", kind, key, err)
		}
		if err := p.Client.Create(ctx, want); err != nil {
			return fmt.Errorf("create %s %s: %w", kind, key, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("get %s %s: %w", kind, key, err)
	}
	changed := have.DeepCopyObject().(client.Object)
	mine := p.ours(have)
	if p.Refuse && !mine && !p.operators(have) {
		return TheirsError{Kind: kind, Name: key.Name}
	}
	setData(changed, want, !mine)
	if mine {
		if err := p.own(changed, want.GetLabels()); err != nil {
			return fmt.Errorf("owner of %s %s: %w", kind, key, err)
		}
	}
	if equality.Semantic.DeepEqual(have, changed) {
		return nil
	}
	if err := p.Client.Patch(ctx, changed, client.MergeFrom(have)); err != nil {
		return fmt.Errorf("patch %s %s: %w", kind, key, err)
	}
	return nil
}

// ours tells whether an object is one that this controller makes: by its owner, or by the label of the cluster where it lost
// that.
func (p Publisher) ours(have client.Object) bool {
	if owner := metav1.GetControllerOf(have); owner != nil {
		return owner.Kind == p.Kind && owner.Name == p.Owner.GetName()
	}
	return have.GetLabels()[clusterv1.ClusterNameLabel] == p.Cluster
}

// operators tells whether the Azure Service Operator made an object for the AKS cluster of the control plane, before this provider had it. The
// established provider names the ManagedCluster as its AzureManagedControlPlane.
func (p Publisher) operators(have client.Object) bool {
	return slices.ContainsFunc(have.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return strings.HasPrefix(owner.APIVersion, "containerservice.azure.com/") && owner.Kind == "ManagedCluster" && owner.Name == p.Owner.GetName()
	})
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
func (p Publisher) own(object client.Object, labels map[string]string) error {
	object.SetLabels(joined(object.GetLabels(), labels))
	object.SetOwnerReferences(slices.DeleteFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.Kind == p.Kind && owner.Name == p.Owner.GetName() && owner.UID != p.Owner.GetUID()
	}))
	return controllerutil.SetControllerReference(p.Owner, object, p.Client.Scheme())
}
