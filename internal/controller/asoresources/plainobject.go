package asoresources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// plainFieldManager is the field manager of plain objects.
const plainFieldManager = "cluster-api-provider-azure"

// plainRetryInterval is how often a plain object is read while it is not ready. The manager has no permission to watch its kind.
const plainRetryInterval = 20 * time.Second

// ReconcilePlainObjects applies the plain objects of an object's manifests, and deletes applied objects that are no longer in a
// manifest. A problem with one object is in its status. The error is a failure of the manager itself.
func ReconcilePlainObjects(ctx context.Context, c client.Client, session reconcile.Session, owner client.Object,
	in plan.Input) ([]infrav1.ASOResourceStatus, error) {
	known := rememberedObjects(owner)
	if len(in.PlainObjects) == 0 && len(known) == 0 {
		return nil, nil
	}
	k, all := plainObjectClient{Client: c, owner: owner}, slices.Clone(known)
	if session.Observing {
		return k.readObjects(ctx, session, in), nil
	}
	var out []infrav1.ASOResourceStatus
	for i, p := range in.PlainObjects {
		out = append(out, newStatus(p.GroupVersionKind, p.Name))
		// An object that cannot be read is not created, and need not be deleted when its manifest is removed.
		if out[i].Reason, out[i].Message = k.findObstacle(ctx, p); out[i].Reason == "" &&
			!slices.Contains(all, plainObjectName(p.GroupVersionKind, p.Name)) {
			all = append(all, plainObjectName(p.GroupVersionKind, p.Name))
		}
	}
	// An object that is recorded before it is created is deleted even if a later write fails.
	if rememberObjects(owner, all) {
		if err := session.Store(ctx); err != nil {
			return out, fmt.Errorf("remember objects of Kubernetes: %w", err)
		}
	}
	for i, p := range in.PlainObjects {
		if out[i].Reason == "" {
			out[i].Ready, out[i].Reason, out[i].Message = k.applyObject(ctx, p)
		}
	}
	left := slices.DeleteFunc(all, func(name string) bool {
		kind, called, ok := parsePlainObjectName(name)
		if !ok {
			return true
		}
		same := func(p plan.PlainObject) bool { return p.GroupKind() == kind.GroupKind() && p.Name == called }
		if i := slices.IndexFunc(in.PlainObjects, same); i >= 0 {
			is := plainObjectName(in.PlainObjects[i].GroupVersionKind, called) // Another version of a kind is the same object.
			return name != is && slices.Contains(known, is)
		}
		gone, message := k.deleteObject(ctx, kind, called)
		if !gone {
			status := newStatus(kind, called)
			status.Reason, status.Message = infrav1.DeletingReason, message
			out = append(out, status)
		}
		return gone
	})
	rememberObjects(owner, left)
	return out, nil
}

// readObjects reports the plain objects of an observed object. They are not applied, because their controllers may write to Azure.
func (k plainObjectClient) readObjects(ctx context.Context, session reconcile.Session, in plan.Input) (out []infrav1.ASOResourceStatus) {
	for _, p := range in.PlainObjects {
		status := newStatus(p.GroupVersionKind, p.Name)
		have, reason, err := k.getObject(ctx, p.GroupVersionKind, p.Name)
		switch {
		case err != nil:
			status.Reason, status.Message = reason, err.Error()
		case have == nil:
			status.Reason, status.Message = infrav1.ObservingReason, "is not created while its owner is observed"
			session.Intend("create " + p.Kind + " " + p.Name + " in Kubernetes")
		default:
			status.Ready, status.Reason, status.Message = readReadiness(have)
		}
		out = append(out, status)
	}
	return out
}

func newStatus(kind schema.GroupVersionKind, name string) infrav1.ASOResourceStatus {
	return infrav1.ASOResourceStatus{Resource: infrav1.ASOResource{Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Name: name}}
}

// ValidFor returns how long the reported state is valid: for a short time while a plain object is not ready. 0 means until the next
// sync.
func ValidFor(plain []infrav1.ASOResourceStatus, holds time.Duration) time.Duration {
	late := slices.ContainsFunc(plain, func(s infrav1.ASOResourceStatus) bool { return !s.Ready })
	if late && (holds == 0 || holds > plainRetryInterval) {
		return plainRetryInterval
	}
	return holds
}

func plainObjectName(kind schema.GroupVersionKind, name string) string {
	return kind.Kind + "." + kind.Version + "." + kind.Group + "/" + name
}

func parsePlainObjectName(text string) (kind schema.GroupVersionKind, name string, ok bool) {
	full, name, found := strings.Cut(text, "/")
	parsed, _ := schema.ParseKindArg(full)
	if !found || parsed == nil || plan.IsProtectedGroup(parsed.Group) {
		return kind, "", false // The annotation was written by a user who may not have permission for this kind.
	}
	return *parsed, name, true
}

