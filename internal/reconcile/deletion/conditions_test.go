package deletion_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

func TestReplaceConditions(t *testing.T) {
	obj := &infrav1.AzureMachine{}
	condition := func(conditionType string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: conditionType, Status: status, Reason: reason}
	}
	obj.SetConditions([]metav1.Condition{
		condition(infrav1.DisksReadyCondition, metav1.ConditionTrue, "Ready"), condition(infrav1.ReadyCondition, metav1.ConditionTrue, "Ready"),
		condition(infrav1.VMRunningCondition, metav1.ConditionTrue, "Ready"),
		condition(clusterv1.PausedCondition, metav1.ConditionFalse, "NotPaused"),
	})
	for i := range 2 {
		deletion.ReplaceConditions(obj, metav1.Condition{Status: metav1.ConditionFalse, Reason: "IdentityNotFound", Message: "gone"},
			infrav1.VMRunningCondition)
		got := map[string]string{}
		for _, c := range obj.GetConditions() {
			got[c.Type] = fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message)
		}
		want := map[string]string{"Ready": "False IdentityNotFound gone", "VMRunning": "False IdentityNotFound gone",
			"Paused": "False NotPaused "}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("reconciliation %d (-want +got):\n%s", i, diff)
		}
	}
	first := obj.DeepCopy()
	deletion.ReplaceConditions(obj, metav1.Condition{Status: metav1.ConditionFalse, Reason: "IdentityNotFound", Message: "gone"},
		infrav1.VMRunningCondition)
	if diff := cmp.Diff(first, obj); diff != "" {
		t.Errorf("an equal condition is written again:\n%s", diff)
	}
}

func TestObjectsToDeleteFirst(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	machine := func(name, owner string, going bool) client.Object {
		m := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		if owner != "" {
			m.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: owner}}
		}
		if going {
			m.DeletionTimestamp = &now
		}
		return m
	}
	var many []client.Object
	for i := range 21 {
		many = append(many, machine(fmt.Sprint("m", i), fmt.Sprint("m", i), false))
	}
	tests := map[string]struct {
		reason  string
		objects []client.Object
		gone    bool
		going   bool
		want    string
	}{
		"all going": {"there is nothing to do but to wait", []client.Object{machine("b", "b", true), machine("a", "a", true)}, false, true,
			"waits for the deletion of: AzureMachine a, b"},
		"one staying": {"Cluster API deletes it later", []client.Object{machine("a", "a", true), machine("b", "b", false)}, false, true,
			"waits for the deletion of: AzureMachine a; waits for objects that are not being deleted yet: AzureMachine b. Cluster c is being " +
				"deleted, and Cluster API deletes them, too. To delete them now: kubectl delete -n ns machine/b"},
		"cluster stays": {"both ways are named", []client.Object{machine("a", "owner", false)}, false, false,
			"waits for objects that are not being deleted yet: AzureMachine a. To continue, delete the Cluster with all its objects: kubectl " +
				"delete -n ns cluster/c, or only them: kubectl delete -n ns machine/owner"},
		"cluster gone": {"only users delete them", []client.Object{machine("a", "", false)}, true, true,
			"waits for objects that are not being deleted yet: AzureMachine a. To continue, delete them: kubectl delete -n ns azuremachine/a"},
		"many": {"the list is bounded, the command is complete", many[:6], true, true,
			"waits for objects that are not being deleted yet: AzureMachine m0, m1, m2, m3 and 2 more. To continue, delete them: kubectl delete " +
				"-n ns machine/m0 machine/m1 machine/m2 machine/m3 machine/m4 machine/m5"},
		"very many": {"a label selects objects if the list of names is too long", many, true, true,
			"waits for objects that are not being deleted yet: AzureMachine m0, m1, m10, m11 and 17 more. To continue, delete them: kubectl " +
				"delete -n ns machine --selector cluster.x-k8s.io/cluster-name=c"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}
			if test.going {
				cluster.DeletionTimestamp = &now
			}
			got := deletion.Prerequisites{Kind: "AzureMachine", OwnerKind: "Machine", Objects: test.objects, Cluster: cluster,
				ClusterGone: test.gone}.WaitCondition("WaitingForMachines")
			want := metav1.Condition{Status: metav1.ConditionFalse, Reason: "WaitingForMachines", Message: test.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestClusterOfLeftBehindObject(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	owned := []metav1.OwnerReference{{APIVersion: "postgresql.cnpg.io/v1", Kind: "Cluster", Name: "db"},
		{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "owner"}}
	label := map[string]string{clusterv1.ClusterNameLabel: "label"}
	tests := map[string]struct {
		reason string
		meta   metav1.ObjectMeta
		want   string
	}{
		"stays": {"its Cluster may be about to come", metav1.ObjectMeta{Labels: label}, ""},
		"moved": {"another management cluster has it",
			metav1.ObjectMeta{DeletionTimestamp: &now, Labels: label,
				Annotations: map[string]string{"clusterctl.cluster.x-k8s.io/delete-for-move": ""}}, ""},
		"owned":   {"the owner is the Cluster", metav1.ObjectMeta{DeletionTimestamp: &now, Labels: label, OwnerReferences: owned}, "owner"},
		"label":   {"the label has its name", metav1.ObjectMeta{DeletionTimestamp: &now, Labels: label}, "label"},
		"nothing": {"clusters and their infrastructure mostly have one name", metav1.ObjectMeta{Name: "c", DeletionTimestamp: &now}, "c"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if cluster := deletion.SubstituteCluster(&infrav1.AzureCluster{ObjectMeta: test.meta}); cluster != nil {
				got = cluster.Name
			}
			if got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}
