package settled_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/settled"
)

func TestMemory(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	memory := settled.New(10*time.Minute, func() time.Time { return now })
	object := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	conditions.Set(object, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
	key := client.ObjectKeyFromObject(object)
	one, err := settled.Fingerprint(map[string]string{"spec": "1"})
	if err != nil {
		t.Fatal(err)
	}
	two, err := settled.Fingerprint(map[string]string{"spec": "2"})
	if err != nil {
		t.Fatal(err)
	}

	if got := memory.Remaining(object, one); got != 0 {
		t.Errorf("an unknown object needs a pass, got %s left", got)
	}
	due := memory.Settle(key, one)
	if due < 9*time.Minute || due > 11*time.Minute {
		t.Errorf("jitter is a tenth of the resync period, got %s", due)
	}
	if got := memory.Remaining(object, one); got != due {
		t.Errorf("settled for %s, got %s", due, got)
	}
	if got := memory.Remaining(object, two); got != 0 {
		t.Errorf("changed input needs a pass, got %s left", got)
	}
	stale := object.DeepCopy()
	conditions.Set(stale, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.CreatingReason})
	if got := memory.Remaining(stale, one); got != 0 {
		t.Errorf("an object that is stored as not ready needs a pass, got %s left", got)
	}
	now = now.Add(due + time.Second)
	if got := memory.Remaining(object, one); got != 0 {
		t.Errorf("the resync is due, got %s left", got)
	}
	if got := memory.SettleFor(key, one, time.Minute); got != time.Minute || memory.Remaining(object, one) != time.Minute {
		t.Errorf("what expires in a minute is looked at then, got %s", got)
	}
	if got := memory.SettleFor(key, one, time.Hour); got != due {
		t.Errorf("what holds for longer does not put off the resync, got %s", got)
	}
	memory.Forget(key)
	if got := memory.Remaining(object, one); got != 0 {
		t.Errorf("a forgotten object needs a pass, got %s left", got)
	}
}
