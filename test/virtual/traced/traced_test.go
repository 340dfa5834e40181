package traced_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestTraceFollowsCluster creates a cluster with a worker and checks that its trace is whole: each request to Azure is below a
// reconciliation, each write has one span and one operation, and the reconciliation that an operation woke links to it.
func TestTraceFollowsCluster(t *testing.T) {
	recorded := tracetest.NewInMemoryExporter()
	writes := 0
	synctest.Test(t, func(t *testing.T) {
		s := virtual.New(t)
		s.Tracer = tracing.NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSyncer(recorded)))
		s.Written = func(r *http.Request) {
			if r.Method == http.MethodPut {
				writes++
			}
		}
		s.StartProvider()
		s.BuildCluster("c1", 1)
	})
	spans := map[trace.SpanID]tracetest.SpanStub{}
	for _, span := range recorded.GetSpans() {
		spans[span.SpanContext.SpanID()] = span
	}
	puts, operations, linked := 0, 0, map[trace.SpanID]bool{}
	stages := map[string]bool{}
	for _, span := range spans {
		root := span
		for root.Parent.IsValid() {
			parent, ok := spans[root.Parent.SpanID()]
			if !ok {
				t.Fatalf("the parent of %q was never recorded", root.Name)
			}
			root = parent
		}
		if !strings.HasPrefix(root.Name, "Reconcile Azure") {
			t.Errorf("%q is below %q, want a reconciliation", span.Name, root.Name)
		}
		switch {
		case strings.HasPrefix(span.Name, "PUT "):
			puts++
			if !slices.ContainsFunc(span.Attributes, func(a attribute.KeyValue) bool { return a.Key == "az.service_request_id" }) {
				t.Errorf("%q has no request ID of Azure", span.Name)
			}
		case strings.HasPrefix(span.Name, "operation "):
			operations++
		case span.SpanKind == trace.SpanKindInternal && span.Parent.IsValid():
			stages[span.Name] = true
		}
		for _, link := range span.Links {
			if of := spans[link.SpanContext.SpanID()]; !strings.HasPrefix(of.Name, "operation ") {
				t.Errorf("%q links to %q, want an operation", span.Name, of.Name)
			}
			linked[link.SpanContext.SpanID()] = true
		}
	}
	if puts != writes || operations != writes {
		t.Errorf("%d spans of PUTs and %d of operations, want %d each", puts, operations, writes)
	}
	if len(linked) != operations {
		t.Errorf("%d operations are linked from the reconciliation that they woke, want %d", len(linked), operations)
	}
	for _, want := range []string{"load", "enter", "open", "load plan input", "plan", "converge", "act", "store"} {
		if !stages[want] {
			t.Errorf("no span of the stage %q", want)
		}
	}
}
