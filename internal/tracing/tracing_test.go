package tracing_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

const network = arm.ID("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet")

func TestReadOptions(t *testing.T) {
	tests := map[string]struct {
		reason  string
		enabled bool
		env     map[string]string
		want    *tracing.Options
		err     string
	}{
		"off": {reason: "traces are off by default"},
		"flag": {reason: "the flag has a collector of its own", enabled: true,
			want: &tracing.Options{URL: "http://opentelemetry-collector:4318/v1/traces"}},
		"endpoint": {reason: "an endpoint enables traces, and is the beginning of the URL",
			env:  map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c.example:4318/a/"},
			want: &tracing.Options{URL: "https://c.example:4318/a/v1/traces"}},
		"endpoint of traces": {reason: "the variable for traces comes first, and is the whole URL",
			env:  map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b/traces"},
			want: &tracing.Options{URL: "http://b/traces"}},
		"headers and timeout": {reason: "values of headers are percent-encoded",
			env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x=1",
				"OTEL_EXPORTER_OTLP_TIMEOUT": "500"},
			want: &tracing.Options{URL: "http://a/v1/traces", Headers: map[string]string{"api-key": "a b", "x": "1"},
				Timeout: 500 * time.Millisecond}},
		"disabled": {reason: "the standard switch turns off", enabled: true, env: map[string]string{"OTEL_SDK_DISABLED": "true"}},
		"none":     {reason: "so does no exporter", enabled: true, env: map[string]string{"OTEL_TRACES_EXPORTER": "none"}},
		"gRPC": {reason: "another protocol is refused", enabled: true, env: map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			err: "http/json"},
		"no URL": {reason: "a host is no URL", env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"},
			err: "OTEL_EXPORTER_OTLP_ENDPOINT: use a URL"},
		"no number": {reason: "a timeout is in milliseconds", enabled: true, env: map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "10s"},
			err: "milliseconds"},
		"certificate": {reason: "a variable that would be ignored is refused", enabled: true,
			env: map[string]string{"OTEL_EXPORTER_OTLP_CERTIFICATE": "/ca.crt"}, err: "OTEL_EXPORTER_OTLP_CERTIFICATE is not supported"},
		"no compression": {reason: "the only value that changes nothing is accepted", enabled: true,
			env:  map[string]string{"OTEL_EXPORTER_OTLP_COMPRESSION": "none"},
			want: &tracing.Options{URL: "http://opentelemetry-collector:4318/v1/traces"}},
		"no header": {reason: "an error does not repeat the value, which may be secret", enabled: true,
			env: map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "secret-value"}, err: "OTEL_EXPORTER_OTLP_HEADERS: use a list"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := tracing.ReadOptions(func(name string) string { return test.env[name] }, test.enabled, "v1")
			if (err != nil) != (test.err != "") || err != nil &&
				(!strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "secret")) {
				t.Fatalf("%s: error %v, want %q", test.reason, err, test.err)
			}
			if test.want != nil {
				test.want.Version = "v1"
				if test.want.Timeout == 0 {
					test.want.Timeout = 10 * time.Second
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestPageNamesVariables checks that the manager reads each variable of the exporter that the book names, and that the book names each.
func TestPageNamesVariables(t *testing.T) {
	page, err := os.ReadFile("../../docs/book/traces.md")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	_, err = tracing.ReadOptions(func(name string) string { read[name] = true; return "" }, true, "v1")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile("OTEL_EXPORTER_OTLP_[A-Z_]+").FindAllString(string(page), -1) {
		if named[name] = true; !read[name] {
			t.Errorf("the page names %s, which is not read", name)
		}
	}
	for name := range read {
		if strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") && !strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_TRACES_") && !named[name] {
			t.Errorf("%s is read, and the page does not name it", name)
		}
	}
}

// TestExporterSendsOTLP lets a collector receive the spans of a reconciliation, a request and an operation; it expects OTLP's JSON
// encoding.
func TestExporterSendsOTLP(t *testing.T) {
	var got struct {
		ResourceSpans []struct {
			Resource struct {
				Attributes []struct {
					Key   string
					Value map[string]any
				}
			}
			ScopeSpans []struct {
				Scope struct{ Name string }
				Spans []struct {
					TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano string
					Kind                                                   int
					Links                                                  []struct{ SpanID string }
					Status                                                 struct {
						Code    int
						Message string
					}
				}
			}
		}
	}
	var raw []byte
	var header http.Header
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ = io.ReadAll(r.Body)
		header = r.Header
	}))
	defer collector.Close()
	provider, err := tracing.NewProvider(t.Context(), tracing.Options{URL: collector.URL, Headers: map[string]string{"Api-Key": "k"},
		Timeout: time.Minute, Version: "v2.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	tracer := tracing.NewTracer(provider)
	object := tracing.Reconciliation{Kind: "AzureCluster", Namespace: "default", Name: "c1"}
	ctx, span := tracer.StartReconciliation(t.Context(), object)
	sent, request := tracing.StartRequest(ctx, http.MethodPut, network)
	tracing.EndRequest(request, 201, "r-1", nil)
	tracer.RecordOperation(sent,
		tracing.Operation{Method: http.MethodPut, ID: network, Took: time.Second, WaitingObjects: []string{"AzureCluster/default/c1"},
			Err: &arm.Error{Code: "QuotaExceeded", Message: "canary"}})
	tracer.EndReconciliation(span, "progressing", nil)
	_, span = tracer.StartReconciliation(t.Context(), object)
	tracer.EndReconciliation(span, "settled", errors.New("canary"))
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if header.Get("Api-Key") != "k" || header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", header)
	}
	if strings.Contains(string(raw), "canary") {
		t.Errorf("the text of an error is in the trace: %s", raw)
	}
	spans := got.ResourceSpans[0].ScopeSpans[0].Spans
	var names []string
	byName := map[string]int{}
	for i, span := range spans {
		names = append(names, span.Name)
		byName[span.Name] = i
	}
	if diff := cmp.Diff([]string{"PUT Microsoft.Network/virtualNetworks", "operation Microsoft.Network/virtualNetworks",
		"Reconcile AzureCluster",
		"Reconcile AzureCluster"}, names); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	put, operation, first, second := spans[0], spans[1], spans[2], spans[3]
	switch {
	case put.Kind != 3 || put.ParentSpanID != first.SpanID || put.TraceID != first.TraceID:
		t.Errorf("the request is not a client's span below the reconciliation: %+v", put)
	case operation.Status.Code != 2 || operation.Status.Message != "QuotaExceeded" || operation.StartTimeUnixNano >= put.StartTimeUnixNano:
		t.Errorf("the operation has not failed with Azure's code, a second after it began: %+v", operation)
	case len(first.Links) != 0 || len(second.Links) != 1 || second.Links[0].SpanID != operation.SpanID || second.TraceID == first.TraceID:
		t.Errorf("the second reconciliation does not link to the operation: %+v", second)
	}
}

