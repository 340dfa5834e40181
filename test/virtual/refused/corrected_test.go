package refused_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestAKSSpecIsCorrected applies control planes with values that AKS takes once and that do not fit. The condition names the field, and the
// correction is admitted, because nothing was created.
func TestAKSSpecIsCorrected(t *testing.T) {
	for name, test := range map[string]struct {
		spec    func(spec *infrav1.AzureManagedControlPlaneSpec)
		message string
		correct func(spec *infrav1.AzureManagedControlPlaneSpec)
	}{
		"address of the DNS service": {
			spec:    func(spec *infrav1.AzureManagedControlPlaneSpec) { spec.DNSServiceIP = new("10.1.0.10") },
			message: "spec.dnsServiceIP",
			correct: func(spec *infrav1.AzureManagedControlPlaneSpec) { spec.DNSServiceIP = nil },
		},
		"range of an existing subnet": {
			spec: func(spec *infrav1.AzureManagedControlPlaneSpec) {
				spec.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{Name: "shared", ResourceGroup: "network", CIDRBlock: "10.30.0.0/16",
					Subnet: infrav1.ManagedControlPlaneSubnet{Name: "nodes", CIDRBlock: "10.30.0.0/24"}}
			},
			message: "10.30.0.0/20: set cidrBlock to it",
			correct: func(spec *infrav1.AzureManagedControlPlaneSpec) {
				spec.VirtualNetwork.Subnet.CIDRBlock = "10.30.0.0/20"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.PlayComplete(t, func(s *virtual.Scenario) {
				s.CreateIdentity()
				s.Azure.PutResource("resourceGroups/network", "2021-04-01", map[string]any{"location": "eastus"})
				s.Azure.PutResource("resourceGroups/network/providers/Microsoft.Network/virtualNetworks/shared", "2024-05-01", map[string]any{
					"location": "eastus", "properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{"10.30.0.0/16"}},
						"subnets": []any{map[string]any{"name": "nodes", "properties": map[string]any{"addressPrefix": "10.30.0.0/20"}}}}})
				s.StartProvider()
				controlPlane := s.ControlPlane("aks1")
				test.spec(&controlPlane.Spec)
				s.CreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1})
				s.WaitUntil("the value is refused", func() bool {
					s.ReadObject(controlPlane, "aks1")
					condition := harness.FindCondition(controlPlane, infrav1.ManagedClusterRunningCondition)
					return condition.Reason == infrav1.InvalidConfigurationReason && strings.Contains(condition.Message, test.message)
				}, func() string {
					return harness.FindCondition(controlPlane, infrav1.ManagedClusterRunningCondition).Message
				})
				harness.ChangeObject(s.Stage, controlPlane, func(c *infrav1.AzureManagedControlPlane) { test.correct(&c.Spec) })
				s.WaitUntil("the control plane is Ready", func() bool {
					s.ReadObject(controlPlane, "aks1")
					return harness.FindCondition(controlPlane, infrav1.ReadyCondition).Status == metav1.ConditionTrue
				}, func() string { return harness.FindCondition(controlPlane, infrav1.ReadyCondition).Message })
			})
		})
	}
}
