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
	// RefuseForeign has what somebody else made refused, by a ForeignObjectError. Without it that gets the keys and stays theirs, as does what the Azure
	// Service Operator made for an AKS cluster with the name of the control plane.
	RefuseForeign bool
}

// ForeignObjectError is that a Secret or PublishConfigMap is not one that the control plane made.
type ForeignObjectError struct{ Kind, Name string }

func (e ForeignObjectError) Error() string {
	return e.Kind + " " + e.Name + " was made by somebody else"
}

// PublishSecret makes a Secret, or brings it in line.
func (p Publisher) PublishSecret(ctx context.Context, name string, data map[string][]byte) error {
	return p.applyObject(ctx, &corev1.Secret{ObjectMeta: p.newMeta(name), Data: data, Type: corev1.SecretTypeOpaque})
}

// PublishClusterSecret is Secret of the type that Cluster API demands of the kubeconfig and the authority of a cluster. A Secret of another
// type, which no write can change, is replaced.
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane#cluster-kubeconfig-management
func (p Publisher) PublishClusterSecret(ctx context.Context, name string, data map[string][]byte) error {
	secret := &corev1.Secret{ObjectMeta: p.newMeta(name), Data: data, Type: clusterv1.ClusterSecretType}
	if err := p.deleteWrongType(ctx, secret); err != nil {
		return err
	}
	return p.applyObject(ctx, secret)
}

// deleteWrongType deletes a Secret of ours that has another type than is wanted, in the version that was read and no other one. The labels and
// annotations that others gave it are put on the one to be made. If the manager ends before that is made, its next pass over the control
// plane makes it. A Secret with finalizers stays as it is while it has them: its name would be taken until somebody takes them off.
func (p Publisher) deleteWrongType(ctx context.Context, want *corev1.Secret) error {
	have, key := &corev1.Secret{}, client.ObjectKeyFromObject(want)
	if err := p.Client.Get(ctx, key, have); err != nil {
		return client.IgnoreNotFound(err)
	}
	if have.Type == want.Type || !p.isOwn(have) || len(have.Finalizers) > 0 {
		return nil
	}
	preconditions := client.Preconditions{UID: &have.UID, ResourceVersion: &have.ResourceVersion}
	if err := p.Client.Delete(ctx, have, preconditions); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Secret %s of type %s to make it of type %s: %w", key, have.Type, want.Type, err)
	}
	want.Labels = mergeMaps(have.Labels, want.Labels)
	want.Annotations = have.Annotations
	return nil
}

// RenewOwnerReferences gives the control plane's owner references on what it published the API version of today. Owners without a pass, as those whose
// cluster is in order, keep theirs up to date by it.
func (p Publisher) RenewOwnerReferences(ctx context.Context) error {
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
			if err := p.setOwner(changed, nil); err != nil {
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

// StoredValue is a key of a Secret that the control plane made, nil where there is none.
func (p Publisher) StoredValue(ctx context.Context, name, key string) ([]byte, error) {
	secret := &corev1.Secret{ObjectMeta: p.newMeta(name)}
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if apierrors.IsNotFound(err) || err == nil && !p.isOwn(secret) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return secret.Data[key], nil
}

// PublishConfigMap makes a PublishConfigMap, or brings it in line.
func (p Publisher) PublishConfigMap(ctx context.Context, name string, data map[string]string) error {
	return p.applyObject(ctx, &corev1.ConfigMap{ObjectMeta: p.newMeta(name), Data: data})
}

func (p Publisher) newMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: p.Owner.GetNamespace(), Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: p.Cluster},
	}
}

// applyObject makes a Secret or PublishConfigMap, or brings it in line: its data are ours whole, of its labels and owners what is missing. One
// that somebody else made, which a spec may name, gets our keys and stays theirs. What is as it should be is not written.
func (p Publisher) applyObject(ctx context.Context, want client.Object) error {
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
	mine := p.isOwn(have)
	if p.RefuseForeign && !mine && !p.isMadeByASO(have) {
		return ForeignObjectError{Kind: kind, Name: key.Name}
	}
	setData(changed, want, !mine)
	if mine {
		if err := p.setOwner(changed, want.GetLabels()); err != nil {
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

// isOwn tells whether an object is one that this controller makes: by its owner, or by the label of the cluster where it lost
// that.
func (p Publisher) isOwn(have client.Object) bool {
	if owner := metav1.GetControllerOf(have); owner != nil {
		return owner.Kind == p.Kind && owner.Name == p.Owner.GetName()
	}
	return have.GetLabels()[clusterv1.ClusterNameLabel] == p.Cluster
}

// isMadeByASO tells whether the Azure Service Operator made an object for the AKS cluster of the control plane, before this provider had it. The
// established provider names the ManagedCluster as its AzureManagedControlPlane.
func (p Publisher) isMadeByASO(have client.Object) bool {
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
			data = mergeMaps(changed.Data, data)
		}
		changed.Data = data
	case *corev1.ConfigMap:
		data := want.(*corev1.ConfigMap).Data
		if keep {
			data = mergeMaps(changed.Data, data)
		}
		changed.Data = data
	}
}

func mergeMaps[V any](have, want map[string]V) map[string]V {
	out := make(map[string]V, len(have)+len(want))
	maps.Copy(out, have)
	maps.Copy(out, want)
	return out
}

// setOwner gives an object its labels, and the control plane as its owner. One from before the control plane was restored or
// moved does not exist any more, and would have the garbage collector take the object.
func (p Publisher) setOwner(object client.Object, labels map[string]string) error {
	object.SetLabels(mergeMaps(object.GetLabels(), labels))
	object.SetOwnerReferences(slices.DeleteFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.Kind == p.Kind && owner.Name == p.Owner.GetName() && owner.UID != p.Owner.GetUID()
	}))
	return controllerutil.SetControllerReference(p.Owner, object, p.Client.Scheme())
}
