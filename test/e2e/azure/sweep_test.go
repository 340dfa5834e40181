package azure

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
)

// TestSweep deletes the groups of runs, and only these, from a subscription with groups of others.
func TestSweep(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, run string
		want        []string
	}{
		"all runs": {reason: "the tag alone counts", want: []string{"capz-e2e-notes", "production"}},
		"one run":  {reason: "another run may still be at work", run: "first", want: []string{"capz-e2e-notes", "production", "second-cluster"}},
	} {
		t.Run(name, func(t *testing.T) {
			sim := azuretest.Start(t)
			account := settingsOf(sim)
			groups := createGroups(t, sim, account)
			var out bytes.Buffer
			if err := Sweep(t.Context(), &out, account, tc.run, sim.Client); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, listGroups(t, groups)); diff != "" {
				t.Errorf("%s: groups that are left (-want +got):\n%s", tc.reason, diff)
			}
			if err := Sweep(t.Context(), &out, account, tc.run, sim.Client); err != nil {
				t.Errorf("a second sweep: %v", err)
			}
			if !strings.Contains(out.String(), "no resource group of subscription "+sim.Subscription) {
				t.Errorf("the second sweep does not report that nothing is left:\n%s", out.String())
			}
		})
	}
}

// TestListRuns counts the groups of each run, and only of runs.
func TestListRuns(t *testing.T) {
	sim := azuretest.Start(t)
	account := settingsOf(sim)
	createGroups(t, sim, account)
	runs, err := ListRuns(t.Context(), account, sim.Client)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Run{{Name: "first", Groups: 2}, {Name: "second", Groups: 1}}, runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

// settingsOf returns the settings of a simulated Azure.
func settingsOf(sim *azuretest.Azure) Settings {
	return Settings{Subscription: sim.Subscription, Tenant: sim.Tenant, ClientID: sim.ClientID, ClientSecret: sim.ClientSecret,
		Endpoint: sim.Endpoint, Authority: sim.Authority, Audience: azuretest.Audience}
}

// createGroups creates groups of two runs and of others.
func createGroups(t *testing.T, sim *azuretest.Azure, account Settings) *armresources.ResourceGroupsClient {
	t.Helper()
	groups, err := newGroups(account, sim.Client)
	if err != nil {
		t.Fatal(err)
	}
	for group, run := range map[string]string{"first-cluster": "first", "first-other": "first", "second-cluster": "second", "production": "",
		"capz-e2e-notes": ""} {
		location := "westeurope"
		body := armresources.ResourceGroup{Location: &location}
		if run != "" {
			body.Tags = map[string]*string{Tag: &run}
		}
		if _, err := groups.CreateOrUpdate(t.Context(), group, body, nil); err != nil {
			t.Fatal(err)
		}
	}
	return groups
}

func listGroups(t *testing.T, groups *armresources.ResourceGroupsClient) []string {
	t.Helper()
	var names []string
	for pager := groups.NewListPager(nil); pager.More(); {
		page, err := pager.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range page.Value {
			names = append(names, *group.Name)
		}
	}
	slices.Sort(names)
	return names
}
