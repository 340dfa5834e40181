package asoresources

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// asoKind is a kind with resource manifests, with the finalizer that its objects have while they may have resources in Azure.
type asoKind struct {
	name, finalizer string
	list            func() client.ObjectList
}

var allKinds = []asoKind{
	{ClusterKind, infrav1.ASOManagedFinalizer, func() client.ObjectList { return &infrav1.AzureASOManagedClusterList{} }},
	{ControlPlaneKind, infrav1.ASOManagedControlPlaneFinalizer,
		func() client.ObjectList { return &infrav1.AzureASOManagedControlPlaneList{} }},
	{MachinePoolKind, infrav1.ASOManagedFinalizer, func() client.ObjectList { return &infrav1.AzureASOManagedMachinePoolList{} }},
}

// forEachObject calls do with the objects of the kind in a namespace, until do returns an error. They are the cache's own: do must not
// change them.
func (k asoKind) forEachObject(ctx context.Context, c client.Reader, namespace string, do func(client.Object) error) error {
	list := k.list()
	if err := c.List(ctx, list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list %ss: %w", k.name, err)
	}
	return meta.EachListItem(list, func(item runtime.Object) error { return do(item.(client.Object)) })
}

// FindCredentialUsers returns the objects that use the credential of a Secret of their namespace and may have resources in Azure, as
// "AzureASOManagedCluster ns/c1", at most limit of them.
func FindCredentialUsers(ctx context.Context, c client.Reader, secret client.ObjectKey, limit int) ([]string, error) {
	var out []string
	for _, kind := range allKinds {
		err := kind.forEachObject(ctx, c, secret.Namespace, func(object client.Object) error {
			if len(out) >= limit || !slices.Contains(object.GetFinalizers(), kind.finalizer) {
				return nil
			}
			members, _, err := findMembers(ctx, c, object, kind.name)
			if err == nil && members != nil && members.AccessRequest(kind.name, object).Secret == secret.Name {
				out = append(out, kind.name+" "+secret.Namespace+"/"+object.GetName())
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// IsNamedAsCredential reports whether objects of the namespace may use the credential of a Secret: a manifest names it, or it has the
// default name.
func IsNamedAsCredential(ctx context.Context, c client.Reader, secret client.ObjectKey) (bool, error) {
	names := false
	for _, kind := range allKinds {
		err := kind.forEachObject(ctx, c, secret.Namespace, func(object client.Object) error {
			names = names || secret.Name == DefaultCredential ||
				slices.Contains(namedCredentials(manifestsContaining(manifestsOf(object), secret.Name)), secret.Name)
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return names, nil
}

// CredentialNames returns the Secrets that the manifests of an object name as credentials, and the default one.
func CredentialNames(object client.Object) []string {
	return append(namedCredentials(manifestsContaining(manifestsOf(object), plan.CredentialAnnotation)), DefaultCredential)
}

func namedCredentials(resources []runtime.RawExtension) []string {
	var out []string
	manifests, _ := plan.ReadManifests("", resources)
	for _, d := range manifests {
		if name := d.Annotations[plan.CredentialAnnotation]; name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// CredentialSecrets returns the Secrets of the Cluster's namespace that the members sign in with, each with the subscription of the nodes of
// its pools; "" if they have none.
func (m *Members) CredentialSecrets() map[string]string {
	out := map[string]string{}
	add := func(kind string, object client.Object, providerIDs ...string) {
		name, subscription := m.AccessRequest(kind, object).Secret, ""
		for _, id := range providerIDs {
			subscription = cmp.Or(subscription, arm.ID(strings.TrimPrefix(id, "azure://")).Subscription())
		}
		if name != "" {
			out[name] = cmp.Or(out[name], subscription)
		}
	}
	if m.Infrastructure != nil {
		add(ClusterKind, m.Infrastructure)
	}
	if m.ControlPlane != nil {
		add(ControlPlaneKind, m.ControlPlane)
	}
	for _, pool := range m.Pools {
		add(MachinePoolKind, pool.Pool, pool.Pool.Spec.ProviderIDList...)
	}
	return out
}
