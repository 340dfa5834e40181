package command

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/doctor"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// source reads identities and their Secrets from manifests, or else from the management cluster. It implements identity.Kubernetes.
type source struct {
	objects []client.Object
	// live is nil if there is no management cluster.
	live client.Client
	// readToken reads the token of a ServiceAccount that the user created. It is nil if tokens are requested of the management cluster.
	readToken func() (string, error)
}

// Get implements client.Reader.
func (s *source) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	kind := kindOf(into)
	for _, object := range s.objects {
		if kindOf(object) != kind || client.ObjectKeyFromObject(object) != key {
			continue
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return err
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(fields, into)
	}
	if s.live == nil {
		return apierrors.NewNotFound(infrav1.GroupVersion.WithResource(kind).GroupResource(), key.String())
	}
	err := s.live.Get(ctx, key, into, options...)
	if _, is := into.(*corev1.ConfigMap); is && err != nil {
		// It is the record of former credentials. One that the user cannot read counts as empty, as it does for the manager.
		return apierrors.NewNotFound(corev1.Resource("configmaps"), key.String())
	}
	return err
}

// kindOf returns the kind of an identity or of a Secret, whose Go types need not have one set.
func kindOf(object client.Object) string {
	switch object.(type) {
	case *infrav1.AzureClusterIdentity:
		return identity.Kind
	case *corev1.Secret:
		return "Secret"
	case *corev1.Namespace:
		return "Namespace"
	case *corev1.ServiceAccount:
		return "ServiceAccount"
	}
	return object.GetObjectKind().GroupVersionKind().Kind
}

// List implements client.Reader. Identities need no list.
func (s *source) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func splitKey(name, namespace string) client.ObjectKey {
	if before, after, has := strings.Cut(name, "/"); has {
		return client.ObjectKey{Namespace: before, Name: after}
	}
	return client.ObjectKey{Namespace: namespace, Name: name}
}

// missingIdentities returns the AzureClusterIdentities that the manifests name and do not have. The plan needs them: one that does not exist
// is represented by an empty one, and its account has the error.
func (s *source) missingIdentities(ctx context.Context, named, namespace string) (out []client.Object) {
	var keys []client.ObjectKey
	for _, object := range s.objects {
		fields, is := object.(*unstructured.Unstructured)
		if !is {
			continue
		}
		if name, _, _ := unstructured.NestedString(fields.Object, "spec", "identityRef", "name"); name != "" {
			of, _, _ := unstructured.NestedString(fields.Object, "spec", "identityRef", "namespace")
			if of == "" {
				of = fields.GetNamespace()
			}
			keys = append(keys, client.ObjectKey{Namespace: of, Name: name})
		}
	}
	if named != "" {
		keys = append(keys, splitKey(named, namespace))
	}
	has := map[client.ObjectKey]bool{}
	for _, object := range s.objects {
		if kindOf(object) == identity.Kind {
			has[client.ObjectKeyFromObject(object)] = true
		}
	}
	for _, key := range keys {
		if has[key] {
			continue
		}
		has[key] = true
		found := &infrav1.AzureClusterIdentity{}
		if err := s.Get(ctx, key, found); err != nil {
			found = &infrav1.AzureClusterIdentity{}
			found.Namespace, found.Name, found.UID = key.Namespace, key.Name, "missing"
			found.Spec = infrav1.AzureClusterIdentitySpec{Type: infrav1.WorkloadIdentity, ClientID: "missing", TenantID: "missing",
				AllowedNamespaces: &infrav1.AllowedNamespaces{}}
		}
		out = append(out, found)
	}
	return out
}

