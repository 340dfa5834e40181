package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// exporter sends spans by OTLP over HTTP, encoded as JSON. OpenTelemetry's own exporters link gRPC: the manager would be 14 MB larger, and
// take 7 MiB more memory even while traces are off (docs/design/performance.md).
// https://opentelemetry.io/docs/specs/otlp/#otlphttp
type exporter struct {
	options Options
	http    *http.Client
}

// ExportSpans implements sdktrace.SpanExporter. Spans that the collector does not accept are lost: a trace is no record.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := json.Marshal(encodeSpans(spans))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.options.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for key, value := range e.options.Headers {
		request.Header.Set(key, value)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := e.http.Do(request)
	if err != nil {
		return fmt.Errorf("send traces: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // So that the connection can be used again.
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("send traces: the collector answers with status %d", answer.StatusCode)
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.http.CloseIdleConnections()
	return nil
}

// The messages of OTLP, with the names of its JSON encoding: IDs are hexadecimal, 64-bit numbers are strings.
type (
	tracesData struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   attributes   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	attributes struct {
		Attributes []keyValue `json:"attributes,omitempty"`
	}
	scopeSpans struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []spanData `json:"spans"`
	}
	spanData struct {
		TraceID           string     `json:"traceId"`
		SpanID            string     `json:"spanId"`
		ParentSpanID      string     `json:"parentSpanId,omitempty"`
		Name              string     `json:"name"`
		Kind              int        `json:"kind"`
		StartTimeUnixNano string     `json:"startTimeUnixNano"`
		EndTimeUnixNano   string     `json:"endTimeUnixNano"`
		Attributes        []keyValue `json:"attributes,omitempty"`
		Links             []linkData `json:"links,omitempty"`
		Status            statusData `json:"status"`
	}
	linkData struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
	}
	statusData struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// encodeSpans returns spans as OTLP has them. All spans of one process have one resource and one scope.
func encodeSpans(spans []sdktrace.ReadOnlySpan) tracesData {
	scoped := scopeSpans{}
	scoped.Scope.Name = scope
	for _, span := range spans {
		scoped.Spans = append(scoped.Spans, encodeSpan(span))
	}
	var of attributes
	if found := spans[0].Resource(); found != nil {
		of.Attributes = encodeAttributes(found.Attributes())
	}
	return tracesData{ResourceSpans: []resourceSpans{{Resource: of, ScopeSpans: []scopeSpans{scoped}}}}
}

func encodeSpan(span sdktrace.ReadOnlySpan) spanData {
	out := spanData{
		TraceID: span.SpanContext().TraceID().String(), SpanID: span.SpanContext().SpanID().String(), Name: span.Name(),
		// The SDK's kinds have OTLP's numbers; 1 is internal.
		Kind:              max(int(span.SpanKind()), int(trace.SpanKindInternal)),
		StartTimeUnixNano: encodeTime(span.StartTime()), EndTimeUnixNano: encodeTime(span.EndTime()),
		Attributes: encodeAttributes(span.Attributes()),
	}
	if span.Parent().IsValid() {
		out.ParentSpanID = span.Parent().SpanID().String()
	}
	for _, link := range span.Links() {
		out.Links = append(out.Links, linkData{TraceID: link.SpanContext.TraceID().String(), SpanID: link.SpanContext.SpanID().String()})
	}
	if span.Status().Code == codes.Error {
		// 2 is STATUS_CODE_ERROR.
		out.Status = statusData{Code: 2, Message: span.Status().Description}
	}
	return out
}

func encodeTime(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 10) }

func encodeAttributes(list []attribute.KeyValue) []keyValue {
	var out []keyValue
	for _, each := range list {
		value := map[string]any{}
		switch each.Value.Type() {
		case attribute.INT64:
			value["intValue"] = strconv.FormatInt(each.Value.AsInt64(), 10)
		case attribute.BOOL:
			value["boolValue"] = each.Value.AsBool()
		default:
			value["stringValue"] = each.Value.String()
		}
		out = append(out, keyValue{Key: string(each.Key), Value: value})
	}
	return out
}
