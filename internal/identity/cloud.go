package identity

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
)

// Names of the clouds in spec.azureEnvironment.
const (
	PublicCloud       = "AzurePublicCloud"
	ChinaCloud        = "AzureChinaCloud"
	USGovernmentCloud = "AzureUSGovernmentCloud"
)

var clouds = map[string]cloud.Configuration{
	"":                cloud.AzurePublic,
	PublicCloud:       cloud.AzurePublic,
	ChinaCloud:        cloud.AzureChina,
	USGovernmentCloud: cloud.AzureGovernment,
}

// CloudConfiguration returns the configuration of the named cloud with the overrides of the options. The second result is true if Entra ID's
// instance discovery does not know the authority.
//
// An authority host of a public or sovereign cloud is no override: the workload identity webhook sets the management cluster's
// authority in every pod, but clusters in other clouds need their own.
func (o Options) CloudConfiguration(environment string) (configuration cloud.Configuration, customAuthority bool, err error) {
	base, ok := clouds[environment]
	if !ok {
		return cloud.Configuration{}, false, &Error{Code: NotSupported, Message: fmt.Sprintf(
			"spec.azureEnvironment: %q is not supported, use %s, %s or %s", environment, PublicCloud, ChinaCloud, USGovernmentCloud)}
	}
	manager := base.Services[cloud.ResourceManager]
	authority := base.ActiveDirectoryAuthorityHost
	if o.AuthorityHost != "" && !knownAuthority(o.AuthorityHost) {
		authority, customAuthority = o.AuthorityHost, true
	}
	if o.ResourceManagerEndpoint != "" {
		manager.Endpoint = strings.TrimSuffix(o.ResourceManagerEndpoint, "/")
	}
	if o.ResourceManagerAudience != "" {
		manager.Audience = o.ResourceManagerAudience
	}
	for variable, value := range map[string]string{"AZURE_AUTHORITY_HOST": authority, "AZURE_RESOURCE_MANAGER_ENDPOINT": manager.Endpoint} {
		if u, err := url.Parse(value); err != nil || u.Scheme != "https" || u.Host == "" {
			return cloud.Configuration{}, false, &Error{Code: NotSupported, Message: fmt.Sprintf(
				"%s of the manager must be an https URL such as https://login.microsoftonline.com/", variable)}
		}
	}
	return cloud.Configuration{
		ActiveDirectoryAuthorityHost: authority,
		Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: manager},
	}, customAuthority, nil
}

// knownAuthority returns true if host is the authority of one of the clouds above.
func knownAuthority(host string) bool {
	for _, configuration := range clouds {
		if strings.EqualFold(strings.TrimSuffix(configuration.ActiveDirectoryAuthorityHost, "/"), strings.TrimSuffix(host, "/")) {
			return true
		}
	}
	return false
}
