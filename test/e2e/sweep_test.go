package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/azure"
)

// TestSelectedRuns sweeps a subscription with the groups of two runs, one of which may still be at work.
func TestSelectedRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		options sweepOptions
		out     []string
		fails   string
		left    int
	}{
		"no run": {reason: "without --all-runs another run may be at work", left: 3,
			fails: "no run is selected, so nothing is deleted. Name one with --run NAME",
			out:   []string{"run capz-e2e-1: 2 resource groups\n", "run capz-e2e-2: 1 resource groups\n"}},
		"one run": {reason: "the other one is at work", options: sweepOptions{run: "capz-e2e-1"}, left: 1,
			out: []string{"deleting resource group a\n", "deleting resource group b\n"}},
		"all runs": {reason: "with --all-runs no other run is at work", options: sweepOptions{allRuns: true}, left: 0,
			out: []string{"deleting resource group c\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			sim := azuretest.Start(t)
			for name, value := range map[string]string{"AZURE_TENANT_ID": sim.Tenant, "AZURE_CLIENT_ID": sim.ClientID, "AZURE_CLIENT_SECRET": sim.ClientSecret,
				"AZURE_RESOURCE_MANAGER_ENDPOINT": sim.Endpoint, "AZURE_AUTHORITY_HOST": sim.Authority, "AZURE_RESOURCE_MANAGER_AUDIENCE": azuretest.Audience} {
				t.Setenv(name, value)
			}
			groups := newTaggedGroups(t, sim, map[string]string{"a": "capz-e2e-1", "b": "capz-e2e-1", "c": "capz-e2e-2"})
			tc.options.subscription = sim.Subscription
			var out bytes.Buffer
			err := tc.options.sweep(t.Context(), &out, sim.Client)
			if (err != nil) != (tc.fails != "") || err != nil && !strings.HasPrefix(err.Error(), tc.fails) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.fails)
			}
			for _, want := range tc.out {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s: the output lacks %q:\n%s", tc.reason, want, out.String())
				}
			}
			page, err := groups.NewListPager(nil).NextPage(t.Context())
			if err != nil || len(page.Value) != tc.left {
				t.Errorf("%s: %d groups are left, want %d: %v", tc.reason, len(page.Value), tc.left, err)
			}
		})
	}
}

// newTaggedGroups creates groups with the names of their runs.
func newTaggedGroups(t *testing.T, sim *azuretest.Azure, runs map[string]string) *armresources.ResourceGroupsClient {
	t.Helper()
	options := azcore.ClientOptions{Transport: sim.Client, Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: sim.Authority,
		Services: map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: {Endpoint: sim.Endpoint, Audience: azuretest.Audience}}}}
	credential, err := azidentity.NewClientSecretCredential(sim.Tenant, sim.ClientID, sim.ClientSecret,
		&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	if err != nil {
		t.Fatal(err)
	}
	groups, err := armresources.NewResourceGroupsClient(sim.Subscription, credential, &arm.ClientOptions{ClientOptions: options})
	if err != nil {
		t.Fatal(err)
	}
	location := "westeurope"
	for name, run := range runs {
		group := armresources.ResourceGroup{Location: &location, Tags: map[string]*string{azure.Tag: &run}}
		if _, err := groups.CreateOrUpdate(t.Context(), name, group, nil); err != nil {
			t.Fatal(err)
		}
	}
	return groups
}

// TestSweepLine parses the flags of the command that a run prints at its end.
func TestSweepLine(t *testing.T) {
	line := options{kubeconfig: "/tmp/management.kubeconfig"}.sweepLine(azure.Settings{Subscription: "s"}, "capz-e2e-1")
	flags, is := strings.CutPrefix(line, "make e2e-sweep E2E_SUBSCRIPTION=s E2E_FLAGS=\"")
	c := sweepCommand()
	if err := c.ParseFlags(strings.Fields(strings.TrimSuffix(flags, "\""))); err != nil || !is {
		t.Fatalf("%s: %v", line, err)
	}
	for flag, want := range map[string]string{"run": "capz-e2e-1", "kubeconfig": "/tmp/management.kubeconfig"} {
		if got := c.Flags().Lookup(flag).Value.String(); got != want {
			t.Errorf("%s: --%s is %q, want %q", line, flag, got, want)
		}
	}
}
