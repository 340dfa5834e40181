package machine_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

func newInput() plan.MachineInput {
	return plan.MachineInput{
		ClusterInput: plan.ClusterInput{
			SubscriptionID: "s",
			Cluster:        &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
			AzureCluster:   &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}},
		},
		AzureMachine: &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m"}},
	}
}

func TestVMState(t *testing.T) {
	for body, want := range map[string]string{`{"properties":{"provisioningState":"Updating"}}`: "Updating", `{}`: "", `[`: ""} {
		if got := machine.VMState(json.RawMessage(body)); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	in := newInput()
	in.AzureMachine.Spec.NetworkInterfaces = []infrav1.NetworkInterface{{}, {}}
	outcome := arm.Outcome{Results: []arm.Result{
		{ID: plan.NICID(in, "m-nic-1"),
			Observed: json.RawMessage(`{"properties":{"ipConfigurations":[{"properties":{"privateIPAddress":"10.2.0.4","primary":true}}]}}`)},
		{ID: plan.NICID(in, "M-NIC-0"), Observed: json.RawMessage(`{"properties":{"ipConfigurations":[
			{"properties":{"privateIPAddress":"2001:db8::4"}},{"properties":{"privateIPAddress":"10.1.0.4","primary":true}},{"properties":{}}]}}`)},
		{ID: plan.NodePublicIPID(in), Observed: json.RawMessage(`{"properties":{"ipAddress":"203.0.113.7"}}`)},
	}}
	want := []clusterv1.MachineAddress{
		{Type: "InternalDNS", Address: "m"},
		{Type: "InternalIP", Address: "10.1.0.4"},
		{Type: "InternalIP", Address: "2001:db8::4"},
		{Type: "InternalIP", Address: "10.2.0.4"},
		{Type: "ExternalIP", Address: "203.0.113.7"},
	}
	if diff := cmp.Diff(want, machine.MachineAddresses(in, outcome)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:1], machine.MachineAddresses(in, arm.Outcome{})); diff != "" {
		t.Errorf("nothing observed yet: %s", diff)
	}
}

func TestMissingIdentities(t *testing.T) {
	in := newInput()
	in.AzureMachine.Spec.Identity = infrav1.VMIdentityUserAssigned
	in.AzureMachine.Spec.UserAssignedIdentities = []infrav1.UserAssignedIdentity{{ProviderID: "azure:///subscriptions/s/A"},
		{ProviderID: "/subscriptions/s/B"}}
	got := machine.MissingIdentities(in,
		json.RawMessage(`{"identity":{"userAssignedIdentities":{"/SUBSCRIPTIONS/s/a":{},"/subscriptions/s/c":{}}}}`))
	if diff := cmp.Diff([]string{"/subscriptions/s/B"}, got); diff != "" {
		t.Errorf("Azure changes the case of IDs, and more identities are fine: %s", diff)
	}
}

// A deletion has names and nothing else: no Machine, no bootstrap data, no catalog, and a spec that Check refuses.
func TestDeletePlanNeedsOnlyNames(t *testing.T) {
	in := newInput()
	in.ControlPlane = true
	in.AzureCluster.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{Name: "lb"}
	in.AzureMachine.Spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "a"}, {NameSuffix: "a"}, {NameSuffix: "b"}}
	in.AzureMachine.Spec.SSHPublicKey = "no key"
	graph, err := machine.BuildDeletePlan(in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, node := range graph.Nodes() {
		got = append(got, node.ID.ShortName())
		if node.Policy == arm.Observe {
			t.Errorf("%s: the cluster's own resources are deleted", node.ID)
		}
	}
	want := []string{"inboundNatRules/m", "disks/m_OSDisk", "disks/m_a", "disks/m_b", "networkInterfaces/m-nic", "virtualMachines/m"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
