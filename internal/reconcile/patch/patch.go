// Package patch writes what one pass changed on an object: at most one patch of the status and one of the rest, and none
// when nothing changed.
package patch

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// Changes follow what one pass changes on an object.
type Changes struct {
	client      client.Client
	writes      *WriteTracker
	before, obj client.Object
	// finished is set when the pass has looked at everything.
	finished bool
}

// TrackChanges begins to follow the changes of obj, the first of which is that what is stored in an outdated form gets today's.
// written may be nil.
func TrackChanges(c client.Client, writes *WriteTracker, obj client.Object) *Changes {
	changes := &Changes{client: c, writes: writes, before: obj.DeepCopyObject().(client.Object), obj: obj}
	convertToCurrentFormat(obj)
	return changes
}

// Write writes what changed since Follow, or since the last Write.
func (p *Changes) Write(ctx context.Context) error {
	if err := p.patchObject(ctx); err != nil {
		return fmt.Errorf("patch %s: %w", client.ObjectKeyFromObject(p.obj), err)
	}
	p.before = p.obj.DeepCopyObject().(client.Object)
	return nil
}

// StoredObject returns the object as it was last read or written: a copy, in which what is not written yet is missing.
func (p *Changes) StoredObject() client.Object { return p.before.DeepCopyObject().(client.Object) }

// copyWithStatus returns a copy of an object with the status of another one of its kind. Types without a status have nothing to copy.
func copyWithStatus(object, of client.Object) client.Object {
	out := object.DeepCopyObject().(client.Object)
	if status := reflect.ValueOf(out).Elem().FieldByName("Status"); status.IsValid() {
		status.Set(reflect.ValueOf(of.DeepCopyObject()).Elem().FieldByName("Status"))
	}
	return out
}

// StatusError is a write of an object's status that failed. There is no other place where the object could show that.
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

// Unwrap gives the cause.
func (e *StatusError) Unwrap() error { return e.Err }

// observedObject is an object whose status says what of it was looked at.
type observedObject interface {
	GetObserved() *infrav1.ObservedStatus
}

// Finish is Write for the end of a pass that has looked at everything of the object: its generation, and the annotation
// that asks for a pass.
func (p *Changes) Finish(ctx context.Context) error {
	p.finished = true
	p.setObserved(p.obj.GetGeneration())
	return p.Write(ctx)
}

// setObserved notes what the status is about.
func (p *Changes) setObserved(generation int64) {
	if object, ok := p.obj.(observedObject); ok {
		*object.GetObserved() = infrav1.ObservedStatus{
			ObservedGeneration: generation, LastHandledReconcileAt: p.obj.GetAnnotations()[infrav1.ReconcileRequestedAnnotation],
		}
	}
}

// patchObject patches the object, which was read as before. The status goes last, so that whoever reads that something is provisioned
// finds the spec that belongs to it: endpoint and provider ID. Of an object that is being deleted it goes first, because
// removing the last finalizer ends the object, and one that is gone needs no patch. Of one that is not, every failure is
// told: passes write what they are about to make in Azure first.
func (p *Changes) patchObject(ctx context.Context) error {
	c, before, obj := p.client, p.before, p.obj
	truncateMessages(obj)
	deleting := !obj.GetDeletionTimestamp().IsZero()
	gone := func(err error) bool { return deleting && apierrors.IsNotFound(err) }
	statusChanged, restChanged, err := compareObjects(before, obj)
	if err != nil {
		return err
	}
	status := func() error {
		if !statusChanged {
			return nil
		}
		// The answer carries the stored metadata and spec, which must not undo what is patched next.
		written := obj.DeepCopyObject().(client.Object)
		if err := c.Status().Patch(ctx, written, client.MergeFrom(before)); err != nil {
			if gone(err) {
				return nil
			}
			return &StatusError{Object: obj, Err: err}
		}
		p.writes.recordWrite(written)
		p.before = copyWithStatus(p.before, obj)
		return nil
	}
	rest := func() error {
		if !restChanged {
			return nil
		}
		written := obj.DeepCopyObject().(client.Object)
		if err := c.Patch(ctx, written, client.MergeFrom(before)); err != nil {
			if gone(err) {
				return nil
			}
			return err
		}
		p.writes.recordWrite(written)
		p.before = copyWithStatus(obj, p.before)
		if written.GetGeneration() == before.GetGeneration()+1 {
			statusChanged = advanceObservedGeneration(obj, before.GetGeneration(), written.GetGeneration()) || p.finished || statusChanged
			if p.finished {
				p.setObserved(written.GetGeneration())
			}
			// What the pass goes on to say is about what it has just written.
			obj.SetGeneration(written.GetGeneration())
		}
		return nil
	}
	first, last := rest, status
	if deleting {
		first, last = status, rest
	}
	if err := first(); err != nil {
		return err
	}
	return last()
}

// truncateMessages shortens the messages of conditions to what the API server takes. It refuses the whole status otherwise.
func truncateMessages(obj client.Object) {
	setter, ok := obj.(conditions.Setter)
	if !ok {
		return
	}
	list := setter.GetConditions()
	for i := range list {
		list[i].Message = text.Cut(list[i].Message, text.MaxCondition)
	}
}

// advanceObservedGeneration has the conditions that were set for generation from say that they hold for generation to, which the pass itself
// made by writing the spec. Otherwise the next pass would have nothing to say but that. It tells whether any changed.
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

// compareObjects tells whether the status and whether anything else differs.
func compareObjects(before, obj client.Object) (status, rest bool, err error) {
	// Most passes change nothing, and to render two objects for that would be a good part of their work.
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
