package managedcluster_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
)

func TestEndpoint(t *testing.T) {
	tests := map[string]struct {
		reason, observed, host string
		port                   int32
	}{
		"nothing": {reason: "the cluster does not exist"},
		"early":   {reason: "there is no name yet", observed: `{"properties":{"provisioningState":"Creating"}}`},
		"public":  {reason: "the public name", observed: `{"properties":{"fqdn":"a"}}`, host: "a", port: 443},
		"private": {reason: "the public name leads nowhere",
			observed: `{"properties":{"fqdn":"a","privateFQDN":"b","apiServerAccessProfile":{"enablePrivateCluster":true}}}`, host: "b", port: 443},
		"private, public name": {reason: "both lead to the private address, and the public one is known everywhere",
			observed: `{"properties":{"fqdn":"a","privateFQDN":"b","apiServerAccessProfile":{"enablePrivateCluster":true,"enablePrivateClusterPublicFQDN":true}}}`, host: "a", port: 443},
		"private, no name": {reason: "a name without a port, or the reverse, would be half an endpoint",
			observed: `{"properties":{"fqdn":"a","apiServerAccessProfile":{"enablePrivateCluster":true}}}`},
		"vnet integration": {reason: "the API server has both names and is not private",
			observed: `{"properties":{"fqdn":"a","privateFQDN":"b","apiServerAccessProfile":{"enableVnetIntegration":true}}}`, host: "a", port: 443},
		"unreadable body": {reason: "is as if it were absent", observed: `{"properties":7}`},
		"profile with no value": {reason: "null is absence", observed: `{"properties":{"fqdn":"a","apiServerAccessProfile":null}}`, host: "a",
			port: 443},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if host, port := managedcluster.APIServerEndpoint(json.RawMessage(test.observed)); host != test.host || port != test.port {
				t.Errorf("%s: got %s:%d, want %s:%d", test.reason, host, port, test.host, test.port)
			}
		})
	}
}

func TestObserved(t *testing.T) {
	type seen struct {
		Version, Group, Issuer, State string
		NoLocalAccounts, AAD, Stopped bool
	}
	tests := map[string]struct {
		observed string
		want     seen
	}{
		"nothing": {},
		"everything": {
			observed: `{"properties":{"currentKubernetesVersion":"1.33.2","nodeResourceGroup":"MC_a","provisioningState":"Succeeded","disableLocalAccounts":true,
				"aadProfile":{"managed":true},"powerState":{"code":"Stopped"},"oidcIssuerProfile":{"enabled":true,"issuerURL":"https://i/"}}}`,
			want: seen{"v1.33.2", "MC_a", "https://i/", "Succeeded", true, true, true},
		},
		"running": {observed: `{"properties":{"aadProfile":{"managed":false},"powerState":{"code":"Running"}}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := json.RawMessage(test.observed)
			got := seen{managedcluster.CurrentVersion(o), managedcluster.NodeResourceGroup(o), managedcluster.IssuerURL(o),
				managedcluster.ProvisioningState(o),
				managedcluster.HasLocalAccountsDisabled(o), managedcluster.UsesEntraID(o), managedcluster.IsStopped(o)}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
