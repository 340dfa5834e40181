package webhook

import (
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestManagedWarnings(t *testing.T) {
	type class = infrav1.AzureManagedControlPlaneClassSpec
	addon := func(name string, enabled bool) func(*class) {
		return func(s *class) { s.AddonProfiles = []infrav1.AddonProfile{{Name: name, Enabled: enabled}} }
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*class)
		want   string
	}{
		"nothing":       {"nothing is wrong with the defaults", func(*class) {}, ""},
		"basic":         {"Basic load balancers are retired", func(s *class) { s.LoadBalancerSKU = new("Basic") }, "spec.loadBalancerSKU"},
		"kubenet":       {"kubenet retires", func(s *class) { s.NetworkPlugin = new("kubenet") }, "spec.networkPlugin kubenet"},
		"routing":       {"the add-on is gone", addon("httpApplicationRouting", true), "webAppRouting"},
		"dashboard":     {"the add-on is gone", addon("kubeDashboard", true), "portal"},
		"mesh":          {"the add-on is gone", addon("openServiceMesh", true), "Istio"},
		"virtual nodes": {"the add-on has another name", addon("aciConnector", true), "aciConnectorLinux"},
		"off":           {"an add-on that is off does no harm", addon("kubeDashboard", false), ""},
		"offered":       {"AKS offers the add-on", addon("azurepolicy", true), ""},
		"legacy Entra":  {"the legacy integration is deprecated", func(s *class) { s.AADProfile = &infrav1.AADProfile{} }, "legacy"},
		"useless train": {"a train without upgrades goes nowhere", func(s *class) {
			s.Extensions = []infrav1.AKSExtension{{Name: "e", ReleaseTrain: new("Stable"), AutoUpgradeMinorVersion: new(false)}}
		}, "releaseTrain of e"},
		"train upgraded": {"a train is for upgrades",
			func(s *class) { s.Extensions = []infrav1.AKSExtension{{Name: "e", ReleaseTrain: new("Stable")}} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := defaultedControlPlane()
			tc.change(&c.Spec.AzureManagedControlPlaneClassSpec)
			got := strings.Join(managedClassWarnings(&c.Spec.AzureManagedControlPlaneClassSpec, "spec"), "\n")
			if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
	template := newControlPlaneTemplate(func(t *infrav1.AzureManagedControlPlaneTemplate) { t.Spec.Template.Spec.VirtualNetwork.Name = "v" })
	if got := controlPlaneTemplateWarnings(template); len(got) != 1 || !strings.Contains(got[0], "spec.template.spec.virtualNetwork.name") {
		t.Errorf("clusters of a class that share a network are worth a word, got %q", got)
	}
	for patch, want := range map[string]bool{`{"spec":{"osSKU":"Windows2019"}}`: true, "spec:\n  osSKU: CBLMariner": true,
		`{"spec":{"osSKU":"AzureLinux"}}`: false, "[": false} {
		pool := newPool(func(p *infrav1.AzureManagedMachinePool) { p.Spec.ASOManagedClustersAgentPoolPatches = []string{patch} })
		if got := poolWarnings(&pool.Spec.AzureManagedMachinePoolClassSpec, "spec.patches"); (len(got) > 0) != want {
			t.Errorf("patch %s: got %q", patch, got)
		}
	}
}
