package tracing

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// maxLinks limits the operations that one reconciliation links to, and maxObjects the objects with links: an object that is never
// reconciled again keeps its links.
const (
	maxLinks   = 16
	maxObjects = 10_000
)

// Tracer starts the spans of reconciliations, and those of operations. A nil Tracer records nothing. It is safe for concurrent use.
type Tracer struct {
	tracer trace.Tracer

	mu sync.Mutex
	// links holds, by object, the operations that have ended since its last reconciliation.
	links map[string][]trace.Link
}

// NewTracer returns a tracer that records spans with a provider.
func NewTracer(provider trace.TracerProvider) *Tracer {
	return &Tracer{tracer: provider.Tracer(scope), links: map[string][]trace.Link{}}
}

// Reconciliation is the object that a reconciliation is for.
type Reconciliation struct{ Kind, Namespace, Name string }

// object is the object as operations name it.
func (r Reconciliation) object() string { return r.Kind + "/" + r.Namespace + "/" + r.Name }

// StartReconciliation starts the span of a reconciliation, with links to the operations that have woken the object.
func (t *Tracer) StartReconciliation(ctx context.Context, r Reconciliation) (context.Context, trace.Span) {
	if t == nil {
		return ctx, trace.SpanFromContext(ctx)
	}
	return t.tracer.Start(ctx, "Reconcile "+r.Kind, trace.WithNewRoot(), trace.WithLinks(t.takeLinks(r.object())...),
		trace.WithAttributes(keyKind.String(r.Kind), keyNamespace.String(r.Namespace), keyObject.String(r.Name)))
}

// EndReconciliation ends the span of a reconciliation with its result.
func (t *Tracer) EndReconciliation(span trace.Span, result string, err error) {
	if t == nil {
		return
	}
	span.SetAttributes(keyResult.String(result))
	EndStage(span, err)
}

// Operation is an operation that Azure has finished.
type Operation struct {
	Method string
	ID     arm.ID
	Took   time.Duration
	Err    error
	// WaitingObjects are the objects that are reconciled because of its end, as Kind/namespace/name.
	WaitingObjects []string
}

// RecordOperation records the span of an operation below the span of the reconciliation that began it, which is that of the context. The
// next reconciliation of each waiting object links to it.
func (t *Tracer) RecordOperation(ctx context.Context, o Operation) {
	if t == nil || ctx == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return
	}
	ended := time.Now()
	_, span := t.tracer.Start(ctx, "operation "+TypeName(o.ID), trace.WithTimestamp(ended.Add(-o.Took)),
		trace.WithAttributes(keyMethod.String(o.Method), keyResourceID.String(string(o.ID))))
	setError(span, o.Err)
	span.End(trace.WithTimestamp(ended))
	t.addLink(o.WaitingObjects, trace.Link{SpanContext: span.SpanContext()})
}

func (t *Tracer) addLink(objects []string, link trace.Link) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, object := range objects {
		if existing := t.links[object]; len(existing) < maxLinks && (existing != nil || len(t.links) < maxObjects) {
			t.links[object] = append(existing, link)
		}
	}
}

func (t *Tracer) takeLinks(object string) []trace.Link {
	t.mu.Lock()
	defer t.mu.Unlock()
	links := t.links[object]
	delete(t.links, object)
	return links
}
