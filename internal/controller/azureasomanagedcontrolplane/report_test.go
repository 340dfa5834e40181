package azureasomanagedcontrolplane

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// TestStoppedClusterIsReported reports a cluster that is in place and stopped or runs. The typed control plane shows the same
// (test/integration/managed).
func TestStoppedClusterIsReported(t *testing.T) {
	for name, test := range map[string]struct {
		reason, power, want string
	}{
		"running": {"everything is in place", "Running", infrav1.ReadyReason},
		"stopped": {"AKS refuses changes of a stopped cluster, and its API server does not answer", "Stopped", infrav1.StoppedReason},
	} {
		t.Run(name, func(t *testing.T) {
			manifests, errs := plan.ReadManifests("it", []runtime.RawExtension{
				{Raw: []byte(
					`{"apiVersion":"resources.azure.com/v1api20200601","kind":"ResourceGroup","metadata":{"name":"g"},"spec":{"location":"eastus"}}`)},
				{Raw: []byte(`{"apiVersion":"containerservice.azure.com/v1api20251001","kind":"ManagedCluster","metadata":{"name":"mc"},"spec":{"owner":{"name":"g"},"location":"eastus"}}`)},
			})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			object := &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "mc"}}
			conditions.Set(object, metav1.Condition{Type: infrav1.KubeconfigReadyCondition, Status: metav1.ConditionTrue,
				Reason: infrav1.ReadyReason})
			in := &input{object: object, acted: true,
				planned: plan.Input{Cluster: "c1", Owner: object, Object: object, ObjectKey: "it", Set: plan.NewSet("s", manifests, false)}}
			var outcome arm.Outcome
			for _, m := range manifests {
				id, err := in.planned.ResourceID(m)
				if err != nil {
					t.Fatal(err)
				}
				outcome.Results = append(outcome.Results, arm.Result{
					ID: id, Group: infrav1.ResourcesReadyCondition, State: arm.Ready,
					Observed: json.RawMessage(`{"properties":{"provisioningState":"Succeeded","powerState":{"code":"` + test.power + `"}}}`),
				})
			}
			_, err := (&Kind{}).Report(in, outcome)
			if got := conditions.Get(object, infrav1.ResourcesReadyCondition); got.Reason != test.want {
				t.Errorf("%s: ResourcesReady is %s with the reason %s, want %s", test.reason, got.Status, got.Reason, test.want)
			}
			if stopped := test.want == infrav1.StoppedReason; conditions.IsTrue(object, infrav1.ReadyCondition) == stopped || (err != nil) != stopped {
				t.Errorf("%s: Ready is %v, and the object is checked again: %v", test.reason, conditions.Get(object, infrav1.ReadyCondition), err)
			}
		})
	}
}