// findAccounts returns the accounts of the clusters of the manifests, each once. options.Tenancy is that of the manager.
func (f *flags) findAccounts(ctx context.Context, e *environment.Environment, options identity.Options, c client.Client, from *source,
	namespace string) (out []doctor.Account, err error) {
	options.Transport = e.Transport
	provider := identity.New(from, options)
	seen := map[string]bool{}
	add := func(ref *corev1.ObjectReference, secret, of, environmentName, subscription string) {
		if f.identity != "" {
			key := splitKey(f.identity, namespace)
			ref, secret = &corev1.ObjectReference{Namespace: key.Namespace, Name: key.Name}, ""
		}
		account := resolve(ctx, provider, options, from, ref, secret, of, environmentName, subscription)
		if key := account.Subject + "|" + account.SubscriptionID; !seen[key] {
			seen[key] = true
			out = append(out, account)
		}
	}
	clusters := &infrav1.AzureClusterList{}
	if err := c.List(ctx, clusters); err != nil {
		return nil, err
	}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		add(cluster.Spec.IdentityRef, "", cluster.Namespace, cluster.Spec.AzureEnvironment, cluster.Spec.SubscriptionID)
	}
	managed := &infrav1.AzureManagedControlPlaneList{}
	if err := c.List(ctx, managed); err != nil {
		return nil, err
	}
	for i := range managed.Items {
		cluster := &managed.Items[i]
		add(cluster.Spec.IdentityRef, "", cluster.Namespace, cluster.Spec.AzureEnvironment, cluster.Spec.SubscriptionID)
	}
	owners := &clusterv1.ClusterList{}
	if err := c.List(ctx, owners); err != nil {
		return nil, err
	}
	for i := range owners.Items {
		members, err := asoresources.GatherMembers(ctx, c, &owners.Items[i])
		if err != nil {
			return nil, err
		}
		if members.Infrastructure == nil {
			continue
		}
		request := members.AccessRequest(asoresources.ClusterKind, members.Infrastructure)
		add(request.IdentityRef, request.Secret, owners.Items[i].Namespace, request.Environment, request.SubscriptionID)
	}
	return out, nil
}

// resolve returns the account of an identity or of a Secret.
func resolve(ctx context.Context, provider *identity.Provider, options identity.Options, from *source, ref *corev1.ObjectReference,
	secret, namespace, environmentName, subscription string) doctor.Account {
	out := doctor.Account{Identity: &infrav1.AzureClusterIdentity{}}
	out.Cloud, _, out.Err = options.CloudConfiguration(environmentName)
	if out.Err != nil {
		out.Subject = "azureEnvironment " + environmentName
		return out
	}
	var resolved *identity.Resolved
	if ref == nil && secret != "" {
		key := client.ObjectKey{Namespace: namespace, Name: secret}
		out.Subject = "Secret " + key.String()
		resolved, out.SubscriptionID, out.Err = provider.ResolveSecret(ctx, key, environmentName)
		stored := &corev1.Secret{}
		if err := from.Get(ctx, key, stored); err == nil {
			if former, is := identity.FormerOfSecret(stored); is {
				out.Identity.Namespace, out.Identity.Spec.Type = key.Namespace, former.Type
				out.Identity.Spec.TenantID, out.Identity.Spec.ClientID = former.TenantID, former.ClientID
				out.ServiceAccount = findServiceAccount(ctx, provider, out.Identity, former)
			}
		}
	} else {
		out.Subject = identity.Kind
		if ref != nil {
			key := splitKey(ref.Name, namespace)
			if ref.Namespace != "" {
				key.Namespace = ref.Namespace
			}
			out.Subject += " " + key.String()
		}
		if found, err := provider.GetIdentity(ctx, ref, namespace); err == nil {
			out.Identity = found
			out.ServiceAccount = findServiceAccount(ctx, provider, found, identity.FormerOf(found))
		}
		resolved, out.Err = provider.Resolve(ctx, ref, namespace, environmentName)
		if out.Err == nil {
			out.SubscriptionID, out.Err = provider.ResolveSubscription(subscription)
		}
	}
	if resolved != nil {
		out.Identity, out.Credential = resolved.Identity, resolved.Credential
	}
	out.Fix = fixRefusal(&out)
	return out
}
