package azure

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Settings are the subscription of a run, the service principal that signs in, and the endpoints of the cloud.
type Settings struct {
	Subscription, Tenant, ClientID, ClientSecret string
	// Endpoint, Authority and Audience belong to another cloud than the public one, "" otherwise.
	Endpoint, Authority, Audience string
}

var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// ReadSettings returns the settings of the environment. The subscription has to be named for the run: a variable that is set for other
// programs must not be enough to create resources that cost money.
func ReadSettings(subscription string, lookup func(string) string) (Settings, error) {
	if subscription == "" {
		return Settings{}, errors.New("no subscription. Specs on Azure cost money, so name the subscription with --subscription, or with " +
			"make e2e E2E_CLOUD=azure E2E_SUBSCRIPTION=ID. AZURE_SUBSCRIPTION_ID is not read")
	}
	if !guid.MatchString(subscription) {
		return Settings{}, fmt.Errorf("--subscription %q is no ID of a subscription. It has the form 00000000-0000-0000-0000-000000000000", subscription)
	}
	s := Settings{Subscription: subscription, Tenant: lookup("AZURE_TENANT_ID"), ClientID: lookup("AZURE_CLIENT_ID"), ClientSecret: lookup("AZURE_CLIENT_SECRET"),
		Endpoint: lookup("AZURE_RESOURCE_MANAGER_ENDPOINT"), Authority: lookup("AZURE_AUTHORITY_HOST"), Audience: lookup("AZURE_RESOURCE_MANAGER_AUDIENCE")}
	var missing []string
	for _, name := range []string{"AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"} {
		if lookup(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return Settings{}, fmt.Errorf("%s is not set. The provider and the sweep sign in with the service principal of these variables",
			strings.Join(missing, ", "))
	}
	return s, nil
}
