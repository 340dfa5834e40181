package aks

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestInstancesRetry(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		reason string
		status metav1.ConditionStatus
		since  time.Duration
		want   time.Duration
	}{
		"no condition":  {"Azure may be creating it", "", 0, 5 * time.Second},
		"were as many":  {"they were complete until now", metav1.ConditionTrue, time.Hour, 5 * time.Second},
		"for a moment":  {"the next one may exist at once", metav1.ConditionFalse, 20 * time.Second, 5 * time.Second},
		"for a minute":  {"a sixth more is soon enough", metav1.ConditionFalse, time.Minute, 10 * time.Second},
		"for two hours": {"instances that Azure does not create are looked for rarely", metav1.ConditionFalse, 2 * time.Hour, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &infrav1.AzureManagedMachinePool{}
			if test.status != "" {
				pool.Status.Conditions = []metav1.Condition{{Type: infrav1.ScaleSetReadyCondition, Status: test.status,
					LastTransitionTime: metav1.NewTime(now.Add(-test.since))}}
			}
			if got := InstancesRetry(pool, now); got != test.want {
				t.Errorf("%s: read again in %s, want %s", test.reason, got, test.want)
			}
		})
	}
}

func TestFollowAutoscaler(t *testing.T) {
	const key = clusterv1.ReplicasManagedByAnnotation
	tests := map[string]struct {
		reason      string
		annotations map[string]string
		replicas    int32
		autoscaled  bool
		count       int32
		wantNote    map[string]string
		wantCount   int32
	}{
		"autoscaler turned on": {"AKS decides from now on", nil, 2, true, 5, map[string]string{key: "true"}, 5},
		"autoscaler runs": {"the MachinePool shows the number that AKS has chosen", map[string]string{key: "true"}, 5, true, 3,
			map[string]string{key: "true"}, 3},
		"the user's name": {"it means the same to Cluster API, and a tool may apply it again and again",
			map[string]string{key: "aks-autoscaler"}, 5, true, 3, map[string]string{key: "aks-autoscaler"}, 3},
		"the user's, empty": {"an empty value means the same", map[string]string{key: ""}, 5, true, 3, map[string]string{key: ""}, 3},
		"the user's, false": {"false means the opposite, and Cluster API would scale against AKS", map[string]string{key: "false"}, 5, true,
			3, map[string]string{key: "true"}, 3},
		"autoscaler turned off": {"the MachinePool decides again, from the number there is", map[string]string{key: "true", "a": "b"}, 5, false,
			5, map[string]string{"a": "b"}, 5},
		"external autoscaler": {"another program scales the pool in Azure, and the MachinePool shows it", map[string]string{key: "keda"}, 4, false, 2,
			map[string]string{key: "keda"}, 2},
		"external autoscaler, false": {"no program does", map[string]string{key: "false"}, 4, false, 2, map[string]string{key: "false"}, 4},
		"no autoscaler":              {"nothing to set", nil, 4, false, 2, nil, 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			machinePool := &clusterv1.MachinePool{}
			machinePool.Annotations = test.annotations
			machinePool.Spec.Replicas = &test.replicas
			applyAutoscaler(machinePool, "true", test.autoscaled, test.count)
			if diff := cmp.Diff(test.wantNote, machinePool.Annotations); diff != "" {
				t.Errorf("%s: annotations %s", test.reason, diff)
			}
			if *machinePool.Spec.Replicas != test.wantCount {
				t.Errorf("%s: %d replicas, want %d", test.reason, *machinePool.Spec.Replicas, test.wantCount)
			}
		})
	}
}
