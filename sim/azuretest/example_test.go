package azuretest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// A test has azuretest.Start(t) instead of Open and Close.
func Example() {
	azure, err := azuretest.Open()
	if err != nil {
		panic(err)
	}
	defer azure.Close()
	put := func() int {
		request, _ := http.NewRequest("PUT", azure.Endpoint+"/subscriptions/"+azure.Subscription+"/resourceGroups/mine?api-version=2021-04-01",
			strings.NewReader(`{"location":"westus3"}`))
		request.Header.Set("Authorization", "Bearer "+azure.Token(""))
		response, err := azure.Client.Do(request)
		if err != nil {
			panic(err)
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode
	}
	err = azure.AddFault(fault.Rule{Kind: "throttle", Method: "PUT", RetryAfter: 5})
	if err != nil {
		panic(err)
	}
	fmt.Println(put(), put(), len(azure.Requests()), "requests,", len(azure.State()), "resource")
	// Output: 429 201 2 requests, 1 resource
}

// sdkOptions have the Azure SDK for Go speak to a simulated Azure.
func sdkOptions(azure *azuretest.Azure) (*azidentity.ClientSecretCredential, *arm.ClientOptions, error) {
	options := policy.ClientOptions{
		Cloud: cloud.Configuration{
			ActiveDirectoryAuthorityHost: azure.Authority,
			Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
				cloud.ResourceManager: {Endpoint: azure.Endpoint, Audience: azuretest.Audience},
			},
		},
		Transport: azure.Client,
	}
	credential, err := azidentity.NewClientSecretCredential(azure.Tenant, azure.ClientID, azure.ClientSecret,
		&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	return credential, &arm.ClientOptions{ClientOptions: options}, err
}

// The Azure SDK for Go as it is: it signs in at the simulated Entra ID, registers providers, and polls on a clock that Finish moves.
func Example_azureSDK() {
	azure, err := azuretest.Open()
	if err != nil {
		panic(err)
	}
	defer azure.Close()
	ctx := context.Background()
	credential, options, err := sdkOptions(azure)
	if err != nil {
		panic(err)
	}
	groups, err := armresources.NewResourceGroupsClient(azure.Subscription, credential, options)
	if err != nil {
		panic(err)
	}
	if _, err := groups.CreateOrUpdate(ctx, "mine", armresources.ResourceGroup{Location: new("westus3")}, nil); err != nil {
		panic(err)
	}
	networks, err := armnetwork.NewVirtualNetworksClient(azure.Subscription, credential, options)
	if err != nil {
		panic(err)
	}
	poller, err := networks.BeginCreateOrUpdate(ctx, "mine", "net", armnetwork.VirtualNetwork{
		Location:   new("westus3"),
		Properties: &armnetwork.VirtualNetworkPropertiesFormat{AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: []*string{new("10.0.0.0/8")}}},
	}, nil)
	if err != nil {
		panic(err)
	}
	if err := azure.Finish(ctx, poller); err != nil {
		panic(err)
	}
	network, err := poller.Result(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(*network.Name, *network.Properties.ProvisioningState)
	// Output: net Succeeded
}