func rememberedObjects(owner client.Object) []string {
	return strings.FieldsFunc(owner.GetAnnotations()[infrav1.PlainObjectsAnnotation], func(r rune) bool { return r == ';' })
}

func rememberObjects(owner client.Object, names []string) bool {
	return patch.SetAnnotations(owner, map[string]string{infrav1.PlainObjectsAnnotation: strings.Join(names, ";")})
}

// plainObjectClient writes objects in the namespace of their owner only.
type plainObjectClient struct {
	client.Client
	owner client.Object
}

// findObstacle explains why an object cannot be created; reason is "" if it can.
func (k plainObjectClient) findObstacle(ctx context.Context, p plan.PlainObject) (reason, message string) {
	have, reason, err := k.getObject(ctx, p.GroupVersionKind, p.Name)
	switch {
	case err != nil:
		return reason, err.Error()
	case have != nil && !metav1.IsControlledBy(have, k.owner):
		return infrav1.ResourceExistsNotOwnedReason, "already exists and was not created for this manifest, so it is left alone. Delete it, or choose another name in the manifest"
	}
	return "", ""
}

// applyObject applies an object as its manifest has it.
func (k plainObjectClient) applyObject(ctx context.Context, p plan.PlainObject) (ready bool, reason, message string) {
	kind, err := k.GroupVersionKindFor(k.owner)
	if err != nil {
		return false, infrav1.FailedReason, err.Error()
	}
	applied := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(p.Object)}
	applied.SetNamespace(k.owner.GetNamespace())
	applied.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(k.owner, kind)})
	if err := k.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(plainFieldManager),
		client.ForceOwnership); err != nil {
		return false, infrav1.FailedReason, explainForbidden(err).Error()
	}
	return readReadiness(applied)
}

// deleteObject deletes an object that was created for a manifest.
func (k plainObjectClient) deleteObject(ctx context.Context, kind schema.GroupVersionKind, name string) (gone bool, message string) {
	have, reason, err := k.getObject(ctx, kind, name)
	switch {
	case err != nil && reason != infrav1.FailedReason: // Its kind is not installed, or cannot have been created.
		return true, ""
	case err == nil && (have == nil || !metav1.IsControlledBy(have, k.owner)):
		return true, ""
	case err != nil:
		return false, err.Error()
	}
	if have.GetDeletionTimestamp().IsZero() {
		if err := k.Delete(ctx, have, client.Preconditions{UID: new(have.GetUID())}); client.IgnoreNotFound(err) != nil {
			return false, explainForbidden(err).Error()
		}
	}
	return false, "is being deleted"
}

// getObject reads an object from the API server, or nil if there is none. Every write is preceded by it.
func (k plainObjectClient) getObject(ctx context.Context, kind schema.GroupVersionKind, name string) (have *unstructured.Unstructured,
	reason string, err error) {
	mapping, err := k.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	switch {
	case meta.IsNoMatchError(err):
		return nil, infrav1.WaitingReason, fmt.Errorf("waits for the definition of its kind: %w", err)
	case err != nil:
		return nil, infrav1.FailedReason, err
	case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		return nil, infrav1.InvalidConfigurationReason, errors.New("is cluster-scoped. Manifests can only create objects in the namespace of their owner")
	}
	have = &unstructured.Unstructured{}
	have.SetGroupVersionKind(kind)
	if err := k.Get(ctx, client.ObjectKey{Namespace: k.owner.GetNamespace(), Name: name}, have); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, "", nil
		}
		return nil, infrav1.FailedReason, explainForbidden(err)
	}
	return have, "", nil
}

// explainForbidden adds the missing permissions to an error.
func explainForbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("needs rights that the manager lacks in this namespace. Grant the manager get, create, patch and delete on this kind: %w", err)
	}
	return err
}

// readReadiness reads the Ready condition of an object. An object without one is ready once its controller has observed its generation,
// if the controller reports that.
func readReadiness(o *unstructured.Unstructured) (ready bool, reason, message string) {
	status, _, _ := unstructured.NestedMap(o.Object, "status")
	if seen, ok := status["observedGeneration"].(int64); ok && seen < o.GetGeneration() {
		return false, infrav1.WaitingReason, "its controller has not observed it yet"
	}
	conditions, _ := status["conditions"].([]any)
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if condition["type"] != "Ready" {
			continue
		}
		seen, ok := condition["observedGeneration"].(int64)
		switch {
		case ok && seen < o.GetGeneration():
			return false, infrav1.WaitingReason, "its controller has not observed it yet"
		case condition["status"] == "True":
			return true, "", ""
		}
		message, _ := condition["message"].(string)
		return false, infrav1.WaitingReason, "is not ready: " + message
	}
	return true, "", ""
}
