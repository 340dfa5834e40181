package preview

import (
	"cmp"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
)

// CloudOf returns the name of the cloud that the objects are in; "" is the default. A plan reads one cloud, so objects of two are an error.
func CloudOf(objects []client.Object) (string, error) {
	found, first := "", client.Object(nil)
	for _, object := range objects {
		var cloud string
		switch object := object.(type) {
		case *infrav1.AzureCluster:
			cloud = object.Spec.AzureEnvironment
		case *infrav1.AzureManagedControlPlane:
			cloud = object.Spec.AzureEnvironment
		case *infrav1.AzureASOManagedCluster:
			cloud = object.Spec.AzureEnvironment
		default:
			continue
		}
		switch cloud = cmp.Or(cloud, infrav1.PublicCloud); {
		case first == nil:
			found, first = cloud, object
		case found != cloud:
			return "", fmt.Errorf("%s is in %s, and %s in %s. A plan reads one cloud. Plan the Clusters of each cloud by themselves",
				client.ObjectKeyFromObject(first), found, client.ObjectKeyFromObject(object), cloud)
		}
	}
	return found, nil
}

// NewLive returns the reader of the live Azure of a cloud. With credential nil, the environment variables or az determine the credential.
func NewLive(options identity.Options, transport policy.Transporter, credential azcore.TokenCredential, cloudName string) (*overlay.Live, error) {
	cloud, custom, err := options.CloudConfiguration(cloudName)
	if err != nil {
		return nil, err
	}
	if credential == nil {
		credential, err = azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
			ClientOptions: azcore.ClientOptions{Cloud: cloud, Transport: armclient.ForTokens(transport)}, DisableInstanceDiscovery: custom,
		})
		if err != nil {
			return nil, fmt.Errorf("sign in to Azure: %w", err)
		}
	}
	manager := cloud.Services["resourceManager"]
	return &overlay.Live{Transport: transport, Credential: credential, Audience: manager.Audience, Endpoint: manager.Endpoint}, nil
}
