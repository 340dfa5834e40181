package gates_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	gate       = "--feature-gates=APIServerILB=true"
	internalLB = "resourceGroups/c1/providers/Microsoft.Network/loadBalancers/c1-public-lb-internal"
	networkAPI = "2024-05-01"
	// internalShort is how requests name it.
	internalShort = "loadBalancers/c1-public-lb-internal"
	specFrontend  = "c1-public-lb-frontEnd-internal-ip"
)

// TestAPIServerILB turns the gate on for public clusters. Each gets an internal load balancer with one frontend or keeps an existing
// one, whatever its frontend is called. The cluster does not change when the spec is written together with the fields that the gate
// sets.
func TestAPIServerILB(t *testing.T) {
	tests := map[string]struct {
		reason string
		// subnet is the range of the control plane, 10.0.0.0/16 where it is "".
		subnet string
		// brought is the range that the control plane's subnet has in a network that users brought.
		brought string
		// existingFrontend is the name of the frontend of the internal load balancer that the established provider (CAPZ) created.
		existingFrontend string
		// stored has the spec as the established provider stores it with its gate on.
		stored bool
		// want is the frontend with its address; none for no internal load balancer.
		want map[string]string
	}{
		"created without the gate": {reason: "the frontend has one name, whether the spec was written since or not",
			want: map[string]string{specFrontend: "10.0.0.100"}},
		"CAPZ created the frontend of the spec": {reason: "the spec had the frontend from the start", existingFrontend: specFrontend, stored: true,
			want: map[string]string{specFrontend: "10.0.0.100"}},
		"CAPZ created the frontend without writing it to the spec, under another name": {reason: "the gate was turned on later",
			existingFrontend: "c1-public-lb-internal-ip",
			want:             map[string]string{"c1-public-lb-internal-ip": "10.0.0.100"}},
		"CAPZ created the frontend under another name, and the spec was written later": {reason: "spec and Azure have different names",
			existingFrontend: "c1-public-lb-internal-ip", stored: true, want: map[string]string{"c1-public-lb-internal-ip": "10.0.0.100"}},
		"control plane in another range": {reason: "the address of the gate is in no subnet of the control plane, so nothing is created",
			subnet: "10.9.0.0/16"},
		"existing network with another range": {reason: "only Azure knows the range", brought: "10.9.0.0/16"},
		"existing network with the expected range": {reason: "the address is in its range", brought: "10.0.0.0/16",
			want: map[string]string{specFrontend: "10.0.0.100"}},
	}
	stages := map[string]*harness.Stage{}
	var made sync.WaitGroup
	for name, test := range tests {
		stage := harness.NewStage(t, environment)
		stages[name] = stage
		azureCluster := stage.AzureCluster("c1")
		if test.subnet != "" {
			azureCluster.Spec.NetworkSpec.Subnets = buildSubnets(test.subnet)
		}
		if test.brought != "" {
			stage.Azure.PutNetwork("shared", "shared-vnet", "10.0.0.0/8", map[string]string{"cp": test.brought, "nodes": "10.1.0.0/16"})
			azureCluster.Spec.NetworkSpec.Vnet = infrav1.VnetSpec{ResourceGroup: "shared", Name: "shared-vnet"}
			azureCluster.Spec.NetworkSpec.Subnets = buildSubnets("")
		}
		manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
		stage.CreateIdentity()
		stage.CreateCluster(azureCluster)
		made.Go(func() {
			stage.WaitClusterProvisioned("c1")
			stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.ControlPlane, "1")
			stage.WaitMachineProvisioned("m1")
			if err := manager.Stop(); err != nil {
				t.Error(err)
			}
			if test.existingFrontend != "" {
				asEstablished(stage, test.existingFrontend)
			}
		})
	}
	made.Wait()
	if t.Failed() {
		return
	}
	if err := environment.RestartWebhooks(gate); err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := stages[name]
			stage.T = t
			if test.stored {
				harness.ChangeObject(stage, clusterCalled("c1"), func(c *infrav1.AzureCluster) { delete(c.Annotations, "test") })
			}
			mark := stage.Azure.MarkRequests()
			stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second, Flags: []string{gate}})
			if len(test.want) > 0 {
				stage.Eventually("an internal load balancer", func() bool { return listFrontends(stage) != nil })
			}
			inOrder(stage, "")
			if writes := stage.Azure.WritesSince(mark); test.existingFrontend != "" &&
				slices.ContainsFunc(writes, func(w string) bool { return strings.Contains(w, internalShort) }) {
				t.Errorf("%s: taking over writes nothing, but: %q", test.reason, writes)
			}
			if diff := cmp.Diff(test.want, listFrontends(stage)); diff != "" {
				t.Errorf("%s: frontends (-want +got):\n%s", test.reason, diff)
			}
			// Any write of the object adds the fields that defaulting sets.
			harness.ChangeObject(stage, clusterCalled("c1"),
				func(c *infrav1.AzureCluster) { c.Spec.AdditionalTags = infrav1.Tags{"step": "second"} })
			inOrder(stage, "second")
			harness.ChangeObject(stage, clusterCalled("c1"), func(c *infrav1.AzureCluster) { c.Spec.AdditionalTags = infrav1.Tags{"step": "third"} })
			inOrder(stage, "third")
			if diff := cmp.Diff(test.want, listFrontends(stage)); diff != "" {
				t.Errorf("%s: frontends after the spec was written (-want +got):\n%s", test.reason, diff)
			}
			for _, request := range stage.Azure.RequestsSince(mark) {
				// A machine may ask for its place in the pool before there is one, and does so again.
				if strings.Contains(request, internalShort) && strings.Contains(request, " 400") {
					t.Errorf("%s: Azure refused %s", test.reason, request)
				}
			}
			want := 1
			if len(test.want) > 0 {
				want = 2
			}
			stage.Eventually(fmt.Sprintf("the control plane is in %d pools", want), func() bool { return countPools(stage) == want })
		})
	}
}

