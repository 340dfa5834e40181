package webhook

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// Resource types that an object must have a resource manifest of.
const (
	managedClusterType = "Microsoft.ContainerService/managedClusters"
	agentPoolType      = managedClusterType + "/agentPools"
)

// withManifests declares the webhooks of a kind whose objects hold resource manifests. Its templates are not validated, because
// patches of a ClusterClass complete them. New objects are refused while the feature gate is off, because no controller would
// reconcile them; stored ones can still be changed.
//
// made reports whether the status shows resources, also of the established provider.
func withManifests[T client.Object](features plan.Features, spec func(T) any, manifests func(T) []runtime.RawExtension, needs string,
	version func(T) string, made func(T) bool) kind[T] {
	validate := func(obj T) field.ErrorList {
		return asoresource.ValidateManifests(obj.GetNamespace(), manifests(obj), needs, version(obj), features.UncheckedASOKinds)
	}
	return kind[T]{
		spec: spec,
		// An empty function still registers the mutating webhook, which keeps the annotations that an update leaves out.
		defaults: func(T) {},
		ineffective: func(obj T) field.ErrorList {
			return asoresource.FindIneffective(obj.GetNamespace(), manifests(obj), version(obj), features.UncheckedASOKinds)
		},
		create: of(func(obj T) field.ErrorList {
			if !features.ASOAPI {
				return field.ErrorList{field.Forbidden(field.NewPath("spec"),
					"needs the feature gate ASOAPI, which is off. Start the manager with --feature-gates=ASOAPI=true")}
			}
			return validate(obj)
		}),
		update: between(func(old, obj T) field.ErrorList {
			return append(introducedErrors(validate(old), validate(obj)), asoresource.ValidateUpdate(old, made(old), manifests(old), manifests(obj))...)
		}),
		warn: func(_, obj T) admission.Warnings {
			return asoresource.ListWarnings(obj.GetNamespace(), manifests(obj), features.UncheckedASOKinds)
		},
	}
}

func asoClusters(lookup managedLookup, features plan.Features) kind[*infrav1.AzureASOManagedCluster] {
	k := withManifests(features,
		func(o *infrav1.AzureASOManagedCluster) any { return &o.Spec },
		func(o *infrav1.AzureASOManagedCluster) []runtime.RawExtension { return o.Spec.Resources }, "",
		func(*infrav1.AzureASOManagedCluster) string { return "" }, isASOClusterProvisioned)
	manifests, created := k.update, k.create
	k.create = func(ctx context.Context, o *infrav1.AzureASOManagedCluster) (field.ErrorList, error) {
		errs, err := created(ctx, o)
		return append(errs, validateASOIdentity(o)...), err
	}
	k.update = func(ctx context.Context, old, o *infrav1.AzureASOManagedCluster) (field.ErrorList, error) {
		errs, err := manifests(ctx, old, o)
		errs = append(errs, introducedErrors(validateASOIdentity(old), validateASOIdentity(o))...)
		if err != nil {
			return errs, err
		}
		last, err := lookup.keepSystemPool(ctx, o, old.Spec.Resources, o.Spec.Resources, field.NewPath("spec", "resources"))
		return slices.Concat(errs, immutableManifests(old, o), last), err
	}
	k.fill = keepEndpoint(func(o *infrav1.AzureASOManagedCluster) *infrav1.APIEndpoint { return &o.Spec.ControlPlaneEndpoint })
	return k
}

func validateASOIdentity(o *infrav1.AzureASOManagedCluster) field.ErrorList {
	if o.Spec.IdentityRef == nil {
		return nil
	}
	return validateIdentityRef(o.Spec.IdentityRef, field.NewPath("spec", "identityRef"))
}

func isASOClusterProvisioned(o *infrav1.AzureASOManagedCluster) bool {
	return o.Status.Ready || isTrue(o.Status.Initialization.Provisioned)
}

// immutableManifests refuses another subscription or cloud once there are resources. Without a value the subscription is that of the credential
// or of the manager, so it may be named later: the controller compares it with the resources.
func immutableManifests(old, o *infrav1.AzureASOManagedCluster) (errs field.ErrorList) {
	if asoresource.NothingCreated(old) && !isASOClusterProvisioned(old) {
		return nil
	}
	const public = "AzurePublicCloud" // the default
	spec := field.NewPath("spec")
	if old.Spec.SubscriptionID != "" && o.Spec.SubscriptionID != "" {
		errs = refuseMove(old.Spec.SubscriptionID, o.Spec.SubscriptionID, spec.Child("subscriptionID"), "subscriptions")
	}
	return append(errs, refuseMove(cmp.Or(old.Spec.AzureEnvironment, public), cmp.Or(o.Spec.AzureEnvironment, public),
		spec.Child("azureEnvironment"), "clouds")...)
}

func asoControlPlanes(lookup managedLookup, features plan.Features) kind[*infrav1.AzureASOManagedControlPlane] {
	k := withManifests(features,
		func(o *infrav1.AzureASOManagedControlPlane) any { return &o.Spec },
		func(o *infrav1.AzureASOManagedControlPlane) []runtime.RawExtension { return o.Spec.Resources }, managedClusterType,
		func(o *infrav1.AzureASOManagedControlPlane) string { return o.Spec.Version },
		func(o *infrav1.AzureASOManagedControlPlane) bool {
			return o.Status.Initialized || o.Status.Version != ""
		})
	manifests := k.update
	k.update = func(ctx context.Context, old, obj *infrav1.AzureASOManagedControlPlane) (field.ErrorList, error) {
		errs, err := manifests(ctx, old, obj)
		if err != nil {
			return errs, err
		}
		last, err := lookup.keepSystemPool(ctx, obj, old.Spec.Resources, obj.Spec.Resources, field.NewPath("spec", "resources"))
		return slices.Concat(errs, refuseDowngrade(field.NewPath("spec", "version"), old.Spec.Version, obj.Spec.Version, old.Status.Version),
			last), err
	}
	return k
}

// asoPools declares the webhooks of pools of resource manifests. The last pool with mode System of a cluster stays, as for typed pools.
func asoPools(lookup managedLookup, features plan.Features) kind[*infrav1.AzureASOManagedMachinePool] {
	k := withManifests(features,
		func(o *infrav1.AzureASOManagedMachinePool) any { return &o.Spec },
		func(o *infrav1.AzureASOManagedMachinePool) []runtime.RawExtension { return o.Spec.Resources }, agentPoolType,
		func(*infrav1.AzureASOManagedMachinePool) string { return "" },
		func(o *infrav1.AzureASOManagedMachinePool) bool {
			return o.Status.Ready || len(o.Spec.ProviderIDList) > 0
		})
	manifests := k.update
	k.update = func(ctx context.Context, old, o *infrav1.AzureASOManagedMachinePool) (field.ErrorList, error) {
		errs, err := manifests(ctx, old, o)
		if err != nil {
			return errs, err
		}
		path := field.NewPath("spec", "resources")
		if first, ok := asoresource.FirstAgentPool(o.Spec.Resources); ok {
			path = first.Path.Child("spec", "mode")
		}
		last, err := lookup.keepSystemPool(ctx, o, old.Spec.Resources, o.Spec.Resources, path)
		return append(errs, last...), err
	}
	k.remove = func(ctx context.Context, o *infrav1.AzureASOManagedMachinePool) (field.ErrorList, error) {
		return lookup.keepSystemPool(ctx, o, o.Spec.Resources, nil, field.NewPath("metadata", "deletionTimestamp"))
	}
	return k
}
