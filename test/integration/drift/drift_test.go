package drift_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestDriftIsRepairedReportedOrKept makes the changes one after the other on one cluster. Kept changes stay until the end, through all
// repairs.
func TestDriftIsRepairedReportedOrKept(t *testing.T) {
	virtual.PlayRows(t, virtual.PlayComplete, func(s *virtual.Scenario, played *virtual.Rows) {
		w := bringUpEverything(s)
		var keeping []row
		for _, r := range listRows() {
			if !played.Play(r.resource+": "+r.change, func() { tryRow(w, r) }) {
				// The following rows would fail for the same cause.
				w.undoRow(r)
			}
			if r.outcome == kept {
				keeping = append(keeping, r)
			}
		}
		for _, r := range keeping {
			if !r.holds(w) {
				w.T.Errorf("%s: %s, which is kept, was lost in a later repair", r.resource, r.change)
			}
		}
	})
}

// undoRow undoes the change of a failed row, if the row has an undo.
func (w *world) undoRow(r row) {
	if r.undo != nil {
		r.undo(w)
	}
}

// tryRow makes one change and checks its outcome.
func tryRow(w *world, r row) {
	before := w.takeSnapshot(r.path)
	if before == nil {
		w.T.Fatalf("there is no %s", r.path)
	}
	mark := w.Azure.MarkRequests()
	r.do(w)
	switch r.outcome {
	case repaired:
		// A reconciliation that was due anyway may have repaired it already.
		if reflect.DeepEqual(before, w.takeSnapshot(r.path)) && len(w.Azure.WritesSince(mark)) == 0 {
			w.T.Fatalf("nothing was changed")
		}
		w.waitRead(r.object, r.path)
		w.waitAsBefore(before, r.path)
		// The stored status may be from before the reconciliation that repairs, and the clock must not move while Azure is at it.
		w.WaitQuiet()
		w.waitReady(r.object)
		// The next change must not come so soon that Azure could have made it as a result of the repair.
		w.waitRead(r.object, r.path)
		w.waitReady(r.object)
	case reported:
		w.waitRead(r.object, r.path)
		w.waitCondition(r.object, r.want)
		w.checkNoWrites(mark, r)
		if r.undo != nil {
			r.undo(w)
			w.waitRead(r.object, r.path)
			w.waitReady(r.object)
		}
	case kept:
		// The second read begins after the provider has processed the first.
		w.waitRead(r.object, r.path)
		w.waitRead(r.object, r.path)
		w.waitReady(r.object)
		w.checkNoWrites(mark, r)
		if !r.holds(w) {
			w.T.Errorf("the change does not exist any more")
		}
	}
}

// waitAsBefore waits until a resource is as it was before.
func (w *world) waitAsBefore(before body, path string) {
	w.T.Helper()
	var after body
	w.WaitUntil("it is as before", func() bool {
		after = w.takeSnapshot(path)
		return reflect.DeepEqual(before, after)
	}, func() string { return "(-before +after):\n" + cmp.Diff(before, after) })
}

// checkNoWrites fails the test if the provider has written to Azure.
func (w *world) checkNoWrites(mark harness.Mark, r row) {
	w.T.Helper()
	writes := slices.DeleteFunc(w.Azure.WritesSince(mark), func(write string) bool { return r.follows != "" && strings.HasPrefix(write, r.follows) })
	if len(writes) > 0 {
		w.T.Errorf("the change is %s, but the provider sent %s", r.outcome, strings.Join(writes, ", "))
	}
}

// takeSnapshot returns a resource without the fields that change with every write; nil when it does not exist.
func (w *world) takeSnapshot(path string) body {
	w.T.Helper()
	resource, ok := w.FindResource(path)
	if !ok {
		return nil
	}
	return stripVolatile(resource).(body)
}

// volatile are members that Azure changes or makes up by itself.
var volatile = []string{"etag", "resourceGuid", "uniqueId", "timeCreated", "networkInterfaces", "networkInterface", "customDnsConfigs",
	"dnsName", "createdOn", "updatedOn",
	"createdBy", "updatedBy", "systemData", "principalId", "clientId", "virtualNetworkLinkState", "peeringSyncLevel",
	"resourceNavigationLinks"}

func stripVolatile(value any) any {
	switch v := value.(type) {
	case body:
		out := body{}
		for key, item := range v {
			if !slices.Contains(volatile, key) {
				out[key] = stripVolatile(item)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, item := range v {
			out = append(out, stripVolatile(item))
		}
		slices.SortStableFunc(out, func(a, b any) int { return strings.Compare(nameOf(a), nameOf(b)) })
		return out
	}
	return value
}

func nameOf(value any) string {
	element, _ := value.(body)
	name, _ := element["name"].(string)
	if name == "" {
		name, _ = element["id"].(string)
	}
	return name
}