func buildSubnets(controlPlane string) infrav1.Subnets {
	out := infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode}},
	}
	if controlPlane != "" {
		out[0].CIDRBlocks = []string{controlPlane}
	}
	return out
}

// asEstablished changes Azure and the object to the state in which the established provider leaves them: with an internal load balancer
// whose frontend has this name, and without the provider's annotations.
func asEstablished(stage *harness.Stage, frontend string) {
	_, public := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/loadBalancers/c1-public-lb", networkAPI)
	tags, _ := public["tags"].(map[string]any)
	tags["sigs.k8s.io_cluster-api-provider-azure_role"] = "apiserver-internal"
	sub := func(kind, name string) map[string]any {
		return map[string]any{"id": "/subscriptions/" + stage.Azure.SubscriptionID + "/" + internalLB + "/" + kind + "/" + name}
	}
	stage.Azure.PutResource(internalLB, networkAPI, map[string]any{
		"location": "eastus", "tags": tags, "sku": map[string]any{"name": "Standard"},
		"properties": map[string]any{
			"frontendIPConfigurations": []any{map[string]any{"name": frontend, "properties": map[string]any{
				"privateIPAddress": "10.0.0.100", "privateIPAllocationMethod": "Static",
				"subnet": map[string]any{"id": "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-controlplane-subnet"},
			}}},
			"backendAddressPools": []any{map[string]any{"name": "c1-public-lb-backendPool-internal"}},
			"probes": []any{map[string]any{"name": "HTTPSProbe", "properties": map[string]any{
				"protocol": "Https", "requestPath": "/readyz", "port": 6443, "intervalInSeconds": 15, "probeThreshold": 1,
			}}},
			"loadBalancingRules": []any{map[string]any{"name": "LBRuleHTTPS", "properties": map[string]any{
				"protocol": "Tcp", "frontendPort": 6443, "backendPort": 6443, "disableOutboundSnat": true, "enableFloatingIP": false,
				"idleTimeoutInMinutes": 4, "loadDistribution": "Default", "probe": sub("probes", "HTTPSProbe"),
				"frontendIPConfiguration": sub("frontendIPConfigurations", frontend),
				"backendAddressPool":      sub("backendAddressPools", "c1-public-lb-backendPool-internal"),
			}}},
		},
	})
	harness.ChangeObject(stage, clusterCalled("c1"), func(c *infrav1.AzureCluster) { c.Annotations = map[string]string{"test": "one"} })
}

func clusterCalled(name string) *infrav1.AzureCluster {
	c := &infrav1.AzureCluster{}
	c.Name = name
	return c
}

// inOrder waits until the cluster is ready and Azure matches its spec: the tag "step" as well, if it has one.
func inOrder(stage *harness.Stage, step string) {
	stage.T.Helper()
	stage.Eventually("in order "+step, func() bool {
		c := clusterCalled("c1")
		stage.ReadObject(c, "c1")
		_, lb := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/loadBalancers/c1-public-lb", networkAPI)
		return harness.IsReady(c) && applied.IsStored(c.Annotations) && harness.FindString(lb, "tags.step") == step
	})
}

// listFrontends returns the addresses of the internal load balancer by the name of the frontend; nil without one.
func listFrontends(stage *harness.Stage) map[string]string {
	stage.T.Helper()
	status, lb := stage.Azure.GetResource(internalLB, networkAPI)
	if status == 404 {
		return nil
	}
	out := map[string]string{}
	configurations, _ := harness.FindValue(lb, "properties.frontendIPConfigurations").([]any)
	for i := range configurations {
		at := fmt.Sprintf("properties.frontendIPConfigurations.%d.", i)
		out[harness.FindString(lb, at+"name")] = harness.FindString(lb, at+"properties.privateIPAddress")
	}
	return out
}

// countPools returns how many backend pools the machine is in.
func countPools(stage *harness.Stage) int {
	_, nic := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/networkInterfaces/m1-nic", networkAPI)
	list, _ := harness.FindValue(nic, "properties.ipConfigurations.0.properties.loadBalancerBackendAddressPools").([]any)
	return len(list)
}
