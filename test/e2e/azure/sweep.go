package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// Sweep deletes the resource groups with the tag of runs, and waits until they are gone. An empty run is every run. A group without the tag is
// never deleted, whatever its name is.
func Sweep(ctx context.Context, out io.Writer, s Settings, run string, transport policy.Transporter) error {
	groups, err := newGroups(s, transport)
	if err != nil {
		return err
	}
	names, err := listTagged(ctx, groups, run)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		_, err := fmt.Fprintf(out, "no resource group of subscription %s has the tag %s\n", s.Subscription, Tag)
		return err
	}
	var failures []error
	pollers := map[string]*runtime.Poller[armresources.ResourceGroupsClientDeleteResponse]{}
	for _, name := range names {
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
	for _, name := range names {
		if poller := pollers[name]; poller != nil {
			if _, err := poller.PollUntilDone(ctx, &runtime.PollUntilDoneOptions{Frequency: pollInterval}); err != nil && !isNotFound(err) {
				failures = append(failures, fmt.Errorf("resource group %s: %w", name, err))
			}
		}
	}
	return errors.Join(failures...)
}

// listTagged returns the names of groups with the tag. The filter of the request saves reads; the tag is checked again.
func listTagged(ctx context.Context, groups *armresources.ResourceGroupsClient, run string) ([]string, error) {
	filter := fmt.Sprintf("tagName eq '%s'", Tag)
	if run != "" {
		filter += fmt.Sprintf(" and tagValue eq '%s'", run)
	}
	var names []string
	for pager := groups.NewListPager(&armresources.ResourceGroupsClientListOptions{Filter: &filter}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list resource groups: %w", err)
		}
		for _, group := range page.Value {
			if value := group.Tags[Tag]; group.Name != nil && value != nil && (run == "" || *value == run) {
				names = append(names, *group.Name)
			}
		}
	}
	return names, nil
}

func isNotFound(err error) bool {
	var response *azcore.ResponseError
	return errors.As(err, &response) && response.StatusCode == http.StatusNotFound
}
