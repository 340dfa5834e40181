// Package patch writes the changes of one reconciliation to an object: at most one patch of the status and one of the rest, and none if
// nothing changed. Calls block for these patches and may be repeated.
package patch

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// Changes tracks the changes of one reconciliation to an object.
type Changes struct {
	client      client.Client
	before, obj client.Object
	// finished is set when the reconciliation is complete.
	finished bool
	// isRelated is set if the object is not the one that is reconciled.
	isRelated bool
}

// TrackRelatedChanges is TrackChanges of an object that is written in the reconciliation of another one. The log names both.
func TrackRelatedChanges(c client.Client, obj client.Object) *Changes {
	changes := TrackChanges(c, obj)
	changes.isRelated = true
	return changes
}

// TrackChanges starts to track the changes of obj. Its first change converts outdated formats.
func TrackChanges(c client.Client, obj client.Object) *Changes {
	changes := &Changes{client: c, before: obj.DeepCopyObject().(client.Object), obj: obj}
	convertToCurrentFormat(obj)
	return changes
}

// Write writes the changes since TrackChanges or the last Write. It sets the conditions Reconciling and Stalled.
func (p *Changes) Write(ctx context.Context) error {
	p.setProgress()
	return p.write(ctx)
}

// WriteWithoutStatus is Write for everything but the status, which the next Write sends.
func (p *Changes) WriteWithoutStatus(ctx context.Context) error {
	if _, err := p.patchObject(ctx, false); err != nil {
		return fmt.Errorf("patch %s: %w", client.ObjectKeyFromObject(p.obj), err)
	}
	return nil
}

func (p *Changes) write(ctx context.Context) error {
	written, err := p.patchObject(ctx, true)
	if err != nil {
		return fmt.Errorf("patch %s: %w", client.ObjectKeyFromObject(p.obj), err)
	}
	if !written {
		return nil // Most reconciliations change nothing, and a copy would be a large part of their work.
	}
	p.before = p.obj.DeepCopyObject().(client.Object)
	return nil
}

// StoredObject returns a copy of the object as it was last read or written, without the changes that are not written yet.
func (p *Changes) StoredObject() client.Object { return p.before.DeepCopyObject().(client.Object) }

// copyWithStatus returns a copy of object with the status of another object of its kind. Types without a status are copied as they are.
func copyWithStatus(object, of client.Object) client.Object {
	out := object.DeepCopyObject().(client.Object)
	if status := reflect.ValueOf(out).Elem().FieldByName("Status"); status.IsValid() {
		status.Set(reflect.ValueOf(of.DeepCopyObject()).Elem().FieldByName("Status"))
	}
	return out
}

// StatusError is a failed write of an object's status. The object itself cannot show this error.
type StatusError struct {
	Object client.Object
	Err    error
}

// IsOf reports whether the error is about the status of this object.
func (e *StatusError) IsOf(object client.Object) bool {
	return reflect.TypeOf(e.Object) == reflect.TypeOf(object) && client.ObjectKeyFromObject(e.Object) == client.ObjectKeyFromObject(object)
}

