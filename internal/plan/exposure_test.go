package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

func findNode(t *testing.T, graph *arm.Graph, err error, id arm.ID) *arm.Node {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range graph.Nodes() {
		if node.ID.Equal(id) {
			return node
		}
	}
	t.Fatalf("the plan has no %s", id)
	return nil
}

// TestPrivateFrontendFirst lists the private frontend of a public load balancer before the public one: SSH, the name of the
// API server and the rules are the public one's all the same.
func TestPrivateFrontendFirst(t *testing.T) {
	in := readInputOr(t, "machine-internal-beside-public", "")
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	host, _ := cluster.APIServerEndpoint(in.ClusterInput)
	slices.Reverse(lb.FrontendIPs)
	if lb.FrontendIPs[0].PrivateIPAddress == "" {
		t.Fatal("the first frontend is not the private one")
	}
	if got, _ := cluster.APIServerEndpoint(in.ClusterInput); got != host || host == "" {
		t.Errorf("the API server is at %q, want %q", got, host)
	}
	id := plan.LoadBalancerID(in.ClusterInput, lb.Name)
	public := plan.FrontendID(id, lb.FrontendIPs[1].Name)
	rule, _ := plan.NATRuleID(in)
	machineGraph, err := machine.BuildPlan(in)
	nat := findNode(t, machineGraph, err, rule).Body.(armnetwork.InboundNatRule)
	if got := arm.ID(*nat.Properties.FrontendIPConfiguration.ID); !got.Equal(public) {
		t.Errorf("SSH comes in at %s, want %s", got, public)
	}
	graph, err := cluster.BuildPlan(in.ClusterInput)
	properties := findNode(t, graph, err, id).Body.(armnetwork.LoadBalancer).Properties
	if len(properties.FrontendIPConfigurations) != 1 ||
		!arm.ID(*properties.LoadBalancingRules[0].Properties.FrontendIPConfiguration.ID).Equal(public) {
		t.Errorf("the public load balancer has %d frontends, and its rule is for %s", len(properties.FrontendIPConfigurations),
			*properties.LoadBalancingRules[0].Properties.FrontendIPConfiguration.ID)
	}
}

// TestNoPortForSSH simulates that all twenty ports are taken; it expects that the machine waits for a port, and that its condition reports
// that.
func TestNoPortForSSH(t *testing.T) {
	in := readInputOr(t, "machine-control-plane", "")
	in.MachineFacts.SSHNATPort = 0
	rule, _ := plan.NATRuleID(in)
	graph, err := machine.BuildPlan(in)
	if blocked := findNode(t, graph, err, rule).Blocked; !strings.Contains(blocked, "22 and 2201 to 2219") {
		t.Errorf("the rule is blocked by %q", blocked)
	}
}

// TestPublicControlPlaneMachine gives a control-plane machine a public address of its own: its interface has it, beside the
// pool and the rule for SSH.
func TestPublicControlPlaneMachine(t *testing.T) {
	in := readInputOr(t, "machine-control-plane", "")
	in.AzureMachine.Spec.AllocatePublicIP = true
	graph, err := machine.BuildPlan(in)
	nic := findNode(t, graph, err, plan.NICID(in, plan.NICName(in, 0, 1)))
	first := nic.Body.(armnetwork.Interface).Properties.IPConfigurations[0].Properties
	if first.PublicIPAddress == nil || !arm.ID(*first.PublicIPAddress.ID).Equal(plan.NodePublicIPID(in)) {
		t.Error("the address is made, but not on the interface")
	}
	if len(first.LoadBalancerBackendAddressPools) != 1 || len(first.LoadBalancerInboundNatRules) != 1 {
		t.Errorf("the interface is in %d pools and has %d rules, want one of each", len(first.LoadBalancerBackendAddressPools),
			len(first.LoadBalancerInboundNatRules))
	}
}

// TestNATGatewayOfAControlPlane names a NAT gateway for control-plane machines, which have none by default: the gateway that
// the subnet refers to is made. One that several subnets name is made once.
func TestNATGatewayOfAControlPlane(t *testing.T) {
	in := readInputOr(t, "default", "").ClusterInput
	subnets := in.AzureCluster.Spec.NetworkSpec.Subnets
	for i := range subnets {
		subnets[i].NatGateway = infrav1.NatGateway{NatGatewayClassSpec: infrav1.NatGatewayClassSpec{Name: "shared"}}
	}
	gateway := plan.NATGatewayID(in, "shared")
	graph, err := cluster.BuildPlan(in)
	for _, subnet := range subnets {
		body := findNode(t, graph, err, plan.SubnetID(in, subnet.Name)).Body.(armnetwork.Subnet)
		if body.Properties.NatGateway == nil || !arm.ID(*body.Properties.NatGateway.ID).Equal(gateway) {
			t.Errorf("subnet %s does not refer to the gateway", subnet.Name)
		}
	}
	var made []string
	for _, node := range graph.Nodes() {
		if strings.EqualFold(node.ID.Type(), gateway.Type()) {
			made = append(made, node.ID.Name())
		}
	}
	if diff := cmp.Diff([]string{"shared"}, made); diff != "" {
		t.Errorf("NAT gateways (-want +got):\n%s", diff)
	}
}
