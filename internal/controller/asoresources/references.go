package asoresources

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// MapSecret maps a Secret to the objects of kind in its namespace that depend on it: their manifests, or those that they read, name it
// as credential or refer to its values.
func MapSecret(c client.Reader, kind string) func(context.Context, client.Object) []ctrl.Request {
	return mapReferenced(c, kind, func(manifests []plan.Manifest, name string) bool {
		if name == DefaultCredential ||
			slices.ContainsFunc(manifests, func(d plan.Manifest) bool { return d.Annotations[plan.CredentialAnnotation] == name }) {
			return true
		}
		secrets, _ := plan.ListReferencedKeys(plan.Input{Set: plan.NewSet("", manifests, false)})
		return slices.ContainsFunc(secrets, func(ref aso.KeyRef) bool { return ref.Name == name })
	})
}

// MapConfigMap is MapSecret for a ConfigMap.
func MapConfigMap(c client.Reader, kind string) func(context.Context, client.Object) []ctrl.Request {
	return mapReferenced(c, kind, func(manifests []plan.Manifest, name string) bool {
		_, configMaps := plan.ListReferencedKeys(plan.Input{Set: plan.NewSet("", manifests, false)})
		return slices.ContainsFunc(configMaps, func(ref aso.KeyRef) bool { return ref.Name == name })
	})
}

// mapReferenced maps an object to the objects of kind that read manifests which name it. A control plane is created with its pools and
// may use their credential, so manifests of the other kinds count too.
func mapReferenced(c client.Reader, kind string, names func(manifests []plan.Manifest, name string) bool) func(context.Context,
	client.Object) []ctrl.Request {
	wakes := MapToKind(c, kind)
	return func(ctx context.Context, named client.Object) []ctrl.Request {
		var out []ctrl.Request
		add := func(request ctrl.Request) {
			if !slices.Contains(out, request) {
				out = append(out, request)
			}
		}
		for _, of := range allKinds {
			err := of.forEachObject(ctx, c, named.GetNamespace(), func(object client.Object) error {
				resources := manifestsContaining(manifestsOf(object), named.GetName())
				if manifests, _ := plan.ReadManifests("", resources); len(manifests) == 0 || !names(manifests, named.GetName()) {
					return nil
				}
				if of.name == kind {
					add(ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)})
					return nil
				}
				for _, request := range wakes(ctx, object) {
					add(request)
				}
				return nil
			})
			if err != nil {
				ctrl.LoggerFrom(ctx).Error(err, "find the objects whose resource manifests refer to another one")
			}
		}
		return out
	}
}

// manifestsContaining returns the manifests that contain a text in quotes, which are few: decoding all of them is expensive if there
// are many Secrets. A manifest need not name the default credential, so all are returned for it.
func manifestsContaining(resources []runtime.RawExtension, text string) []runtime.RawExtension {
	if text == DefaultCredential {
		return resources
	}
	quoted := []byte(strconv.Quote(text))
	return slices.DeleteFunc(slices.Clone(resources), func(r runtime.RawExtension) bool { return !bytes.Contains(r.Raw, quoted) })
}

func manifestsOf(obj client.Object) []runtime.RawExtension {
	switch obj := obj.(type) {
	case *infrav1.AzureASOManagedCluster:
		return obj.Spec.Resources
	case *infrav1.AzureASOManagedControlPlane:
		return obj.Spec.Resources
	case *infrav1.AzureASOManagedMachinePool:
		return obj.Spec.Resources
	}
	return nil
}
