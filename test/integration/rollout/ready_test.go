package rollout_test

import (
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestReadyReplicas lets Cluster API change the Ready condition of Machines of a pool that is in order. It expects that the pool shows the
// number of Ready Machines within five seconds, with one write to Kubernetes for each change of the number, and without a request to Azure.
func TestReadyReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, three)
		m := w.startWhole()
		// The events that made the last VM Ready may still wake the pool.
		virtual.WaitForSignal(nil, time.Minute)
		machines := &clusterv1.MachineList{}
		if err := w.Kubernetes.List(t.Context(), machines); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			reason  string
			machine int
			ready   metav1.ConditionStatus
			message string
			want    int32
			writes  int
		}{
			{"a Machine that is not Ready does not count", 0, metav1.ConditionFalse, "no Node", 0, 0},
			{"Cluster API has to be woken for the first one", 0, metav1.ConditionTrue, "", 1, 1},
			{"and for the second", 1, metav1.ConditionTrue, "", 2, 1},
			{"and for the last, after which nothing else happens", 2, metav1.ConditionTrue, "", 3, 1},
			{"the number is the same", 2, metav1.ConditionTrue, "it still is", 3, 0},
			{"one that is not Ready any more does not count", 1, metav1.ConditionFalse, "the Node is gone", 2, 1},
			{"another message changes no number", 1, metav1.ConditionUnknown, "who knows", 2, 0},
		} {
			mark, acts := w.Azure.MarkRequests(), m.CountCalls()
			w.setReady(machines.Items[step.machine].Name, step.ready, step.message)
			virtual.WaitForSignal(nil, 5*time.Second)
			if got := w.readyReplicas(); got != step.want {
				t.Errorf("%s: readyReplicas is %d, want %d", step.reason, got, step.want)
			}
			if asked := countCalls(w.Azure, mark); len(asked) > 0 {
				t.Errorf("%s: Azure is asked: %s", step.reason, formatFigures(asked))
			}
			if acts = m.CountCalls() - acts; acts != step.writes {
				t.Errorf("%s: %d writes to Kubernetes, want %d", step.reason, acts, step.writes)
			}
		}
	})
}

// TestReadyReplicasWithoutAzure lets a Machine become Ready while the pool cannot be read from Azure.
func TestReadyReplicasWithoutAzure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, three)
		w.startWhole()
		w.rules.endChecks()
		for _, method := range []string{"GET", "PUT", "PATCH"} {
			rule := fault.Rule{Method: method, Count: -1, Kind: fault.Status, Status: 403, Code: "AuthorizationFailed",
				Message: "The client does not have authorization."}
			if err := w.Azure.AddFault(rule); err != nil {
				t.Fatal(err)
			}
		}
		w.rollPool()
		virtual.WaitForSignal(nil, time.Minute)
		azurePool, machines := &infrav1.AzureMachinePool{}, &clusterv1.MachineList{}
		w.ReadObject(azurePool, poolName)
		if ready := harness.FindCondition(azurePool, infrav1.ReadyCondition); ready.Reason != infrav1.LastSeenReason {
			t.Fatalf("Ready is %s with reason %s, although Azure answers nothing", ready.Status, ready.Reason)
		}
		if err := w.Kubernetes.List(t.Context(), machines); err != nil {
			t.Fatal(err)
		}
		w.setReady(machines.Items[0].Name, metav1.ConditionTrue, "")
		virtual.WaitForSignal(nil, 5*time.Second)
		if got := w.readyReplicas(); got != 1 {
			t.Errorf("readyReplicas is %d, want 1", got)
		}
	})
}

// setReady sets the Ready condition of a Machine, as Cluster API does.
func (w *world) setReady(machine string, status metav1.ConditionStatus, message string) {
	w.t.Helper()
	harness.ChangeStatus(w.Stage, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: machine}}, func(m *clusterv1.Machine) {
		conditions.Set(m, metav1.Condition{Type: clusterv1.MachineReadyCondition, Status: status, Reason: clusterv1.MachineReadyReason,
			Message: message})
	})
}

// readyReplicas returns the number of Ready Machines that the pool shows.
func (w *world) readyReplicas() int32 {
	w.t.Helper()
	azurePool := &infrav1.AzureMachinePool{}
	w.ReadObject(azurePool, poolName)
	if azurePool.Status.ReadyReplicas == nil {
		w.t.Fatal("the pool shows no readyReplicas")
	}
	return *azurePool.Status.ReadyReplicas
}
