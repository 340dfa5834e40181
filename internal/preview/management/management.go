// Package management reads the objects of a plan from a management cluster.
//
// It lists and gets objects and writes nothing. It reads no Secret.
package management

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/owner"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

// pageSize is the page size of lists from the API server, and maxObjects bounds the objects that are read.
const (
	pageSize   = 500
	maxObjects = 100000
)

// Scope selects objects.
type Scope struct {
	// Namespace is that of the objects; "" is all.
	Namespace string
	// Cluster is the name of a Cluster; "" is all.
	Cluster string
}

// Objects are the objects of a management cluster that a plan needs.
type Objects struct {
	Items []client.Object
	// Notes name the objects that could not be read.
	Notes []string
}

// Reader reads objects. Its scheme has the kinds of Kubernetes, of Cluster API and of this provider.
type Reader interface {
	client.Reader
	Scheme() *runtime.Scheme
}

// Read reads the objects of a scope.
func Read(ctx context.Context, c Reader, scope Scope) (*Objects, error) {
	out := &Objects{}
	kinds := append(kubernetes.WatchedKinds(), &clusterv1.MachineDeployment{})
	for _, kind := range kinds {
		gvk, err := apiutil.GVKForObject(kind, c.Scheme())
		if err != nil {
			return nil, err
		}
		list, err := c.Scheme().New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if err != nil {
			return nil, err
		}
		in := scope.Namespace
		if gvk.Kind == "AzureClusterIdentity" {
			in = "" // Identities may be in other namespaces than those who use them.
		}
		if err := out.readList(ctx, c, list.(client.ObjectList), gvk.Kind, in, scope.Namespace); err != nil {
			return nil, err
		}
	}
	controlPlanes := &unstructured.UnstructuredList{}
	controlPlanes.SetGroupVersionKind(kubernetes.ControlPlaneKind.GroupVersion().WithKind(kubernetes.ControlPlaneKind.Kind + "List"))
	if err := out.readList(ctx, c, controlPlanes, kubernetes.ControlPlaneKind.Kind, scope.Namespace, ""); err != nil {
		return nil, err
	}
	if scope.Cluster != "" {
		out.Items = slices.DeleteFunc(out.Items, func(o client.Object) bool { return !belongsTo(o, scope.Cluster) })
		if !slices.ContainsFunc(out.Items, func(o client.Object) bool { _, is := o.(*clusterv1.Cluster); return is }) {
			return nil, fmt.Errorf("there is no Cluster %s in namespace %s", scope.Cluster, scope.Namespace)
		}
	}
	return out, out.readNamespaces(ctx, c)
}

// readList reads one kind. A kind that is not installed has no objects. If all namespaces may not be listed, one is.
func (o *Objects) readList(ctx context.Context, c Reader, list client.ObjectList, kind, namespace, otherwise string) error {
	err := o.readPages(ctx, c, list, namespace)
	if apierrors.IsForbidden(err) && namespace == "" && otherwise != "" {
		err = o.readPages(ctx, c, list, otherwise)
	}
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil
	}
	if apierrors.IsForbidden(err) && kind == kubernetes.ControlPlaneKind.Kind {
		o.Notes = append(o.Notes, "KubeadmControlPlanes cannot be read, so the plan has no new control plane machines.")
		return nil
	}
	if err != nil {
		return fmt.Errorf("list %s: %w", kind, err)
	}
	return nil
}

// readPages adds the objects of a list, page by page.
func (o *Objects) readPages(ctx context.Context, c Reader, list client.ObjectList, namespace string) error {
	for {
		err := c.List(ctx, list, client.InNamespace(namespace), client.Limit(pageSize), client.Continue(list.GetContinue()))
		if err != nil {
			return err
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			o.Items = append(o.Items, item.DeepCopyObject().(client.Object))
			return nil
		}); err != nil {
			return err
		}
		if len(o.Items) > maxObjects {
			return fmt.Errorf("there are more than %d objects. Plan one namespace at a time", maxObjects)
		}
		if list.GetContinue() == "" {
			return nil
		}
	}
}

// OfCluster returns the objects from which a plan of one Cluster is computed: its own, and those that it may use.
func (o *Objects) OfCluster(key client.ObjectKey) (out []client.Object) {
	for _, object := range o.Items {
		switch object.(type) {
		case *corev1.Namespace, *infrav1.AzureClusterIdentity:
			out = append(out, object)
			continue
		case *corev1.Secret:
			if object.GetNamespace() == key.Namespace {
				out = append(out, object)
			}
			continue
		}
		if object.GetNamespace() == key.Namespace && belongsTo(object, key.Name) {
			out = append(out, object)
		}
	}
	return out
}

// belongsTo reports whether an object is a Cluster, belongs to it, or is of no Cluster, as identities and templates.
func belongsTo(object client.Object, cluster string) bool {
	switch o := object.(type) {
	case *clusterv1.Cluster:
		return o.Name == cluster
	case *clusterv1.Machine:
		return o.Spec.ClusterName == cluster
	case *clusterv1.MachinePool:
		return o.Spec.ClusterName == cluster
	case *clusterv1.MachineDeployment:
		return o.Spec.ClusterName == cluster
	case *infrav1.AzureClusterIdentity, *infrav1.AzureMachineTemplate:
		return true
	}
	if of, has := object.GetLabels()[clusterv1.ClusterNameLabel]; has {
		return of == cluster
	}
	return owner.HasCluster(object, cluster)
}

// readNamespaces adds the namespaces of the objects with their labels, which decide who may use an identity, and placeholders for the
// Secrets with bootstrap data.
func (o *Objects) readNamespaces(ctx context.Context, c Reader) error {
	seen := map[string]bool{}
	for _, object := range slices.Clone(o.Items) {
		name := object.GetNamespace()
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		namespace := &corev1.Namespace{}
		err := c.Get(ctx, client.ObjectKey{Name: name}, namespace)
		switch {
		case apierrors.IsForbidden(err):
			o.Notes = append(o.Notes, fmt.Sprintf("Namespace %s cannot be read. Identities that select namespaces by labels count as not allowed for it.", name))
			namespace.Name, namespace.UID = name, "unknown"
		case err != nil:
			return fmt.Errorf("get Namespace %s: %w", name, err)
		}
		o.Items = append(o.Items, namespace)
	}
	o.addSecrets()
	return nil
}

// addSecrets adds placeholders for bootstrap data. Azure never returns the data, so that no write depends on it but that of a new machine.
func (o *Objects) addSecrets() {
	seen := map[client.ObjectKey]bool{}
	add := func(namespace string, name *string) {
		if name == nil || *name == "" || seen[client.ObjectKey{Namespace: namespace, Name: *name}] {
			return
		}
		seen[client.ObjectKey{Namespace: namespace, Name: *name}] = true
		secret := &corev1.Secret{Data: map[string][]byte{"value": []byte("#cloud-config\n"), "format": []byte("cloud-config")}}
		secret.Namespace, secret.Name = namespace, *name
		o.Items = append(o.Items, secret)
	}
	for _, object := range slices.Clone(o.Items) {
		switch object := object.(type) {
		case *clusterv1.Machine:
			add(object.Namespace, object.Spec.Bootstrap.DataSecretName)
		case *clusterv1.MachinePool:
			add(object.Namespace, object.Spec.Template.Spec.Bootstrap.DataSecretName)
		}
	}
}
