package traces

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Reconciliation is one reconciliation of an object.
type Reconciliation struct {
	Start    time.Time
	Took     time.Duration
	Kind     string
	Object   string
	Result   string
	Requests int
	// Woken are the operations of Azure whose ends caused it.
	Woken []string
}

// span is a span of OTLP, with the fields that are shown.
type span struct {
	SpanID       string      `json:"spanId"`
	ParentSpanID string      `json:"parentSpanId"`
	Name         string      `json:"name"`
	Start        string      `json:"startTimeUnixNano"`
	End          string      `json:"endTimeUnixNano"`
	Attributes   []attribute `json:"attributes"`
	Links        []struct {
		SpanID string `json:"spanId"`
	} `json:"links"`
}

type attribute struct {
	Key   string `json:"key"`
	Value struct {
		StringValue string `json:"stringValue"`
	} `json:"value"`
}

func (s span) text(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue
		}
	}
	return ""
}

func parseTime(nanoseconds string) time.Time {
	n, _ := strconv.ParseInt(nanoseconds, 10, 64)
	return time.Unix(0, n)
}

// reconcilePrefix begins the names of root spans, and operationPrefix those of operations of Azure.
const (
	reconcilePrefix = "Reconcile "
	operationPrefix = "operation "
)

// LoadReconciliations reads the reconciliations of the named objects of a namespace from the file of a collector, by their start. A file that
// does not exist has none.
func LoadReconciliations(file, namespace string, names []string) ([]Reconciliation, error) {
	in, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return ReadReconciliations(in, namespace, names)
}

// ReadReconciliations is LoadReconciliations of the content of a file.
func ReadReconciliations(in io.Reader, namespace string, names []string) (out []Reconciliation, err error) {
	spans := map[string]span{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 2*maxRequest)
	for lines.Scan() {
		var request struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []span `json:"spans"`
				} `json:"scopeSpans"`
			} `json:"resourceSpans"`
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil {
			continue // The last line may be half written.
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					spans[s.SpanID] = s
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	requests := countRequests(spans)
	for id, s := range spans {
		kind, is := strings.CutPrefix(s.Name, reconcilePrefix)
		if !is || s.text("k8s.namespace.name") != namespace || !slices.Contains(names, s.text("capz.object")) {
			continue
		}
		r := Reconciliation{Start: parseTime(s.Start), Took: parseTime(s.End).Sub(parseTime(s.Start)), Kind: kind, Object: s.text("capz.object"),
			Result: s.text("capz.result"), Requests: requests[id]}
		for _, link := range s.Links {
			if operation, is := strings.CutPrefix(spans[link.SpanID].Name, operationPrefix); is {
				resource := spans[link.SpanID].text("azure.resource.id")
				r.Woken = append(r.Woken, operation[strings.LastIndexByte(operation, '/')+1:]+"/"+resource[strings.LastIndexByte(resource, '/')+1:])
			}
		}
		slices.Sort(r.Woken)
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Reconciliation) int {
		if n := a.Start.Compare(b.Start); n != 0 {
			return n
		}
		return strings.Compare(a.Kind+a.Object, b.Kind+b.Object)
	})
	return out, nil
}

// countRequests counts the requests to Azure below each root.
func countRequests(spans map[string]span) map[string]int {
	out := map[string]int{}
	for _, s := range spans {
		method, _, _ := strings.Cut(s.Name, " ")
		if !slices.Contains([]string{"GET", "PUT", "PATCH", "POST", "DELETE"}, method) {
			continue
		}
		root := s
		for range 100 { // Spans from outside may refer to each other in a circle.
			parent, has := spans[root.ParentSpanID]
			if !has {
				break
			}
			root = parent
		}
		out[root.SpanID]++
	}
	return out
}

// Print writes a table of reconciliations with seconds since a begin.
func Print(out io.Writer, list []Reconciliation, begin time.Time) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "START\tTOOK\tRECONCILED\tREQUESTS\tRESULT\tWOKEN BY")
	for _, r := range list {
		woken := strings.Join(r.Woken, ", ")
		if woken == "" {
			woken = "-"
		}
		fmt.Fprintf(w, "%.2f\t%.3f\t%s/%s\t%d\t%s\t%s\n", r.Start.Sub(begin).Seconds(), r.Took.Seconds(), r.Kind, r.Object, r.Requests, r.Result, woken)
	}
	w.Flush()
}
