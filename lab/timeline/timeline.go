// Package timeline shows what Azure did for a cluster: every write with its start, its end and what it waited for, the
// critical path, and how much longer everything took than Azure needed.
package timeline

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// Write is one write to Azure.
type Write struct {
	// ID is the resource, lower case.
	ID string
	// Method is PUT, PATCH, POST or DELETE.
	Method string
	// Status is HTTP's, or that of the long-running operation.
	Status     string
	Start, End time.Time
	// After is the write whose end this one waited for: of the resources that this one needs, the last one that ended
	// before this one began. Nil when it needed none.
	After *Write
	// Data are the bootstrap data that a virtual machine waited for, if they came after the end of After. Nil
	// when they were there before, and for all other writes.
	Data *Data

	// needs are all writes that this one came after.
	needs []*Write
}

// Data are bootstrap data that came between two moments, which are the same if the moment is known exactly.
type Data struct {
	From, To time.Time
	// Perhaps is set when it is not known whether After ended later: both are in the same second.
	Perhaps bool
}

// Duration is how long Azure took.
func (w *Write) Duration() time.Duration { return w.End.Sub(w.Start) }

// Timeline is what happened for one cluster.
type Timeline struct {
	Times  workload.Times
	Writes []*Write
	// Reads and WritesAfterReady count requests; reads are all GETs for the cluster's resources.
	Reads            int
	WritesAfterReady int
	ReadsAfterReady  int
}

// Request is one line of the simulator's request log.
type Request struct {
	Time        time.Time `json:"time"`
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	Status      int       `json:"status"`
	DurationMs  int64     `json:"durationMs"`
	OperationID string    `json:"operationID"`
}

// reads tells whether the request changes nothing: Azure has lists of secrets, such as an AKS cluster's credentials, for
// POST only.
func (r Request) reads(id string) bool {
	action := id[strings.LastIndex(id, "/")+1:]
	return r.Method == "GET" || r.Method == "HEAD" || r.Method == "POST" && strings.HasPrefix(action, "list")
}

// Load reads the request log and asks the simulator for its operations.
func Load(ctx context.Context, s *settings.Settings, cluster string) (*Timeline, error) {
	kube, err := management.Client(s)
	if err != nil {
		return nil, err
	}
	times, err := workload.LoadTimes(s, cluster)
	if err != nil {
		return nil, fmt.Errorf("times of Cluster %s, which `lab create` writes: %w", cluster, err)
	}
	root, err := workload.Load(ctx, kube, management.Namespace, cluster)
	if err != nil {
		return nil, err
	}
	data := map[string]workload.BootstrapData{}
	if root != nil {
		if data, err = workload.LoadBootstrapData(ctx, kube, root, times); err != nil {
			return nil, err
		}
	}
	requests, err := readLog(s.RequestLog())
	if err != nil {
		return nil, err
	}
	azure, err := simulator.New(s)
	if err != nil {
		return nil, err
	}
	operations, err := azure.Operations(ctx)
	if err != nil {
		return nil, err
	}
	state, err := azure.State(ctx)
	if err != nil {
		return nil, err
	}
	return Build(times, resourceGroups(root, cluster), requests, operations, References(state), data), nil
}

// resourceGroups are those of the cluster's resources. The cluster may be gone.
func resourceGroups(root *workload.Object, cluster string) []string {
	groups := []string{strings.ToLower(cluster)}
	if root == nil {
		return groups
	}
	for _, name := range root.ResourceGroups() {
		if name = strings.ToLower(name); !slices.Contains(groups, name) {
			groups = append(groups, name)
		}
	}
	return groups
}

func readLog(path string) ([]Request, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var requests []Request
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var r Request
		// The last line may be half written.
		if json.Unmarshal(scanner.Bytes(), &r) == nil {
			requests = append(requests, r)
		}
	}
	return requests, scanner.Err()
}