// TestOffCostsNothing checks that without a tracer no span is started and nothing is allocated.
func TestOffCostsNothing(t *testing.T) {
	var off *tracing.Tracer
	ctx := context.Background()
	got := testing.AllocsPerRun(100, func() {
		reconciling, span := off.StartReconciliation(ctx, tracing.Reconciliation{Kind: "AzureCluster", Namespace: "default", Name: "c1"})
		staged, stage := tracing.StartStage(reconciling, "plan")
		_, request := tracing.StartRequest(staged, http.MethodGet, network)
		tracing.EndRequest(request, 200, "", nil)
		tracing.EndStage(stage, nil)
		off.EndReconciliation(span, "settled", nil)
		off.RecordOperation(staged, tracing.Operation{})
	})
	if got != 0 {
		t.Errorf("%v allocations a reconciliation, want 0", got)
	}
}

// BenchmarkReconciliation measures the spans of a reconciliation with eight stages and twenty requests, without and with a tracer.
func BenchmarkReconciliation(b *testing.B) {
	reconcile := func(tracer *tracing.Tracer) {
		ctx, span := tracer.StartReconciliation(b.Context(), tracing.Reconciliation{Kind: "AzureCluster", Namespace: "default", Name: "c1"})
		for range 8 {
			_, stage := tracing.StartStage(ctx, "plan")
			tracing.EndStage(stage, nil)
		}
		for range 20 {
			_, request := tracing.StartRequest(ctx, http.MethodGet, network)
			tracing.EndRequest(request, 200, "r-1", nil)
		}
		tracer.EndReconciliation(span, "settled", nil)
	}
	b.Run("off", func(b *testing.B) {
		for b.Loop() {
			reconcile(nil)
		}
	})
	b.Run("on", func(b *testing.B) {
		tracer := tracing.NewTracer(sdktrace.NewTracerProvider())
		for b.Loop() {
			reconcile(tracer)
		}
	})
}

// TestSpansDoNotAccumulate checks that spans are dropped, and nothing waits, while the collector does not answer.
func TestSpansDoNotAccumulate(t *testing.T) {
	const spans, queue, batch = 20_000, 2048, 512 // The SDK's defaults.
	answer, received := make(chan struct{}), 0
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		received += strings.Count(string(raw), `"spanId"`)
		<-answer
	}))
	defer collector.Close()
	provider, err := tracing.NewProvider(t.Context(), tracing.Options{URL: collector.URL, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	tracer := tracing.NewTracer(provider)
	for range spans {
		_, span := tracer.StartReconciliation(t.Context(), tracing.Reconciliation{Kind: "AzureCluster"})
		tracer.EndReconciliation(span, "settled", nil)
	}
	close(answer)
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if received == 0 || received > queue+2*batch {
		t.Errorf("the collector got %d of %d spans, want at most those that a queue and two batches hold", received, spans)
	}
}

// TestLinksAreBounded checks that operations of objects that are never reconciled again take limited memory.
func TestLinksAreBounded(t *testing.T) {
	recorded := tracetest.NewInMemoryExporter()
	tracer := tracing.NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSyncer(recorded)))
	object := tracing.Reconciliation{Kind: "AzureCluster", Namespace: "default", Name: "c1"}
	ctx, _ := tracer.StartReconciliation(t.Context(), object)
	for range 100 {
		tracer.RecordOperation(ctx, tracing.Operation{ID: network, WaitingObjects: []string{"AzureCluster/default/c1"}})
	}
	recorded.Reset()
	_, span := tracer.StartReconciliation(t.Context(), object)
	tracer.EndReconciliation(span, "settled", nil)
	if got := len(recorded.GetSpans()[0].Links); got != 16 {
		t.Errorf("%d links, want 16", got)
	}
}

func TestTypeName(t *testing.T) {
	for id, want := range map[arm.ID]string{
		network: "Microsoft.Network/virtualNetworks",
		"/subscriptions/s/providers/Microsoft.Compute/skus":              "Microsoft.Compute/skus",
		"/subscriptions/s/providers/" + arm.ID(strings.Repeat("a", 200)): "other",
	} {
		if got := tracing.TypeName(id); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
}
