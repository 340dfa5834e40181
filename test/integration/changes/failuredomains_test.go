package changes_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestFailureDomainsFollowTheControlPlane changes a control plane to a size that not all zones offer, and back. The kind of the control
// plane is installed only after the cluster is provisioned.
func TestFailureDomainsFollowTheControlPlane(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	azureCluster := stage.AzureCluster("c1")
	stage.CreateCluster(azureCluster)
	harness.ChangeObject(stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *clusterv1.Cluster) {
		c.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: "controlplane.cluster.x-k8s.io",
			Kind: "KubeadmControlPlane", Name: "c1-control-plane"}
	})
	usable := func(c *infrav1.AzureCluster) map[string]bool {
		out := map[string]bool{}
		for _, domain := range c.Status.FailureDomains.Domains {
			out[domain.Name] = *domain.ControlPlane
		}
		return out
	}
	everywhere, notInThird := map[string]bool{"1": true, "2": true, "3": true}, map[string]bool{"1": true, "2": true, "3": false}
	if diff := cmp.Diff(everywhere, usable(stage.WaitClusterProvisioned("c1"))); diff != "" {
		t.Errorf("without a control plane all zones are usable (-want +got):\n%s", diff)
	}

	clusterAPI, err := harness.ModuleDir("sigs.k8s.io/cluster-api")
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.InstallDefinitions(environment.Config, filepath.Join(clusterAPI, "controlplane", "kubeadm", "config", "crd", "bases")); err != nil {
		t.Fatal(err)
	}
	machine := func(name, size string) *infrav1.AzureMachine {
		azureMachine := stage.AzureMachine("c1", name)
		azureMachine.Spec.VMSize = size
		return azureMachine
	}
	for _, size := range []string{"Standard_E8s_v5", "Standard_D2s_v3"} {
		stage.CreateObject(&infrav1.AzureMachineTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: templateOf[size]},
			Spec:       infrav1.AzureMachineTemplateSpec{Template: infrav1.AzureMachineTemplateResource{Spec: machine("m", size).Spec}},
		})
	}
	controlPlane := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "KubeadmControlPlane",
		"metadata": map[string]any{"namespace": stage.Namespace, "name": "c1-control-plane"},
		"spec": map[string]any{
			"version": harness.KubernetesVersion,
			"machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{
				"apiGroup": infrav1.GroupVersion.Group, "kind": "AzureMachineTemplate", "name": templateOf["Standard_E8s_v5"]}}},
		},
	}}
	stage.CreateObject(controlPlane)

	stage.CreateMachine(machine("big", "Standard_E8s_v5"), harness.ControlPlane, "1")
	harness.WaitFor(stage, azureCluster, "c1", "with a message that zone 3 does not have the size", func(c *infrav1.AzureCluster) bool {
		return cmp.Equal(usable(c), notInThird) && harness.IsReady(c)
	})
	stage.WaitMachineProvisioned("big")
	mark := stage.Azure.MarkRequests()

	harness.ChangeObject(stage, controlPlane, func(u *unstructured.Unstructured) {
		if err := unstructured.SetNestedField(u.Object, templateOf["Standard_D2s_v3"], "spec", "machineTemplate", "spec", "infrastructureRef",
			"name"); err != nil {
			t.Fatal(err)
		}
	})
	stage.CreateMachine(machine("small", "Standard_D2s_v3"), harness.ControlPlane, "3")
	harness.WaitFor(stage, azureCluster, "c1", "with a message that all zones have the size", func(c *infrav1.AzureCluster) bool {
		return cmp.Equal(usable(c), everywhere) && harness.IsReady(c)
	})
	stage.WaitMachineProvisioned("small")
	for _, request := range stage.Azure.RequestsSince(mark) {
		if strings.Contains(request, "/skus ") {
			t.Errorf("the catalog is in memory, but there was %s", request)
		}
	}
}

// templateOf are the names of templates by their size.
var templateOf = map[string]string{"Standard_E8s_v5": "c1-big", "Standard_D2s_v3": "c1-small"}