// Build puts the timeline together. References say which resources a resource needs, by lower-case ID, and data since when
// bootstrap data are there.
func Build(times workload.Times, groups []string, requests []Request, operations []simulator.Operation, references map[string][]string,
	data map[string]workload.BootstrapData) *Timeline {
	t := &Timeline{Times: times}
	byID := map[string]simulator.Operation{}
	for _, operation := range operations {
		byID[operation.ID] = operation
	}
	for _, r := range requests {
		path, _, _ := strings.Cut(r.URL, "?")
		id := strings.TrimRight(strings.ToLower(path), "/")
		if !concerns(id, groups) || r.Time.Before(times.Applied) {
			continue
		}
		after := !times.Ready.IsZero() && r.Time.After(times.Ready)
		if r.reads(id) {
			t.Reads++
			if after {
				t.ReadsAfterReady++
			}
			continue
		}
		if after {
			t.WritesAfterReady++
		}
		if r.Status < 300 && r.Status > 0 {
			t.Writes = append(t.Writes, newWrite(r, id, byID))
		}
	}
	slices.SortStableFunc(t.Writes, func(a, b *Write) int { return a.Start.Compare(b.Start) })
	t.link(references)
	t.boot(data)
	return t
}

func concerns(id string, groups []string) bool {
	_, rest, ok := strings.Cut(id, "/resourcegroups/")
	if !ok {
		return false
	}
	group, _, _ := strings.Cut(rest, "/")
	return slices.Contains(groups, group)
}

func newWrite(r Request, id string, operations map[string]simulator.Operation) *Write {
	w := &Write{ID: id, Method: r.Method, Status: fmt.Sprint(r.Status), Start: r.Time, End: r.Time.Add(time.Duration(r.DurationMs) * time.Millisecond)}
	if operation, ok := operations[r.OperationID]; ok {
		w.Status = operation.Status
		if operation.Ended.After(w.End) {
			w.End = operation.Ended
		}
	}
	return w
}

// link finds what each write waited for.
func (t *Timeline) link(references map[string][]string) {
	written := map[string]bool{}
	for _, w := range t.Writes {
		written[w.ID] = true
	}
	for _, w := range t.Writes {
		for _, other := range t.Writes {
			if other == w || other.Method != "PUT" || w.Method != "PUT" || other.End.After(w.Start) || !needs(w.ID, other.ID, references[w.ID], written) {
				continue
			}
			w.needs = append(w.needs, other)
			if w.After == nil || other.End.After(w.After.End) {
				w.After = other
			}
		}
	}
}

// boot finds the virtual machines that were not made before their bootstrap data were there.
func (t *Timeline) boot(data map[string]workload.BootstrapData) {
	made := map[string]bool{}
	for _, w := range t.Writes {
		available, ok := data[w.ID]
		if !ok || made[w.ID] || w.Method != "PUT" {
			continue
		}
		made[w.ID] = true
		from, to := available.Created, available.Created.Add(time.Second)
		if !available.Seen.IsZero() && !available.Seen.After(w.Start) {
			from, to = available.Seen, available.Seen
		}
		if to.After(w.Start) {
			to = w.Start
		}
		if w.After == nil || to.After(w.After.End) {
			w.Data = &Data{From: from, To: to, Perhaps: w.After != nil && from.Before(w.After.End)}
		}
	}
}

// needs tells whether a write to one resource comes after that of another one: because it is inside it, because it
// refers to it, or because Azure takes one write at a time to the document that both are parts of. A reference to a part
// that has no write of its own is one to the resource that the part was written with.
func needs(id, other string, references []string, written map[string]bool) bool {
	if id == other || strings.HasPrefix(id, other+"/") || serial(id) != "" && serial(id) == serial(other) {
		return true
	}
	return slices.ContainsFunc(references, func(r string) bool {
		return r == other || !written[r] && strings.HasPrefix(r, other+"/")
	})
}

// serialParents are the types whose children are parts of one document.
var serialParents = []string{"/virtualnetworks/", "/loadbalancers/", "/networksecuritygroups/", "/routetables/"}

func serial(id string) string {
	for _, parent := range serialParents {
		if head, tail, ok := strings.Cut(id, parent); ok {
			name, rest, _ := strings.Cut(tail, "/")
			if rest != "" {
				return head + parent + name
			}
		}
	}
	return ""
}

// Infrastructure are the writes that ended before the cluster's infrastructure was provisioned.
func (t *Timeline) Infrastructure() []*Write {
	var found []*Write
	for _, w := range t.Writes {
		if w.Method == "PUT" && (t.Times.Provisioned.IsZero() || !w.End.After(t.Times.Provisioned)) {
			found = append(found, w)
		}
	}
	return found
}

