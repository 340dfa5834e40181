package traces

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// request is one of the manager's exporter: a reconciliation with a PUT, its operation, and the reconciliation that the end of it woke.
const request = `{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{"name":"capz"},"spans":[
{"traceId":"a","spanId":"1","name":"Reconcile AzureCluster","startTimeUnixNano":"1000000000","endTimeUnixNano":"1500000000","attributes":[
 {"key":"k8s.namespace.name","value":{"stringValue":"default"}},{"key":"capz.object","value":{"stringValue":"demo"}},{"key":"capz.result","value":{"stringValue":"waiting"}}]},
{"traceId":"a","spanId":"2","parentSpanId":"1","name":"converge","startTimeUnixNano":"1000000000","endTimeUnixNano":"1100000000"},
{"traceId":"a","spanId":"3","parentSpanId":"2","name":"PUT Microsoft.Network/virtualNetworks","startTimeUnixNano":"1000000000","endTimeUnixNano":"1100000000"},
{"traceId":"a","spanId":"4","parentSpanId":"1","name":"operation Microsoft.Network/virtualNetworks","startTimeUnixNano":"1000000000","endTimeUnixNano":"3000000000",
 "attributes":[{"key":"azure.resource.id","value":{"stringValue":"/subscriptions/s/resourceGroups/demo/providers/Microsoft.Network/virtualNetworks/v"}}]},
{"traceId":"b","spanId":"5","name":"Reconcile AzureCluster","startTimeUnixNano":"3000000000","endTimeUnixNano":"3250000000","links":[{"traceId":"a","spanId":"4"}],"attributes":[
 {"key":"k8s.namespace.name","value":{"stringValue":"default"}},{"key":"capz.object","value":{"stringValue":"demo"}},{"key":"capz.result","value":{"stringValue":"settled"}}]},
{"traceId":"c","spanId":"6","name":"Reconcile AzureCluster","startTimeUnixNano":"3000000000","endTimeUnixNano":"3250000000","attributes":[
 {"key":"k8s.namespace.name","value":{"stringValue":"default"}},{"key":"capz.object","value":{"stringValue":"other"}}]}]}]}]}`

// TestTraces sends spans to a collector and reads them from its file.
func TestTraces(t *testing.T) {
	file := &bytes.Buffer{}
	server := httptest.NewServer(NewHandler(file))
	defer server.Close()
	for name, test := range map[string]struct {
		body   io.Reader
		status int
	}{
		"spans": {strings.NewReader(request), 200}, "no JSON": {strings.NewReader("x"), 400},
		"too long": {io.LimitReader(endless{}, maxRequest+1), 400},
	} {
		response, err := http.Post(server.URL+Path, "application/json", test.body)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != test.status {
			t.Errorf("%s: status %d, want %d", name, response.StatusCode, test.status)
		}
	}
	if strings.Count(file.String(), "\n") != 1 {
		t.Errorf("the file has %d lines, want one for each request", strings.Count(file.String(), "\n"))
	}
	list, err := ReadReconciliations(strings.NewReader(file.String()+`{"half`), "default", []string{"demo"})
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	Print(out, list, time.Unix(1, 0))
	want := `START  TOOK   RECONCILED         REQUESTS  RESULT   WOKEN BY
0.00   0.500  AzureCluster/demo  1         waiting  -
2.00   0.250  AzureCluster/demo  0         settled  virtualNetworks/v
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if list, err := LoadReconciliations(t.TempDir()+"/none", "default", nil); err != nil || len(list) > 0 {
		t.Errorf("without a file: %v, %v", list, err)
	}
}

type endless struct{}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '1'
	}
	return len(p), nil
}
