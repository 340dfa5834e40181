package identity

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
)

// Names of the clouds, as spec.azureEnvironment has them.
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

// Cloud is the configuration of the named cloud with the overrides of the options, and whether the authority is one
// that Entra ID's instance discovery does not know.
//
// An authority host of a public or sovereign cloud is no override: the workload identity webhook puts the management
// cluster's own into every pod, and clusters in other clouds need theirs.
func (o Options) Cloud(environment string) (configuration cloud.Configuration, customAuthority bool, err error) {
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
				"%s of the manager: want an https URL, as in https://login.microsoftonline.com/", variable)}
		}
	}
	return cloud.Configuration{
		ActiveDirectoryAuthorityHost: authority,
		Services:                     map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: manager},
	}, customAuthority, nil
}

// knownAuthority tells whether host is the authority of one of the clouds above.
func knownAuthority(host string) bool {
	for _, configuration := range clouds {
		if strings.EqualFold(strings.TrimSuffix(configuration.ActiveDirectoryAuthorityHost, "/"), strings.TrimSuffix(host, "/")) {
			return true
		}
	}
	return false
}
