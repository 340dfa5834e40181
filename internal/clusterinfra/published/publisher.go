// Package published keeps the Secrets and ConfigMaps in which a control plane publishes data about itself. Calls
// block for reads and writes of these objects, and may be repeated.
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

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Publisher publishes for one control plane.
type Publisher struct {
	Client client.Client
	// Owner is the control plane, of this kind. Published objects are deleted with it.
	Owner client.Object
	Kind  string
	// Cluster is the name of the Cluster.
	Cluster string
	// NamedBySpec means that the spec names the published objects, so that they may have any name. Without it, their names are those
	// that the provider gives the objects of the Cluster.
	NamedBySpec bool
	// FormerOwners are the objects of the Azure Service Operator whose values are published. The Secrets and ConfigMaps that the operator
	// created for them, or for an AKS cluster with the control plane's name, get the keys and keep their owner.
	FormerOwners []ASOObject
}

// ASOObject identifies an object of the Azure Service Operator in a namespace.
type ASOObject struct{ Group, Kind, Name string }

// ForeignObjectError means that a Secret or ConfigMap was not created for the control plane. It is left as it is.
type ForeignObjectError struct{ Kind, Name string }

func (e ForeignObjectError) Error() string {
	return e.Kind + " " + e.Name + " was created by others, and the provider does not change it"
}

// PublishSecret creates or updates a Secret.
func (p Publisher) PublishSecret(ctx context.Context, name string, data map[string][]byte) error {
	return p.applyObject(ctx, &corev1.Secret{ObjectMeta: p.newMeta(name), Data: data, Type: corev1.SecretTypeOpaque})
}

// PublishClusterSecret is PublishSecret with the type that Cluster API requires for a cluster's kubeconfig and certificate authority. A
// Secret of another type is replaced, because the type is immutable.
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/control-plane#cluster-kubeconfig-management
func (p Publisher) PublishClusterSecret(ctx context.Context, name string, data map[string][]byte) error {
	secret := &corev1.Secret{ObjectMeta: p.newMeta(name), Data: data, Type: clusterv1.ClusterSecretType}
	if err := p.deleteWrongType(ctx, secret); err != nil {
		return err
	}
	return p.applyObject(ctx, secret)
}

// deleteWrongType deletes an own Secret of another type, in exactly the version that was read. The new Secret gets its labels and
// annotations. If the manager ends in between, the next reconciliation creates the new one. A Secret with finalizers stays as it is,
// because its name would be taken until they are removed.
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
		return fmt.Errorf("delete Secret %s of type %s to create it with type %s: %w", key, have.Type, want.Type, err)
	}
	want.Labels = mergeMaps(have.Labels, want.Labels)
	want.Annotations = mergeMaps(have.Annotations, want.Annotations)
	return nil
}

// RenewOwnerReferences updates the API version of the control plane's owner references on published objects. It covers control planes
// that are stable and do not publish.
func (p Publisher) RenewOwnerReferences(ctx context.Context) error {
	for _, kind := range []string{"Secret", "ConfigMap"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := p.Client.List(ctx, list, client.InNamespace(p.Owner.GetNamespace()),
			client.MatchingLabels{clusterv1.ClusterNameLabel: p.Cluster}); err != nil {
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
			if err := p.Client.Patch(ctx, changed,
				client.MergeFromWithOptions(have, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("patch %s %s: %w", kind, client.ObjectKeyFromObject(have), err)
			}
		}
	}
	return nil
}

// StoredValue returns a key of a Secret that the control plane created, or that the Azure Service Operator created for it; nil for other
// Secrets.
func (p Publisher) StoredValue(ctx context.Context, name, key string) ([]byte, error) {
	secret := &corev1.Secret{ObjectMeta: p.newMeta(name)}
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if apierrors.IsNotFound(err) || err == nil && !p.isOwn(secret) && !p.isMadeByASO(secret) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return secret.Data[key], nil
}

// PublishConfigMap creates or updates a ConfigMap.
func (p Publisher) PublishConfigMap(ctx context.Context, name string, data map[string]string) error {
	return p.applyObject(ctx, &corev1.ConfigMap{ObjectMeta: p.newMeta(name), Data: data})
}

func (p Publisher) newMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: p.Owner.GetNamespace(), Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: p.Cluster},
		Annotations: map[string]string{infrav1.PublishedByAnnotation: p.Kind + "/" + p.Owner.GetName()},
	}
}

// applyObject creates or updates a Secret or ConfigMap. It replaces the data, and adds missing labels, annotations and owners. An object
// of the Azure Service Operator gets the keys and stays as it is otherwise. That of any other creator is refused with a
// ForeignObjectError. A current object is not written.
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
	if !mine && !p.isMadeByASO(have) {
		return ForeignObjectError{Kind: kind, Name: key.Name}
	}
	setData(changed, want, !mine)
	if mine {
		changed.SetAnnotations(mergeMaps(changed.GetAnnotations(), want.GetAnnotations()))
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

// isOwn reports whether this controller created an object. Its controller decides, or, if it has none, the provider's annotation:
// backups lose owners. Objects of earlier versions lack the annotation. Their label counts, but only with the provider's own names,
// because Cluster API has users label their Secrets as well.
// https://cluster-api.sigs.k8s.io/tasks/certs/using-custom-certificates
func (p Publisher) isOwn(have client.Object) bool {
	if owner := metav1.GetControllerOf(have); owner != nil {
		return owner.Kind == p.Kind && owner.Name == p.Owner.GetName()
	}
	if by, ok := have.GetAnnotations()[infrav1.PublishedByAnnotation]; ok {
		return by == p.Kind+"/"+p.Owner.GetName()
	}
	return !p.NamedBySpec && have.GetLabels()[clusterv1.ClusterNameLabel] == p.Cluster && !hasPrivateKey(have)
}

// hasPrivateKey reports whether a Secret has a private key, which the provider never publishes.
func hasPrivateKey(have client.Object) bool {
	secret, ok := have.(*corev1.Secret)
	if !ok {
		return false
	}
	key, ok := secret.Data[corev1.TLSPrivateKeyKey]
	return ok && string(key) != NoPrivateKey
}

// NoPrivateKey is published in place of the private key of a certificate authority, which AKS does not reveal. Readers of the Secret
// require the key to exist.
const NoPrivateKey = "foo"

// isMadeByASO reports whether the Azure Service Operator created an object for the AKS cluster of the control plane or for one of
// FormerOwners, before the migration. The established provider gives the ManagedCluster the name of its AzureManagedControlPlane.
func (p Publisher) isMadeByASO(have client.Object) bool {
	former := append([]ASOObject{{Group: "containerservice.azure.com", Kind: "ManagedCluster", Name: p.Owner.GetName()}}, p.FormerOwners...)
	return slices.ContainsFunc(have.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		group, _, _ := strings.Cut(owner.APIVersion, "/")
		return slices.Contains(former, ASOObject{Group: group, Kind: owner.Kind, Name: owner.Name})
	})
}

// setData copies the data of want. Other keys stay if keep is set.
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

// setOwner sets labels, and the control plane as owner. It removes references to the control plane from before it was restored or
// moved, because the garbage collector would delete the object for an owner that does not exist.
func (p Publisher) setOwner(object client.Object, labels map[string]string) error {
	object.SetLabels(mergeMaps(object.GetLabels(), labels))
	object.SetOwnerReferences(slices.DeleteFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.Kind == p.Kind && owner.Name == p.Owner.GetName() && owner.UID != p.Owner.GetUID()
	}))
	return controllerutil.SetControllerReference(p.Owner, object, p.Client.Scheme())
}
