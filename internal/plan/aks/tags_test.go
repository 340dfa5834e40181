package aks

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
)

// TestTagsAreTheSameInEveryPlan builds the tags of a cluster many times. Names differ only in case, as in stored objects and patches:
// a plan that depended on the order of a map would be written again and again.
func TestTagsAreTheSameInEveryPlan(t *testing.T) {
	controlPlane := &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	controlPlane.Spec.AdditionalTags = infrav1.Tags{"name": "web", "CostCenter": "1", "costCenter": "2"}
	const want = `{"tags":{"Name":"c1","costCenter":"2","other":"patch",` +
		`"sigs.k8s.io_cluster-api-provider-azure_cluster_c1":"owned","sigs.k8s.io_cluster-api-provider-azure_role":"common"}}`
	for range 50 {
		body := map[string]any{"tags": map[string]any{"COSTCENTER": "patch", "Other": "first", "other": "patch"}}
		setClusterTags(Input{ControlPlane: controlPlane}, managedcluster.Observed{}, body)
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if string(raw) != want {
			t.Fatalf("the provider's tags win over additional ones, and those over patches:\n%s\nwant\n%s", raw, want)
		}
	}
	pool := &infrav1.AzureManagedMachinePool{}
	pool.Spec.AdditionalTags = infrav1.Tags{"CostCenter": "1", "costCenter": "2"}
	for range 50 {
		tags := buildPoolModel(Input{ControlPlane: controlPlane}, Pool{AzurePool: pool}, agentpool.Observed{}).Properties.Tags
		if len(tags) != 1 || tags["costCenter"] == nil {
			t.Fatalf("a pool has one tag of a name: %v", tags)
		}
	}
}