// CriticalPath is the chain of writes of the infrastructure with the longest sum of durations, in order, and that sum.
func (t *Timeline) CriticalPath() ([]*Write, time.Duration) {
	writes := t.Infrastructure()
	slices.SortStableFunc(writes, func(a, b *Write) int { return a.End.Compare(b.End) })
	longest := map[*Write]time.Duration{}
	before := map[*Write]*Write{}
	var last *Write
	for _, w := range writes {
		for _, need := range w.needs {
			if longest[need] > longest[before[w]] {
				before[w] = need
			}
		}
		longest[w] = w.Duration() + longest[before[w]]
		if longest[w] > longest[last] {
			last = w
		}
	}
	var path []*Write
	for w := last; w != nil; w = before[w] {
		path = append(path, w)
	}
	slices.Reverse(path)
	return path, longest[last]
}

// Overhead is the time from apply to provisioned infrastructure, divided by the critical path of Azure's operations.
// Zero when one of them is not known.
func (t *Timeline) Overhead() float64 {
	_, critical := t.CriticalPath()
	if critical <= 0 || t.Times.Provisioned.IsZero() {
		return 0
	}
	return float64(t.Times.Provisioned.Sub(t.Times.Applied)) / float64(critical)
}

// Summary is one line of figures.
func (t *Timeline) Summary() string {
	_, critical := t.CriticalPath()
	return fmt.Sprintf("Azure: %d writes, %d reads; infrastructure in %.1f s over a critical path of %.1f s: overhead %.2f",
		len(t.Writes), t.Reads, t.Times.Provisioned.Sub(t.Times.Applied).Seconds(), critical.Seconds(), t.Overhead())
}

// waitedFor is what came last of all that the write needs.
func (w *Write) waitedFor() string {
	before := func(end time.Time) float64 { return w.Start.Sub(end).Seconds() }
	switch {
	case w.Data != nil && w.Data.Perhaps:
		return fmt.Sprintf("%s (%.2f s before) or bootstrap data, in the same second", Short(w.After.ID), before(w.After.End))
	case w.Data != nil && w.Data.From.Equal(w.Data.To):
		return fmt.Sprintf("bootstrap data (%.2f s before)", before(w.Data.To))
	case w.Data != nil:
		return fmt.Sprintf("bootstrap data (%.0f to %.0f s before)", math.Floor(before(w.Data.To)), math.Ceil(before(w.Data.From)))
	case w.After != nil:
		return fmt.Sprintf("%s (%.2f s before)", Short(w.After.ID), before(w.After.End))
	}
	return "-"
}

// Print writes the whole timeline.
func (t *Timeline) Print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "START\tEND\tTOOK\tWRITE\tRESOURCE\tSTATUS\tWAITED FOR")
	seconds := func(at time.Time) string { return fmt.Sprintf("%.2f", at.Sub(t.Times.Applied).Seconds()) }
	for _, write := range t.Writes {
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%s\t%s\t%s\t%s\n", seconds(write.Start), seconds(write.End), write.Duration().Seconds(), write.Method, Short(write.ID), write.Status, write.waitedFor())
	}
	w.Flush()
	path, critical := t.CriticalPath()
	fmt.Fprintf(out, "\nCritical path of the infrastructure, %.2f s:\n", critical.Seconds())
	for _, write := range path {
		fmt.Fprintf(out, "  %6.2f s  %s\n", write.Duration().Seconds(), Short(write.ID))
	}
	fmt.Fprintln(out, "\n"+t.Summary())
	if !t.Times.Ready.IsZero() {
		fmt.Fprintf(out, "All ready after %.1f s. In the %s since then: %d writes, %d reads.\n", t.Times.Ready.Sub(t.Times.Applied).Seconds(),
			time.Since(t.Times.Ready).Round(time.Second), t.WritesAfterReady, t.ReadsAfterReady)
	}
}

// Short is a resource ID without subscription and provider namespace: type/name, or group for a resource group.
func Short(id string) string {
	_, rest, ok := strings.Cut(id, "/resourcegroups/")
	if !ok {
		return id
	}
	group, rest, ok := strings.Cut(rest, "/providers/")
	if !ok {
		return "resourceGroups/" + group
	}
	_, rest, _ = strings.Cut(rest, "/")
	return rest
}
