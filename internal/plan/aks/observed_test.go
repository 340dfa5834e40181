package aks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

func TestEndpoint(t *testing.T) {
	tests := map[string]struct {
		reason, observed, host string
		port                   int32
	}{
		"nothing":               {reason: "the cluster does not exist"},
		"early":                 {reason: "there is no name yet", observed: `{"properties":{"provisioningState":"Creating"}}`},
		"public":                {reason: "the public name", observed: `{"properties":{"fqdn":"a"}}`, host: "a", port: 443},
		"private":               {reason: "the public name leads nowhere", observed: `{"properties":{"fqdn":"a","privateFQDN":"b","apiServerAccessProfile":{"enablePrivateCluster":true}}}`, host: "b", port: 443},
		"private, public name":  {reason: "both lead to the private address, and the public one is known everywhere", observed: `{"properties":{"fqdn":"a","privateFQDN":"b","apiServerAccessProfile":{"enablePrivateCluster":true,"enablePrivateClusterPublicFQDN":true}}}`, host: "a", port: 443},
		"private, no name":      {reason: "a name without a port, or the reverse, would be half an endpoint", observed: `{"properties":{"fqdn":"a","apiServerAccessProfile":{"enablePrivateCluster":true}}}`},
		"vnet integration":      {reason: "the API server has both names and is not private", observed: `{"properties":{"fqdn":"a","privateFQDN":"b","apiServerAccessProfile":{"enableVnetIntegration":true}}}`, host: "a", port: 443},
		"what cannot be read":   {reason: "is as if it were absent", observed: `{"properties":7}`},
		"profile with no value": {reason: "null is absence", observed: `{"properties":{"fqdn":"a","apiServerAccessProfile":null}}`, host: "a", port: 443},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if host, port := aks.APIServerEndpoint(json.RawMessage(test.observed)); host != test.host || port != test.port {
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
			got := seen{aks.CurrentVersion(o), aks.ObservedNodeResourceGroup(o), aks.IssuerURL(o), aks.ProvisioningState(o),
				aks.HasLocalAccountsDisabled(o), aks.UsesEntraID(o), aks.IsStopped(o)}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNodeResourceGroup(t *testing.T) {
	long := strings.Repeat("a", 60)
	tests := map[string]struct {
		reason, name, location, spec, observed, want string
	}{
		"made":           {reason: "AKS's own pattern", name: "c1", location: "eastus", want: "MC_c1_c1_eastus"},
		"defaulted":      {reason: "the webhook fills in the same", name: "c1", location: "eastus", spec: "MC_c1_c1_eastus", want: "MC_c1_c1_eastus"},
		"display name":   {reason: "group names have no blanks", name: "c1", location: "East US", spec: "MC_c1_c1_East US", want: "MC_c1_c1_eastus"},
		"own":            {reason: "the user's", name: "c1", location: "eastus", spec: "mine", want: "mine"},
		"very long":      {reason: "AKS cuts it", name: long + "bbbbbbbbbbbb", location: "eastus", want: ("MC_c1_" + long + "bbbbbbbbbbbb_eastus")[:80]},
		"what Azure has": {reason: "it cannot be changed", name: "c1", location: "eastus", spec: "mine", observed: `{"properties":{"nodeResourceGroup":"theirs"}}`, want: "theirs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readTestCase(t, "default").in
			in.ControlPlane.Name, in.ControlPlane.Spec.Location, in.ControlPlane.Spec.NodeResourceGroupName = test.name, test.location, test.spec
			in.Facts.Cluster = json.RawMessage(test.observed)
			if got := aks.NodeResourceGroupName(in); got != test.want {
				t.Errorf("%s: got %s, want %s", test.reason, got, test.want)
			}
		})
	}
}

// A cluster is not begun with a pool that AKS would refuse: it would refuse all of it.
func TestBrokenPoolHoldsUpTheCluster(t *testing.T) {
	in := readTestCase(t, "default").in
	for _, pool := range in.Pools {
		if pool.AzurePool.Name == "c1-pool1" {
			pool.AzurePool.Spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: new(4), MaxSize: new(3)}
		}
	}
	g := mustPlan(t, in)
	want := "AzureManagedMachinePool c1-pool1: spec.scaling.minSize: Invalid value: 4: is above maxSize 3"
	if got := g.Node(aks.ClusterID(in)).Refused; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if refused := g.Node(aks.SubnetID(in)).Refused; refused != "" {
		t.Errorf("the network is fine, got %q", refused)
	}
	in.Facts.Cluster = json.RawMessage(`{"properties":{"agentPoolProfiles":[{"name":"pool0","vnetSubnetID":"/s"}]}}`)
	if got := mustPlan(t, in).Node(aks.ClusterID(in)).Refused; got != "" {
		t.Errorf("a cluster that is there has nothing to do with a pool, got %q", got)
	}
}
