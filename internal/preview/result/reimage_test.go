package result_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
)

// TestReimages compares the mark of changes with the tables of https://learn.microsoft.com/en-us/azure/aks/node-disruption-policy.
func TestReimages(t *testing.T) {
	cluster := arm.NewID("00000000-0000-0000-0000-000000000001", "c1", types.ManagedCluster, "c1")
	pool := cluster + "/agentPools/pool0"
	tests := map[string]struct {
		reason       string
		id           arm.ID
		before, body string
		want         bool
	}{
		"network policy":          {"a network policy is enabled", cluster, `{}`, `{"networkProfile":{"networkPolicy":"calico"}}`, true},
		"no network policy":       {"a network policy is removed", cluster, `{"networkProfile":{"networkPolicy":"azure"}}`, `{"networkProfile":{"networkPolicy":"none"}}`, true},
		"other network policy":    {"Azure and Calico replace each other", cluster, `{"networkProfile":{"networkPolicy":"azure"}}`, `{"networkProfile":{"networkPolicy":"calico"}}`, false},
		"overlay":                 {"pods get addresses of an overlay", cluster, `{"networkProfile":{"networkPlugin":"azure"}}`, `{"networkProfile":{"networkPluginMode":"overlay"}}`, true},
		"data plane":              {"Cilium is installed", cluster, `{"networkProfile":{"networkDataplane":"azure"}}`, `{"networkProfile":{"networkDataplane":"cilium"}}`, true},
		"unmanaged":               {"the image gets another way of patching", cluster, `{"autoUpgradeProfile":{"nodeOSUpgradeChannel":"NodeImage"}}`, `{"autoUpgradeProfile":{"nodeOSUpgradeChannel":"Unmanaged"}}`, true},
		"upgrade channel":         {"both channels replace images", cluster, `{"autoUpgradeProfile":{"nodeOSUpgradeChannel":"NodeImage"}}`, `{"autoUpgradeProfile":{"nodeOSUpgradeChannel":"SecurityPatch"}}`, false},
		"two families":            {"nodes get IPv6 addresses", cluster, `{"networkProfile":{"ipFamilies":["IPv4"]}}`, `{"networkProfile":{"ipFamilies":["IPv4","IPv6"]}}`, true},
		"proxy":                   {"nodes get the proxy's settings", cluster, `{"httpProxyConfig":{"noProxy":["a"]}}`, `{"httpProxyConfig":{"noProxy":["a","b"]}}`, true},
		"certificates":            {"nodes trust another authority", cluster, `{}`, `{"securityProfile":{"customCATrustCertificates":["YQ=="]}}`, true},
		"kubelet identity":        {"kubelets get another identity", cluster, `{"identityProfile":{"kubeletidentity":{"resourceId":"a"}}}`, `{"identityProfile":{"kubeletidentity":{"resourceId":"b"}}}`, true},
		"private DNS zone":        {"nodes find the API server in another zone", cluster, `{"apiServerAccessProfile":{"privateDNSZone":"system"}}`, `{"apiServerAccessProfile":{"privateDNSZone":"none"}}`, true},
		"API server's subnet":     {"nodes reach the API server in the network", cluster, `{}`, `{"apiServerAccessProfile":{"enableVnetIntegration":true}}`, true},
		"authorized addresses":    {"the control plane alone changes", cluster, `{}`, `{"apiServerAccessProfile":{"authorizedIPRanges":["192.0.2.0/24"]}}`, false},
		"version of the cluster":  {"pools have a version of their own", cluster, `{"kubernetesVersion":"1.33.2"}`, `{"kubernetesVersion":"1.34.0"}`, false},
		"version of the pool":     {"a Kubernetes upgrade replaces images", pool, `{"orchestratorVersion":"1.33.2"}`, `{"orchestratorVersion":"1.34.0"}`, true},
		"operating system":        {"the image changes", pool, `{"osSKU":"Ubuntu"}`, `{"osSKU":"AzureLinux"}`, true},
		"local DNS":               {"nodes get a DNS cache", pool, `{}`, `{"localDNSProfile":{"mode":"Required"}}`, true},
		"secure boot":             {"VMs get other firmware", pool, `{"securityProfile":{"enableSecureBoot":false}}`, `{"securityProfile":{"enableSecureBoot":true}}`, true},
		"capacity reservation":    {"VMs are taken from the reservation", pool, `{}`, `{"capacityReservationGroupID":"a"}`, true},
		"no capacity reservation": {"only the attachment is listed", pool, `{"capacityReservationGroupID":"a"}`, `{"capacityReservationGroupID":""}`, false},
		"count":                   {"nodes come and go", pool, `{"count":1}`, `{"count":2}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := &result.Plan{Objects: []result.Object{{Kind: "AzureManagedControlPlane", Namespace: "default", Name: "c1"}}}
			plan.AddWrite(result.Write{ID: test.id, Method: "PUT", Before: json.RawMessage(`{"properties":` + test.before + `}`),
				Body: json.RawMessage(`{"properties":` + test.body + `}`)})
			change := plan.Objects[0].Changes[0]
			if change.Reimages != test.want || len(change.Properties) == 0 {
				t.Errorf("%s: reimages %t, want %t: %+v", test.reason, change.Reimages, test.want, change.Properties)
			}
			out := &strings.Builder{}
			plan.Complete()
			plan.WriteText(out, false)
			if got := strings.Contains(out.String(), "AKS reimages nodes for this change"); got != test.want {
				t.Errorf("%s: the text has the mark: %t, want %t:\n%s", test.reason, got, test.want, out)
			}
		})
	}
}