// Error implements error.
func (e *StatusError) Error() string { return "status: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *StatusError) Unwrap() error { return e.Err }

// observedObject has the observed generation in its status.
type observedObject interface {
	GetObserved() *infrav1.ObservedStatus
}

// Finish is Write at the end of a complete reconciliation. It also records the observed generation and the annotation that requests a
// reconciliation.
func (p *Changes) Finish(ctx context.Context) error {
	p.finished = true
	p.setObserved(p.obj.GetGeneration())
	return p.Write(ctx)
}

// setObserved records the generation that the status is about.
func (p *Changes) setObserved(generation int64) {
	if object, ok := p.obj.(observedObject); ok {
		*object.GetObserved() = infrav1.ObservedStatus{
			ObservedGeneration: generation, LastHandledReconcileAt: p.obj.GetAnnotations()[infrav1.ReconcileRequestedAnnotation],
		}
	}
}

// setProgress sets the conditions Reconciling and Stalled.
func (p *Changes) setProgress() {
	object, ok := p.obj.(status.Object)
	if !ok {
		return
	}
	stored, ok := p.before.(observedObject)
	status.SetProgress(object, ok && stored.GetObserved().ObservedGeneration < p.obj.GetGeneration())
}

// patchObject patches the object. The status is written last: a reader that sees the object provisioned then also finds the endpoint
// and provider ID in the spec. For an object that is being deleted the status is written first, because removing the last finalizer
// removes the object; NotFound is then no error. For other objects every failure is returned: plans are recorded before resources are
// created. It reports whether anything had changed.
func (p *Changes) patchObject(ctx context.Context, withStatus bool) (changed bool, err error) {
	c, before, obj := p.client, p.before, p.obj
	truncateMessages(obj)
	keepTransitionTimes(before, obj)
	deleting := !obj.GetDeletionTimestamp().IsZero()
	gone := func(err error) bool { return deleting && apierrors.IsNotFound(err) }
	statusChanged, restChanged, err := compareObjects(before, obj)
	if err != nil || !statusChanged && !restChanged {
		return false, err
	}
	writeStatus := func() error {
		if !statusChanged || !withStatus {
			return nil
		}
		// The response has the stored metadata and spec, which must not undo the next patch. With another version than before, the patch
		// would have it, and fail because of any other write.
		written := obj.DeepCopyObject().(client.Object)
		written.SetResourceVersion(before.GetResourceVersion())
		if err := c.Status().Patch(ctx, written, client.MergeFrom(before)); err != nil {
			if gone(err) {
				return nil
			}
			return &StatusError{Object: obj, Err: err}
		}
		followVersion(written, before, obj)
		p.logConditions(ctx, p.before, obj)
		p.before = copyWithStatus(p.before, obj)
		return nil
	}
	rest := func() error {
		if !restChanged {
			return nil
		}
		written, change := obj.DeepCopyObject().(client.Object), client.MergeFrom(before)
		if before.GetResourceVersion() != "" && !slices.Equal(before.GetFinalizers(), obj.GetFinalizers()) {
			// The patch has the whole list, and other programs may have added theirs since the object was read. A stored object always
			// has a version. Without one, as in plans of manifests, the error would contain the whole object with its secrets.
			change = client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		}
		if err := c.Patch(ctx, written, change); err != nil {
			if gone(err) {
				return nil
			}
			return err
		}
		followVersion(written, obj)
		p.before = copyWithStatus(obj, p.before)
		if written.GetGeneration() == before.GetGeneration()+1 {
			statusChanged = advanceObservedGeneration(obj, before.GetGeneration(), written.GetGeneration()) || p.finished || statusChanged
			if p.finished {
				p.setObserved(written.GetGeneration())
			}
			// Later conditions are about the generation that was just written.
			obj.SetGeneration(written.GetGeneration())
		}
		return nil
	}
	first, last := rest, writeStatus
	if deleting {
		first, last = writeStatus, rest
	}
	if err := first(); err != nil {
		return true, err
	}
	return true, last()
}

// truncateMessages shortens messages of conditions to the limit of the API server, which otherwise refuses the whole status.
func truncateMessages(obj client.Object) {
	setter, ok := obj.(conditions.Setter)
	if !ok {
		return
	}
	list := setter.GetConditions()
	for i := range list {
		list[i].Message = text.Truncate(list[i].Message, text.MaxCondition)
	}
}

// followVersion gives copies of an object the resource version that a write made, unless another program has changed the finalizers
// meanwhile: a later patch of the finalizers then fails, and the object is read again.
func followVersion(written client.Object, copies ...client.Object) {
	for _, each := range copies {
		if slices.Equal(written.GetFinalizers(), each.GetFinalizers()) {
			each.SetResourceVersion(written.GetResourceVersion())
		}
	}
}

// keepTransitionTimes keeps the lastTransitionTime of each condition whose status, reason and message are those of the stored object. A
// reconciliation may set a condition twice, to another status first, and each change sets the time.
func keepTransitionTimes(before, obj client.Object) {
	setter, ok := obj.(conditions.Setter)
	getter, known := before.(conditions.Getter)
	if !ok || !known {
		return
	}
	list := setter.GetConditions()
	for i, is := range list {
		was := conditions.Get(getter, is.Type)
		if was != nil && was.Status == is.Status && was.Reason == is.Reason && was.Message == is.Message {
			list[i].LastTransitionTime = was.LastTransitionTime
		}
	}
	setter.SetConditions(list)
}

// advanceObservedGeneration moves conditions of generation from to generation to, which the reconciliation itself created by writing
// the spec. This saves a reconciliation that would change nothing else. It reports whether any condition changed.
func advanceObservedGeneration(obj client.Object, from, to int64) (changed bool) {
	setter, ok := obj.(conditions.Setter)
	if !ok {
		return false
	}
	list := setter.GetConditions()
	for i := range list {
		if list[i].ObservedGeneration == from {
			list[i].ObservedGeneration, changed = to, true
		}
	}
	setter.SetConditions(list)
	return changed
}

// compareObjects reports whether the status and whether anything else differs.
func compareObjects(before, obj client.Object) (status, rest bool, err error) {
	// Most reconciliations change nothing, and converting two objects would be a large part of their work.
	if reflect.DeepEqual(before, obj) {
		return false, false, nil
	}
	was, err := runtime.DefaultUnstructuredConverter.ToUnstructured(before)
	if err != nil {
		return false, false, err
	}
	is, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return false, false, err
	}
	status = !equality.Semantic.DeepEqual(was["status"], is["status"])
	delete(was, "status")
	delete(is, "status")
	return status, !equality.Semantic.DeepEqual(was, is), nil
}
