package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestObservedDrift makes the changes of all rows while the clusters are observed. Nothing is written then. The writes of a row that is
// repaired, once the clusters are released, are those that the conditions Drifted listed. Rows that are reported or kept list none.
func TestObservedDrift(t *testing.T) {
	virtual.PlayRows(t, virtual.PlayComplete, func(s *virtual.Scenario, played *virtual.Rows) {
		w := bringUpEverything(s)
		for _, r := range listRows() {
			if !played.Play(r.resource+": "+r.change, func() { w.tryObserved(r) }) {
				w.undoRow(r)
			}
			w.observe(false)
		}
	})
}

// tryObserved makes the change of one row while the clusters are observed, and compares the list of writes with those that follow.
func (w *world) tryObserved(r row) {
	before := w.takeSnapshot(r.path)
	if before == nil {
		w.T.Fatalf("there is no %s", r.path)
	}
	w.observe(true)
	w.WaitQuiet()
	mark := w.Azure.MarkRequests()
	r.do(w)
	w.waitRead(r.object, r.path)
	w.waitRead(r.object, r.path)
	w.WaitQuiet()
	if writes := w.SentWrites(mark); len(writes) > 0 {
		w.T.Errorf("written while the clusters are observed: %v", writes)
	}
	listed := virtual.ListIntended(w.listDrifted()...)
	mark = w.Azure.MarkRequests()
	w.observe(false)
	switch r.outcome {
	case repaired:
		w.waitAsBefore(before, r.path)
	case reported:
		w.waitRead(r.object, r.path)
		w.waitCondition(r.object, r.want)
	case kept:
		w.waitRead(r.object, r.path)
	}
	w.WaitQuiet()
	written := w.ListSent(mark)
	if diff := cmp.Diff(listed, written); diff != "" {
		w.T.Errorf("writes (-listed +written):\n%s", diff)
	}
	if (r.outcome == repaired || r.follows != "") != (len(written) > 0) {
		w.T.Errorf("the row is %s, and the writes are %v", r.outcome, written)
	}
	if r.outcome == reported && r.undo != nil {
		r.undo(w)
	}
	if r.outcome != kept {
		w.waitRead(r.object, r.path)
		w.WaitQuiet()
	}
}

// observe has the clusters observed, or releases them.
func (w *world) observe(observed bool) {
	w.T.Helper()
	for _, name := range []string{"c1", "p1"} {
		harness.ChangeObject(w.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, func(c *clusterv1.Cluster) {
			delete(c.Annotations, infrav1.ObserveAnnotation)
			if observed {
				metav1.SetMetaDataAnnotation(&c.ObjectMeta, infrav1.ObserveAnnotation, "true")
			}
		})
	}
}

// listDrifted returns the conditions Drifted of all objects with resources in Azure.
func (w *world) listDrifted() (out []metav1.Condition) {
	w.T.Helper()
	for _, list := range []client.ObjectList{&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{}} {
		if err := w.Kubernetes.List(w.T.Context(), list); err != nil {
			w.T.Fatal(err)
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			out = append(out, harness.FindCondition(item.(harness.Conditioned), infrav1.DriftedCondition))
			return nil
		}); err != nil {
			w.T.Fatal(err)
		}
	}
	return out
}
