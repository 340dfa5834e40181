package planned_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// deploy adds a MachineDeployment to the objects, with the machines c1-md-0-*, and the templates t1, from which these are, and t2.
func deploy(objects []client.Object) ([]client.Object, *clusterv1.MachineDeployment) {
	deployment := &clusterv1.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1-md-0", UID: "deployment"},
		Spec: clusterv1.MachineDeploymentSpec{ClusterName: "c1", Replicas: new(int32(2)), Template: clusterv1.MachineTemplateSpec{
			Spec: clusterv1.MachineSpec{ClusterName: "c1", InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: infrav1.GroupVersion.Group, Kind: "AzureMachineTemplate", Name: "t1"}},
		}},
	}
	out := append(slices.Clone(objects), deployment)
	for i := range 2 {
		for _, object := range objects {
			labels := object.GetLabels()
			if labels == nil || object.GetName() != fmt.Sprintf("c1-md-0-%d", i) {
				continue
			}
			labels[clusterv1.MachineDeploymentNameLabel] = deployment.Name
			object.SetLabels(labels)
			if owner, is := object.(*clusterv1.Machine); is {
				deployment.Spec.Template.Spec.Version = owner.Spec.Version
			}
			machine, is := object.(*infrav1.AzureMachine)
			if !is {
				continue
			}
			annotations := machine.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[clusterv1.TemplateClonedFromNameAnnotation] = "t1"
			machine.SetAnnotations(annotations)
			if i == 0 {
				for _, name := range []string{"t1", "t2"} {
					template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
					template.Spec.Template.Spec = *machine.Spec.DeepCopy()
					template.Spec.Template.Spec.ProviderID = nil
					out = append(out, template)
				}
			}
		}
	}
	return out, deployment
}

func findMachine(objects []client.Object, name string) *infrav1.AzureMachine {
	for _, object := range objects {
		if machine, is := object.(*infrav1.AzureMachine); is && machine.Name == name {
			return machine
		}
	}
	return nil
}

// TestVerdicts plans changes of a MachineDeployment with two machines and compares the verdict of each machine.
func TestVerdicts(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(objects []client.Object, deployment *clusterv1.MachineDeployment)
		// want are the verdicts of machines by name, with their number.
		want map[string]string
	}{
		"no change": {"the machines are as the deployment has them", func([]client.Object, *clusterv1.MachineDeployment) {}, map[string]string{}},
		"template": {"machines of another template are replaced one after the other", func(_ []client.Object, d *clusterv1.MachineDeployment) {
			d.Spec.Template.Spec.InfrastructureRef.Name = "t2"
		}, map[string]string{"c1-md-0-0": "replaced 1", "c1-md-0-1": "replaced 2", "c1-md-0-new-2": "new 0", "c1-md-0-new-3": "new 0"}},
		"scale down": {"a machine goes for which no other one comes", func(_ []client.Object, d *clusterv1.MachineDeployment) {
			d.Spec.Replicas = new(int32(1))
		}, map[string]string{"c1-md-0-0": "deleted 0"}},
		"scale up": {"a machine comes", func(_ []client.Object, d *clusterv1.MachineDeployment) {
			d.Spec.Replicas = new(int32(3))
		}, map[string]string{"c1-md-0-new-2": "new 0"}},
		"tags": {"Azure changes tags of a VM that runs", func(objects []client.Object, _ *clusterv1.MachineDeployment) {
			findMachine(objects, "c1-md-0-0").Spec.AdditionalTags = infrav1.Tags{"team": "a"}
		}, map[string]string{"c1-md-0-0": "changed in place 0"}},
		"size": {"the manager does not resize a VM", func(objects []client.Object, _ *clusterv1.MachineDeployment) {
			findMachine(objects, "c1-md-0-0").Spec.VMSize = "Standard_D4s_v3"
		}, map[string]string{"c1-md-0-0": "refused 0"}},
	}
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		manager := s.StartProvider()
		s.BuildCluster("c1", 2)
		virtual.WaitForSignal(nil, time.Hour)
		manager.StopManager()
		for name, test := range tests {
			options := s.PlanOptions(s.Azure.SubscriptionID)
			var deployment *clusterv1.MachineDeployment
			options.Objects, deployment = deploy(options.Objects)
			options.Play = clusterapi.PlayRound
			test.change(options.Objects, deployment)
			outcome, err := preview.Compute(s.T.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			report, err := outcome.Report(s.T.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, o := range report.Objects {
				if o.Kind == "AzureMachine" {
					got[o.Name] = fmt.Sprintf("%s %d", o.Verdict, o.Order)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" || !outcome.Settled {
				t.Errorf("%s: %s: settled %t, verdicts (-want +got):\n%s\n%+v", name, test.reason, outcome.Settled, diff, report.Objects)
			}
		}
	})
}
