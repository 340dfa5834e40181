package changes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestScaleFromZero checks that templates describe their nodes before the first one exists.
func TestScaleFromZero(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	cluster := &clusterv1.Cluster{}
	stage.ReadObject(cluster, "c1")
	template := func(name, size, osType string) {
		spec := stage.AzureMachine("c1", name).Spec
		spec.VMSize, spec.OSDisk.OSType = size, osType
		stage.CreateObject(&infrav1.AzureMachineTemplate{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: stage.Namespace, Name: name,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: cluster.UID}},
			},
			Spec: infrav1.AzureMachineTemplateSpec{Template: infrav1.AzureMachineTemplateResource{Spec: spec}},
		})
	}
	template("linux", "Standard_D2s_v3", "Linux")
	template("windows", "Standard_D4s_v3", "Windows")
	template("unknown", "Standard_D2sv3", "Linux")

	for name, want := range map[string][]string{"linux": {"2", "8Gi", "amd64", "linux"}, "windows": {"4", "16Gi", "amd64", "windows"}} {
		status := harness.WaitFor(stage, &infrav1.AzureMachineTemplate{}, name, "with a capacity in its status", func(t *infrav1.AzureMachineTemplate) bool {
			return len(t.Status.Capacity) > 0
		}).Status
		got := []string{status.Capacity.Cpu().String(), status.Capacity.Memory().String(), string(status.NodeInfo.Architecture),
			string(status.NodeInfo.OperatingSystem)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	refused := harness.WaitFor(stage, &infrav1.AzureMachineTemplate{}, "unknown", "not Ready", func(t *infrav1.AzureMachineTemplate) bool {
		return harness.FindCondition(t, infrav1.StalledCondition).Status == metav1.ConditionTrue
	})
	if ready := harness.FindCondition(refused, infrav1.ReadyCondition); ready.Reason != infrav1.InvalidConfigurationReason ||
		!strings.HasPrefix(ready.Message, `spec.template.spec.vmSize: Invalid value: "Standard_D2sv3"`) {
		t.Errorf("Ready is %+v", ready)
	}
	stage.Eventually("an event reports the wrong size", func() bool {
		list := &eventsv1.EventList{}
		if err := stage.Client.List(t.Context(), list, client.InNamespace(stage.Namespace)); err != nil {
			t.Fatal(err)
		}
		for _, event := range list.Items {
			if event.Reason == infrav1.InvalidConfigurationReason && event.Regarding.Name == "unknown" {
				return true
			}
		}
		return false
	})
}
