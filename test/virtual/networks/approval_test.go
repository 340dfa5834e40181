package networks_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const partner = "resourceGroups/c1/providers/Microsoft.Network/privateEndpoints/partner"

// setConnection is the owner of the service, who changes the state of the connection.
func setConnection(s *virtual.Scenario, state string) {
	s.T.Helper()
	connections := s.FindProperty(partner, "properties.manualPrivateLinkServiceConnections").([]any)
	connections[0].(body)["properties"].(body)["privateLinkServiceConnectionState"].(body)["status"] = state
	s.EditResource(partner, body{"properties": body{"manualPrivateLinkServiceConnections": connections}})
}

// TestConnectionOfPrivateEndpoint has the owner of a service approve and remove the connection of a private endpoint. The condition shows that. The
// cluster can be used meanwhile, and while the connection waits only the endpoint is read more than of a cluster that is in order.
func TestConnectionOfPrivateEndpoint(t *testing.T) {
	endpoints := func(s *virtual.Scenario) infrav1.PrivateEndpoints {
		return infrav1.PrivateEndpoints{{Name: "partner", ManualApproval: true, PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{
			PrivateLinkServiceID: string(s.ResourceID("resourceGroups/partner/providers/Microsoft.Network/privateLinkServices/data"))}}}}
	}
	for name, test := range map[string]struct {
		object harness.Conditioned
		apply  func(*virtual.Scenario)
		// usable reports whether machines or pools can be created.
		usable func(harness.Conditioned) *bool
	}{
		"AzureCluster": {&infrav1.AzureCluster{}, func(s *virtual.Scenario) {
			s.ApplyNetwork("c1", func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = infrav1.Subnets{
					{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane}},
					{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, PrivateEndpoints: endpoints(s)}},
				}
			})
		}, func(c harness.Conditioned) *bool { return c.(*infrav1.AzureCluster).Status.Initialization.Provisioned }},
		"AzureManagedControlPlane": {&infrav1.AzureManagedControlPlane{}, func(s *virtual.Scenario) {
			controlPlane := s.ControlPlane("c1")
			controlPlane.Spec.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{Name: "c1", CIDRBlock: "10.0.0.0/8",
				Subnet: infrav1.ManagedControlPlaneSubnet{Name: "c1", CIDRBlock: "10.240.0.0/16", PrivateEndpoints: endpoints(s)}}
			defaults.FillAzureManagedControlPlane(controlPlane)
			s.CreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1, Change: defaults.FillAzureManagedMachinePool})
		}, func(c harness.Conditioned) *bool {
			return c.(*infrav1.AzureManagedControlPlane).Status.Initialization.ControlPlaneInitialized
		}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Play(t, func(s *virtual.Scenario) {
				test.apply(s)
				condition := func() *metav1.Condition {
					s.ReadObject(test.object, "c1")
					return conditions.Get(test.object, infrav1.PrivateEndpointsReadyCondition)
				}
				await := func(what string, status metav1.ConditionStatus, reason string, parts ...string) {
					s.T.Helper()
					s.WaitUntil(what, func() bool { c := condition(); return c != nil && c.Status == status && c.Reason == reason },
						func() string { return condition().String() })
					for _, part := range parts {
						if message := condition().Message; !strings.Contains(message, part) {
							s.T.Errorf("%s: the message lacks %q: %s", what, part, message)
						}
					}
				}
				await("the connection is requested", metav1.ConditionFalse, infrav1.WaitingForApprovalReason, "privateEndpoints/partner", "Pending",
					"resourceGroups/partner/providers/Microsoft.Network/privateLinkServices/data", "approve")
				s.WaitUntil("the cluster is usable", func() bool {
					s.ReadObject(test.object, "c1")
					usable := test.usable(test.object)
					return usable != nil && *usable
				})
				s.WaitUntil("the connection alone is missing", func() bool {
					ready := harness.FindCondition(test.object, infrav1.ReadyCondition)
					s.ReadObject(test.object, "c1")
					return ready.Reason == infrav1.WaitingForApprovalReason && conditions.IsTrue(test.object, infrav1.ReconcilingCondition)
				})
				s.WaitQuiet()
				virtual.WaitForSignal(nil, s.Resync)
				waiting := countHour(s)
				setConnection(s, "Approved")
				await("the owner approves it", metav1.ConditionTrue, infrav1.ReadyReason)
				s.WaitReady(test.object, "c1")
				virtual.WaitForSignal(nil, s.Resync)
				s.WaitQuiet()
				ready := countHour(s)
				for request, times := range waiting {
					if more := times - ready[request]; more > 0 && !strings.Contains(request, "/privateEndpoints") {
						s.T.Errorf("while the connection waits, %d times more: %s", more, request)
					}
				}
				if of, waited := countEndpoints(ready), countEndpoints(waiting); of > 1 || waited < 5 {
					s.T.Errorf("in an hour the endpoint is read %d times while it waits and %d times after that", waited, of)
				}
				setConnection(s, "Disconnected")
				await("the owner removes it", metav1.ConditionFalse, infrav1.NotConnectedReason, "privateEndpoints/partner", "Disconnected",
					"az network private-endpoint delete --ids")
				s.WaitUntil("a person has to act", func() bool {
					s.ReadObject(test.object, "c1")
					return conditions.IsTrue(test.object, infrav1.StalledCondition)
				})
				s.RemoveResource(partner)
				await("a new endpoint asks for a connection", metav1.ConditionFalse, infrav1.WaitingForApprovalReason)
			})
		})
	}
}

// countHour returns how often each request is sent in an hour.
func countHour(s *virtual.Scenario) map[string]int {
	mark := s.Azure.MarkRequests()
	virtual.WaitForSignal(nil, time.Hour)
	out := map[string]int{}
	for _, request := range s.Azure.RequestsSince(mark) {
		out[request]++
	}
	return out
}

// countEndpoints returns the number of the requests about private endpoints.
func countEndpoints(requests map[string]int) (sum int) {
	for request, times := range requests {
		if strings.Contains(request, "/privateEndpoints") {
			sum += times
		}
	}
	return sum
}
