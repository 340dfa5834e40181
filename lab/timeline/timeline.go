// Package timeline shows Azure's work for a cluster: every write with its start, its end and its predecessor, the
// critical path, and how much longer everything took than Azure needed.
package timeline

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
	"sigs.k8s.io/cluster-api-provider-azure/lab/traces"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
	"sigs.k8s.io/cluster-api-provider-azure/sim/schedule"
)

// Data are bootstrap data that came between two moments, which are the same if the moment is known exactly.
type Data struct {
	From, To time.Time
	// Perhaps is set when it is not known whether After ended later: both are in the same second.
	Perhaps bool
}

// Timeline is what happened for one cluster.
type Timeline struct {
	Times  workload.Times
	Writes []*schedule.Write
	// Data are the bootstrap data that virtual machines waited for, if they came after the end of the predecessors of
	// the write.
	Data map[*schedule.Write]*Data
	// Reads and WritesAfterReady count requests; reads are all GETs for the cluster's resources.
	Reads            int
	WritesAfterReady int
	ReadsAfterReady  int
	// Reconciliations are those of the cluster's objects, if the lab has traces.
	Reconciliations []traces.Reconciliation
}

// LoadTimeline reads the request log and asks the simulator for its operations.
func LoadTimeline(ctx context.Context, s *settings.Settings, cluster string) (*Timeline, error) {
	kube, err := management.NewClient(s)
	if err != nil {
		return nil, err
	}
	times, err := workload.LoadTimes(s, cluster)
	if errors.Is(err, fs.ErrNotExist) || err == nil && times.Applied.IsZero() {
		return nil, fmt.Errorf("`lab create` has not created Cluster %s, or only a part of it, so there are no times. `lab status` lists the clusters",
			cluster)
	}
	if err != nil {
		return nil, fmt.Errorf("times of Cluster %s: %w", cluster, err)
	}
	root, err := workload.LoadCluster(ctx, kube, management.Namespace, cluster)
	if err != nil {
		return nil, err
	}
	data := map[string]workload.BootstrapData{}
	if root != nil {
		if data, err = workload.LoadBootstrapData(ctx, kube, root, times); err != nil {
			return nil, err
		}
	}
	requests, err := ReadLog(s.RequestLog())
	if err != nil {
		return nil, err
	}
	azure, err := simulator.New(s)
	if err != nil {
		return nil, err
	}
	operations, err := azure.ListOperations(ctx)
	if err != nil {
		return nil, err
	}
	state, err := azure.ReadState(ctx)
	if err != nil {
		return nil, err
	}
	out := BuildTimeline(times, resourceGroups(root, cluster), requests, operations, schedule.FindReferences(state), data)
	names := []string{cluster}
	if root != nil {
		root.Walk(func(o *workload.Object, _ int) { names = append(names, o.Name) })
	}
	out.Reconciliations, err = traces.LoadReconciliations(s.TraceFile(), management.Namespace, names)
	return out, err
}

// resourceGroups returns those of the cluster's resources. The cluster may be gone.
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

// ReadLog reads the simulator's log of requests.
func ReadLog(path string) ([]schedule.Request, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var requests []schedule.Request
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var r schedule.Request
		// The last line may be half written.
		if json.Unmarshal(scanner.Bytes(), &r) == nil {
			requests = append(requests, r)
		}
	}
	return requests, scanner.Err()
}

// BuildTimeline puts the timeline together. References have the resources that a resource needs, by lower-case ID, and data since when
// bootstrap data are there.
func BuildTimeline(times workload.Times, groups []string, requests []schedule.Request, operations []schedule.Operation,
	references map[string][]string,
	data map[string]workload.BootstrapData) *Timeline {
	t := &Timeline{Times: times, Data: map[*schedule.Write]*Data{}}
	var writes []schedule.Request
	for _, r := range requests {
		if !concernsGroups(r.ID(), groups) || r.Time.Before(times.Applied) {
			continue
		}
		after := !times.Ready.IsZero() && r.Time.After(times.Ready)
		switch {
		case r.IsRead():
			t.Reads++
			if after {
				t.ReadsAfterReady++
			}
			continue
		case after:
			t.WritesAfterReady++
		}
		writes = append(writes, r)
	}
	t.Writes = schedule.BuildSchedule(writes, operations, references)
	t.findBoots(data)
	return t
}

func concernsGroups(id string, groups []string) bool {
	_, rest, ok := strings.Cut(id, "/resourcegroups/")
	if !ok {
		return false
	}
	group, _, _ := strings.Cut(rest, "/")
	return slices.Contains(groups, group)
}

// findBoots finds the virtual machines that were not created before their bootstrap data existed.
func (t *Timeline) findBoots(data map[string]workload.BootstrapData) {
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
			t.Data[w] = &Data{From: from, To: to, Perhaps: w.After != nil && from.Before(w.After.End)}
		}
	}
}

