package stable_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stable"
)

func TestTimeUntilDue(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	memory := stable.NewTracker(10*time.Minute, func() time.Time { return now })
	object := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	conditions.Set(object, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
	key := client.ObjectKeyFromObject(object)
	one, err := stable.ComputeFingerprint(map[string]string{"spec": "1"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := stable.ComputeFingerprint(map[string]string{"spec": "2"})
	if err != nil {
		t.Fatal(err)
	}

	if got := memory.TimeUntilDue(object, one); got != 0 {
		t.Errorf("an unknown object needs a reconciliation, got %s left", got)
	}
	cluster := client.ObjectKey{Namespace: "default", Name: "c1"}
	if memory.InputChanged(key, one) {
		t.Error("a new process counts an object as stable before its first reconciliation")
	}
	due := memory.MarkStable(key, cluster, one, 10*time.Minute)
	if due <= 0 || due > 10*time.Minute {
		t.Errorf("the next reconciliation is within the resync, got %s", due)
	}
	if memory.InputChanged(key, one) || !memory.InputChanged(key, two) {
		t.Errorf("another input: %t, the same one: %t", memory.InputChanged(key, two), memory.InputChanged(key, one))
	}
	if got := memory.TimeUntilDue(object, one); got != due {
		t.Errorf("stable for %s, got %s", due, got)
	}
	if got := memory.TimeUntilDue(object, two); got != 0 {
		t.Errorf("changed input needs a reconciliation, got %s left", got)
	}
	stale := object.DeepCopy()
	conditions.Set(stale, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.CreatingReason})
	if got := memory.TimeUntilDue(stale, one); got != 0 {
		t.Errorf("an object that is stored as not ready needs a reconciliation, got %s left", got)
	}
	now = now.Add(due + time.Second)
	if got := memory.TimeUntilDue(object, one); got != 0 {
		t.Errorf("the resync is due, got %s left", got)
	}
	if got := memory.MarkStable(key, cluster, one, time.Minute); got > time.Minute || memory.TimeUntilDue(object, one) != got {
		t.Errorf("an object with a fact that expires in a minute is due then, got %s", got)
	}
	if got := memory.MarkStable(key, cluster, one, time.Hour); got > 10*time.Minute {
		t.Errorf("a longer validity does not delay the resync, got %s", got)
	}
	memory.Forget(key)
	if got := memory.TimeUntilDue(object, one); got != 0 {
		t.Errorf("a forgotten object needs a reconciliation, got %s left", got)
	}
}

// TestObjectForWhichOthersAct: an object as planned that others have to make useful is left alone until the next sync, which reads like one of an object
// in order. A reconciliation that found work to do ends that.
func TestObjectForWhichOthersAct(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	memory := stable.NewTracker(10*time.Minute, func() time.Time { return now })
	object := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	for _, conditionType := range []string{infrav1.PrivateEndpointsReadyCondition, infrav1.ReadyCondition} {
		conditions.Set(object, metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: infrav1.WaitingForApprovalReason})
	}
	key, fingerprint, other := client.ObjectKeyFromObject(object), stable.Fingerprint{1}, stable.Fingerprint{2}
	check := func(what string, inOrder bool, left time.Duration) {
		t.Helper()
		if got := memory.WasInOrder(object, fingerprint); got != inOrder {
			t.Errorf("%s: in order %t", what, got)
		}
		if got := memory.TimeUntilDue(object, fingerprint); got != left {
			t.Errorf("%s: due in %s, want %s", what, got, left)
		}
	}
	check("after a restart", false, 0)
	due := memory.MarkStable(key, key, fingerprint, 10*time.Minute)
	check("as planned", true, due)
	if memory.WasInOrder(object, other) || memory.TimeUntilDue(object, other) != 0 {
		t.Error("changed input needs a reconciliation")
	}
	now = now.Add(due)
	check("the sync is due", true, 0)
	memory.MarkUnfinished(key)
	check("there was work to do", false, 0)
	due = memory.MarkStable(key, key, fingerprint, 10*time.Minute)
	conditions.Set(object, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.VMStoppedReason})
	check("something else is not in order", false, 0)
	conditions.Set(object, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
	check("ready", true, due)
}

// TestObjectsOfAClusterAreSyncedTogether: the objects of one cluster are synced at the same moment, whenever they became stable, and those of all
// clusters while the first one's reads of Azure are valid.
func TestObjectsOfAClusterAreSyncedTogether(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	memory := stable.NewTracker(10*time.Minute, func() time.Time { return now })
	next := func(cluster, object string) time.Time {
		return now.Add(memory.MarkStable(client.ObjectKey{Name: object}, client.ObjectKey{Namespace: "default", Name: cluster},
			stable.Fingerprint{}, 10*time.Minute))
	}
	first := next("c1", "network")
	now = first.Add(-5 * time.Minute)
	if machine := next("c1", "machine"); !machine.Equal(first) {
		t.Errorf("a machine is synced at %s, its network at %s", machine, first)
	}
	now = first.Add(time.Second)
	if again := next("c1", "network"); !again.Equal(first.Add(10 * time.Minute)) {
		t.Errorf("synced at %s, and then at %s", first, again)
	}
	moments := map[time.Time]bool{}
	for i := range 100 {
		moments[next("c"+strconv.Itoa(i), "network")] = true
	}
	first, last := slices.MinFunc(slices.Collect(maps.Keys(moments)), time.Time.Compare),
		slices.MaxFunc(slices.Collect(maps.Keys(moments)), time.Time.Compare)
	if spread := last.Sub(first); len(moments) < 100 || spread > 30*time.Second && spread < 570*time.Second {
		t.Errorf("100 clusters are synced at %d moments in %s", len(moments), spread)
	}
}

// TestConvergingSince follows an object from a spec to another one.
func TestConvergingSince(t *testing.T) {
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := epoch
	memory := stable.NewTracker(10*time.Minute, func() time.Time { return now })
	key := client.ObjectKey{Namespace: "default", Name: "a"}
	one, two := stable.Fingerprint{1}, stable.Fingerprint{2}
	since := func(reason string, input stable.Fingerprint, want time.Duration) {
		t.Helper()
		if got := memory.ConvergingSince(key, input).Sub(epoch); got != want {
			t.Errorf("%s: since %s, want %s", reason, got, want)
		}
	}
	since("the first look begins", one, 0)
	now = epoch.Add(2 * time.Minute)
	since("the next one continues", one, 0)
	now = epoch.Add(7 * time.Minute)
	since("five minutes are the most", one, 2*time.Minute)
	since("another spec begins anew", two, 7*time.Minute)
	now = epoch.Add(450 * time.Second)
	memory.ReplaceFingerprint(key, two, stable.Fingerprint{3})
	since("a write of the reconciliation itself does not", stable.Fingerprint{3}, 7*time.Minute)
	memory.ReplaceFingerprint(key, one, two)
	since("nor does a write of a reconciliation of an older spec", stable.Fingerprint{3}, 7*time.Minute)
	memory.ReplaceFingerprint(key, stable.Fingerprint{3}, two)
	now = epoch.Add(8 * time.Minute)
	memory.MarkStable(key, key, two, 10*time.Minute)
	since("a stable object begins anew", two, 8*time.Minute)
	now = epoch.Add(9 * time.Minute)
	memory.Forget(key)
	since("so does a deleted one", two, 9*time.Minute)
}
