package tracing

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// scope names the instrumented library in spans.
const scope = "cluster-api-provider-azure"

// Span is a span of OpenTelemetry.
type Span = trace.Span

// Keys of attributes. Those of OpenTelemetry's conventions have its names; the others begin with capz or azure.
const (
	keyKind       = attribute.Key("capz.kind")
	keyObject     = attribute.Key("capz.object")
	keyResult     = attribute.Key("capz.result")
	keyNamespace  = attribute.Key("k8s.namespace.name")
	keyErrorType  = attribute.Key("error.type")
	keyMethod     = attribute.Key("http.request.method")
	keyStatus     = attribute.Key("http.response.status_code")
	keyResourceID = attribute.Key("azure.resource.id")
	keyRequestID  = attribute.Key("az.service_request_id")
)

// StartStage starts the span of a stage below the span of the context. The caller ends it. Without a recorded span in the context it
// returns the context and a span without effect.
func StartStage(ctx context.Context, name string) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.SpanContext().IsSampled() {
		return ctx, parent
	}
	return parent.TracerProvider().Tracer(scope).Start(ctx, name)
}

// EndStage ends the span of a stage with its error. It is meant for spans of StartStage: the span of a context without recording is left
// alone.
func EndStage(span trace.Span, err error) {
	if !span.IsRecording() {
		return
	}
	setError(span, err)
	span.End()
}

// StartRequest starts the span of a request to Azure below the span of the context, like StartStage. A request may outlive its
// reconciliation, so the span above may have ended.
func StartRequest(ctx context.Context, method string, id arm.ID) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.SpanContext().IsSampled() {
		return ctx, parent
	}
	return parent.TracerProvider().Tracer(scope).Start(ctx, method+" "+TypeName(id), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(keyMethod.String(method), keyResourceID.String(string(id))))
}

// EndRequest ends the span of a request with the status and the request ID of Azure's answer; 0 and "" mean that there was none.
func EndRequest(span trace.Span, status int, requestID string, err error) {
	if !span.IsRecording() {
		return
	}
	if status != 0 {
		span.SetAttributes(keyStatus.Int(status))
	}
	if requestID != "" {
		span.SetAttributes(keyRequestID.String(requestID))
	}
	setError(span, err)
	span.End()
}

// setError marks a span as failed, with Azure's code. The text of an error is in conditions and logs. It may repeat values that users
// wrote.
func setError(span trace.Span, err error) {
	if err == nil {
		return
	}
	kind := "other"
	var refused *arm.Error
	switch {
	case errors.As(err, &refused) && refused.Code != "":
		kind = refused.Code
	case errors.Is(err, context.Canceled):
		kind = "canceled"
	}
	span.SetAttributes(keyErrorType.String(kind))
	span.SetStatus(codes.Error, kind)
}

// maxTypeName limits the name of a type: users write IDs, too.
const maxTypeName = 100

// TypeName returns the type of a resource, or of the elements of a collection. It has few values, so it can be part of a span's name.
func TypeName(id arm.ID) string {
	found := id.Type()
	if found == "" {
		found = (id + "/any").Type()
	}
	if found == "" || len(found) > maxTypeName {
		return "other"
	}
	return found
}