// InfrastructureWrites returns the writes that ended before the cluster's infrastructure was provisioned.
func (t *Timeline) InfrastructureWrites() []*schedule.Write {
	var found []*schedule.Write
	for _, w := range t.Writes {
		if w.Method == "PUT" && (t.Times.Provisioned.IsZero() || !w.End.After(t.Times.Provisioned)) {
			found = append(found, w)
		}
	}
	return found
}

// CriticalPath is that of the infrastructure, with the sum of its durations.
func (t *Timeline) CriticalPath() ([]*schedule.Write, time.Duration) {
	return schedule.CriticalPath(t.InfrastructureWrites())
}

// ComputeOverhead returns the time from apply to provisioned infrastructure, divided by the critical path of Azure's operations.
// Zero when one of them is not known.
func (t *Timeline) ComputeOverhead() float64 {
	_, critical := t.CriticalPath()
	if critical <= 0 || t.Times.Provisioned.IsZero() {
		return 0
	}
	return float64(t.Times.Provisioned.Sub(t.Times.Applied)) / float64(critical)
}

// SummaryLine returns one line of figures.
func (t *Timeline) SummaryLine() string {
	_, critical := t.CriticalPath()
	return fmt.Sprintf("Azure: %d writes, %d reads; infrastructure in %.1f s over a critical path of %.1f s: overhead %.2f",
		len(t.Writes), t.Reads, t.Times.Provisioned.Sub(t.Times.Applied).Seconds(), critical.Seconds(), t.ComputeOverhead())
}

// waitedFor returns what came last of all that a write needs.
func (t *Timeline) waitedFor(w *schedule.Write) string {
	before := func(end time.Time) float64 { return w.Start.Sub(end).Seconds() }
	switch data := t.Data[w]; {
	case data != nil && data.Perhaps:
		return fmt.Sprintf("%s (%.2f s before) or bootstrap data, in the same second", schedule.ShortenID(w.After.ID), before(w.After.End))
	case data != nil && data.From.Equal(data.To):
		return fmt.Sprintf("bootstrap data (%.2f s before)", before(data.To))
	case data != nil:
		return fmt.Sprintf("bootstrap data (%.0f to %.0f s before)", math.Floor(before(data.To)), math.Ceil(before(data.From)))
	case w.After != nil:
		return fmt.Sprintf("%s (%.2f s before)", schedule.ShortenID(w.After.ID), before(w.After.End))
	}
	return "-"
}

// Print writes the whole timeline.
func (t *Timeline) Print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "START\tEND\tTOOK\tWRITE\tRESOURCE\tSTATUS\tWAITED FOR")
	seconds := func(at time.Time) string { return fmt.Sprintf("%.2f", at.Sub(t.Times.Applied).Seconds()) }
	for _, write := range t.Writes {
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%s\t%s\t%s\t%s\n", seconds(write.Start), seconds(write.End), write.Duration().Seconds(), write.Method,
			schedule.ShortenID(write.ID), write.Status, t.waitedFor(write))
	}
	w.Flush()
	if len(t.Reconciliations) > 0 {
		fmt.Fprintln(out)
		traces.Print(out, t.Reconciliations, t.Times.Applied)
	}
	path, critical := t.CriticalPath()
	fmt.Fprintf(out, "\nCritical path of the infrastructure, %.2f s:\n", critical.Seconds())
	for _, write := range path {
		fmt.Fprintf(out, "  %6.2f s  %s\n", write.Duration().Seconds(), schedule.ShortenID(write.ID))
	}
	fmt.Fprintln(out, "\n"+t.SummaryLine())
	if !t.Times.Ready.IsZero() {
		fmt.Fprintf(out, "All ready after %.1f s. In the %s since then: %d writes, %d reads.\n", t.Times.Ready.Sub(t.Times.Applied).Seconds(),
			time.Since(t.Times.Ready).Round(time.Second), t.WritesAfterReady, t.ReadsAfterReady)
	}
}

// findGap returns what a write waited for last: bootstrap data, another write, or, without both, the apply.
func (t *Timeline) findGap(w *schedule.Write) schedule.Gap {
	from, reason := t.Times.Applied, "first reconciliation"
	if w.After != nil {
		from, reason = w.After.End, "after "+schedule.ShortenID(w.After.ID)
	}
	if data := t.Data[w]; data != nil {
		reason = "waits for bootstrap data"
	}
	return schedule.Gap{From: from, Reason: reason}
}

// DrawSVG draws the writes from the apply on.
func (t *Timeline) DrawSVG(out io.Writer) error {
	path, _ := t.CriticalPath()
	return schedule.DrawSVG(out, t.Writes, path, t.Times.Applied, time.Now(), t.findGap)
}
