package identity

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/google/go-cmp/cmp"
)

func TestCloud(t *testing.T) {
	type result struct {
		Authority, Endpoint, Audience string
		Custom                        bool
	}
	public := result{Authority: "https://login.microsoftonline.com/", Endpoint: "https://management.azure.com",
		Audience: "https://management.core.windows.net/"}
	china := result{Authority: "https://login.chinacloudapi.cn/", Endpoint: "https://management.chinacloudapi.cn",
		Audience: "https://management.core.chinacloudapi.cn/"}
	tests := map[string]struct {
		reason      string
		environment string
		options     Options
		want        result
		err         string
	}{
		"default": {reason: "no name is the public cloud", want: public},
		"public":  {reason: "by name", environment: "AzurePublicCloud", want: public},
		"china":   {reason: "by name", environment: "AzureChinaCloud", want: china},
		"government": {reason: "by name", environment: "AzureUSGovernmentCloud",
			want: result{Authority: "https://login.microsoftonline.us/", Endpoint: "https://management.usgovcloudapi.net",
				Audience: "https://management.core.usgovcloudapi.net/"}},
		"germany": {reason: "the cloud was closed in 2021", environment: "AzureGermanCloud",
			err: `"AzureGermanCloud" is not supported, use AzurePublicCloud, AzureChinaCloud or AzureUSGovernmentCloud`},
		"misspelt": {reason: "names are exact", environment: "azurechinacloud", err: `spec.azureEnvironment: "azurechinacloud"`},
		"of one's own": {
			reason: "a simulator or a private cloud",
			options: Options{AuthorityHost: "https://127.0.0.1:8443/", ResourceManagerEndpoint: "https://127.0.0.1:8443/",
				ResourceManagerAudience: "https://simulated/"},
			want: result{Authority: "https://127.0.0.1:8443/", Endpoint: "https://127.0.0.1:8443", Audience: "https://simulated/", Custom: true},
		},
		"endpoint only": {
			reason:  "a proxy in front of Resource Manager still takes the cloud's tokens",
			options: Options{ResourceManagerEndpoint: "https://proxy"},
			want:    result{Authority: public.Authority, Endpoint: "https://proxy", Audience: public.Audience},
		},
		"well-known authority in another cloud": {
			reason:      "the workload identity webhook sets the management cluster's authority in every pod",
			environment: "AzureChinaCloud", options: Options{AuthorityHost: "https://login.microsoftonline.com"}, want: china,
		},
		"authority without TLS": {reason: "tokens need TLS", options: Options{AuthorityHost: "http://127.0.0.1"},
			err: "AZURE_AUTHORITY_HOST of the manager must be an https URL"},
		"endpoint without host": {reason: "not a URL", options: Options{ResourceManagerEndpoint: "management"},
			err: "AZURE_RESOURCE_MANAGER_ENDPOINT of the manager must be an https URL"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			configuration, custom, err := test.options.CloudConfiguration(test.environment)
			if test.err != "" {
				if CodeOf(err) != NotSupported || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("%s: got %v", test.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			manager := configuration.Services[cloud.ResourceManager]
			got := result{configuration.ActiveDirectoryAuthorityHost, manager.Endpoint, manager.Audience, custom}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}
