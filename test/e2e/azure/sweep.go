package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
)

// configuration returns the cloud of the settings.
func (s Settings) configuration() cloud.Configuration {
	c := cloud.AzurePublic
	if s.Endpoint == "" {
		return c
	}
	return cloud.Configuration{ActiveDirectoryAuthorityHost: s.Authority, Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: s.Endpoint, Audience: s.Audience},
	}}
}

// newGroups returns a client of resource groups. transport is nil outside of tests.
func newGroups(s Settings, transport policy.Transporter) (*armresources.ResourceGroupsClient, error) {
	options := azcore.ClientOptions{Cloud: s.configuration(), Transport: transport}
	credential, err := azidentity.NewClientSecretCredential(s.Tenant, s.ClientID, s.ClientSecret, &azidentity.ClientSecretCredentialOptions{
		ClientOptions: options, DisableInstanceDiscovery: s.Endpoint != "",
	})
	if err != nil {
		return nil, err
	}
	return armresources.NewResourceGroupsClient(s.Subscription, credential, &arm.ClientOptions{ClientOptions: options})
}

// pollInterval is the time between polls of a deletion whose answer has no Retry-After.
const pollInterval = 5 * time.Second

// Run is a run that left resource groups.
type Run struct {
	Name string
	// Groups counts its resource groups.
	Groups int
}

// ListRuns returns the runs with resource groups in the subscription, by name. A run that is still at work is among them.
func ListRuns(ctx context.Context, s Settings, transport policy.Transporter) ([]Run, error) {
	groups, err := newGroups(s, transport)
	if err != nil {
		return nil, err
	}
	tagged, err := listTagged(ctx, groups, "")
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, group := range tagged {
		counts[*group.Tags[Tag]]++
	}
	var runs []Run
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		runs = append(runs, Run{Name: name, Groups: counts[name]})
	}
	return runs, nil
}

// Sweep deletes the resource groups with the tag of runs, and waits until they are gone. An empty run is every run. A group without the tag is
// never deleted, whatever its name is.
func Sweep(ctx context.Context, out io.Writer, s Settings, run string, transport policy.Transporter) error {
	groups, err := newGroups(s, transport)
	if err != nil {
		return err
	}
	tagged, err := listTagged(ctx, groups, run)
	if err != nil {
		return err
	}
	if len(tagged) == 0 {
		return reportNone(out, s, run)
	}
	var failures []error
	pollers := map[string]*runtime.Poller[armresources.ResourceGroupsClientDeleteResponse]{}
	for _, group := range tagged {
		name := *group.Name
		fmt.Fprintf(out, "deleting resource group %s\n", name)
		poller, err := groups.BeginDelete(ctx, name, nil)
		if err != nil {
			if !isNotFound(err) {
				failures = append(failures, fmt.Errorf("resource group %s: %w", name, err))
			}
			continue
		}
		pollers[name] = poller
	}
	for _, name := range slices.Sorted(maps.Keys(pollers)) {
		if _, err := pollers[name].PollUntilDone(ctx, &runtime.PollUntilDoneOptions{Frequency: pollInterval}); err != nil && !isNotFound(err) {
			failures = append(failures, fmt.Errorf("resource group %s: %w", name, err))
		}
	}
	return errors.Join(failures...)
}

// reportNone reports that no group has the tag of a run, or of any run if run is empty.
func reportNone(out io.Writer, s Settings, run string) error {
	tag := Tag
	if run != "" {
		tag += "=" + run
	}
	_, err := fmt.Fprintf(out, "no resource group of subscription %s has the tag %s\n", s.Subscription, tag)
	return err
}

// listTagged returns the groups with the tag. The filter of the request saves reads; the tag is checked again.
func listTagged(ctx context.Context, groups *armresources.ResourceGroupsClient, run string) ([]*armresources.ResourceGroup, error) {
	filter := fmt.Sprintf("tagName eq '%s'", Tag)
	if run != "" {
		filter += fmt.Sprintf(" and tagValue eq '%s'", run)
	}
	var tagged []*armresources.ResourceGroup
	for pager := groups.NewListPager(&armresources.ResourceGroupsClientListOptions{Filter: &filter}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list resource groups: %w", err)
		}
		for _, group := range page.Value {
			if value := group.Tags[Tag]; group.Name != nil && value != nil && (run == "" || *value == run) {
				tagged = append(tagged, group)
			}
		}
	}
	return tagged, nil
}

func isNotFound(err error) bool {
	var response *azcore.ResponseError
	return errors.As(err, &response) && response.StatusCode == http.StatusNotFound
}
