package importing

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	plancluster "sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	planmachine "sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	planpool "sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// clusterInput returns the input of the plan of the AzureCluster after the objects are applied.
func (w *writer) clusterInput() plan.ClusterInput {
	in := plan.ClusterInput{Cluster: w.cluster, AzureCluster: w.azure.DeepCopy(), SubscriptionID: w.estate.Subscription, Features: w.Features}
	defaults.FillAzureCluster(in.AzureCluster)
	in.Facts.Zones, in.Facts.ControlPlaneZones = w.regionZones(), w.regionZones()
	in.Facts.VNet = plan.VNetFact{Exists: true, Owned: w.ownsNetwork(), Location: plan.NormalizeRegion(w.network.Location),
		AddressPrefixes: w.network.Properties.AddressSpace.AddressPrefixes, Subnets: map[string][]string{}}
	for _, subnet := range w.network.Properties.Subnets {
		in.Facts.VNet.Subnets[strings.ToLower(subnet.Name)] = subnet.blocks()
	}
	if w.balancers.internal != nil {
		in.Facts.InternalFrontends = map[string]string{}
		for _, frontend := range w.balancers.internal.Properties.FrontendIPConfigurations {
			in.Facts.InternalFrontends[plan.NormalizeAddress(frontend.Properties.PrivateIPAddress)] = frontend.Name
		}
	}
	return in
}

// planNodes returns the nodes of the plans of all objects, by the key of their resource.
func (w *writer) planNodes() (map[string]*arm.Node, error) {
	out := map[string]*arm.Node{}
	add := func(graph *arm.Graph, err error) error {
		if err != nil {
			return err
		}
		for _, node := range graph.Nodes() {
			out[node.ID.Key()] = node
		}
		return nil
	}
	in := w.clusterInput()
	if err := add(plancluster.BuildPlan(in)); err != nil {
		return nil, err
	}
	for _, m := range w.machines {
		machine := plan.MachineInput{ClusterInput: in, Machine: m.machine, AzureMachine: m.azure.DeepCopy(), ControlPlane: m.controlPlane}
		defaults.FillAzureMachine(machine.AzureMachine, in.SubscriptionID)
		machine.MachineFacts.VMExists, machine.MachineFacts.VNet = true, in.Facts.VNet
		machine.MachineFacts.PrincipalID = m.Identity.PrincipalID
		machine.MachineFacts.SSHNATPort = w.sshPort(m)
		if err := add(planmachine.BuildPlan(machine)); err != nil {
			return nil, err
		}
	}
	for _, p := range w.pools {
		pool := planpool.Input{ClusterInput: in, MachinePool: p.machine, AzureMachinePool: p.azure.DeepCopy()}
		defaults.FillAzureMachinePool(pool.AzureMachinePool, in.SubscriptionID)
		pool.PoolFacts = planpool.Facts{ScaleSetExists: true, ScaleSet: p.Body, PrincipalID: p.Identity.PrincipalID, VNet: in.Facts.VNet}
		if p.machine.Spec.Replicas != nil {
			pool.Capacity = new(int(*p.machine.Spec.Replicas))
		}
		if err := add(planpool.BuildPlan(pool)); err != nil {
			return nil, err
		}
	}
	w.addParts(out)
	return out, nil
}

// sshPort returns the port of the load balancer that leads to SSH on a machine, 0 for none.
func (w *writer) sshPort(m *machine) int32 {
	if w.balancers.apiServer == nil {
		return 0
	}
	for _, rule := range w.balancers.apiServer.Properties.InboundNatRules {
		if strings.EqualFold(rule.Name, m.ID.Name()) {
			return rule.Properties.FrontendPort
		}
	}
	return 0
}

// addParts adds parts that have nodes of their own to the bodies of the resources that show them: subnets and peerings of a network, and the
// rules for SSH of a load balancer.
func (w *writer) addParts(nodes map[string]*arm.Node) {
	lists := map[string]string{strings.ToLower(types.Subnet): "subnets", strings.ToLower(types.VirtualNetworkPeering): "virtualNetworkPeerings",
		strings.ToLower(types.InboundNATRule): "inboundNatRules"}
	for _, key := range sortedKeys(nodes) {
		node := nodes[key]
		list, is := lists[strings.ToLower(node.ID.Type())]
		parent := nodes[node.ID.Parent().Key()]
		if !is || parent == nil || parent.Body == nil || node.Body == nil {
			continue
		}
		whole, err := arm.DecodeBody(parent.Body)
		if err != nil {
			continue
		}
		part, err := arm.DecodeBody(node.Body)
		if err != nil {
			continue
		}
		body, properties := whole.(map[string]any), map[string]any{}
		if of, is := body["properties"].(map[string]any); is {
			properties = of
		}
		element, is := part.(map[string]any)
		if !is {
			continue
		}
		element["name"] = node.ID.Name()
		elements, _ := properties[list].([]any)
		properties[list] = append(elements, element)
		body["properties"] = properties
		joined := *parent
		joined.Body = body
		nodes[parent.ID.Key()] = &joined
	}
}
