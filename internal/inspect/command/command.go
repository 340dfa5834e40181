// Package command has the commands logs, ssh and bundle of kubectl-capz. A call blocks while it reads from Kubernetes and Azure, and ssh until the
// session ends. The commands change neither, and write only local files. They may be repeated.
package command

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/inspect"
)

// newClient returns a client of Azure for the user: of the environment variables, or of az.
func newClient(e *environment.Environment, environmentName string) (*armclient.Client, error) {
	cloud, custom, err := e.Identity.CloudConfiguration(environmentName)
	if err != nil {
		return nil, err
	}
	credential := e.Credential
	if credential == nil {
		credential, err = azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
			ClientOptions: azcore.ClientOptions{Cloud: cloud, Transport: armclient.ForTokens(e.Transport)}, DisableInstanceDiscovery: custom,
		})
		if err != nil {
			return nil, fmt.Errorf("sign in to Azure: %w", err)
		}
	}
	return armclient.New(credential, cloud, armclient.Options{Principal: "user", Version: e.Version, Transport: e.Transport})
}

// target is a machine with the clients that reach it.
type target struct {
	machine *inspect.Machine
	azure   *armclient.Client
	console inspect.Console
}

// findTarget finds the machine that an argument names.
func findTarget(cmd *cobra.Command, e *environment.Environment, name, environmentName string) (*target, error) {
	namespace, err := e.Namespace()
	if err != nil {
		return nil, err
	}
	c, err := e.KubernetesClient()
	if err != nil {
		return nil, err
	}
	out := &target{}
	if out.machine, err = inspect.FindMachine(cmd.Context(), c, client.ObjectKey{Namespace: namespace, Name: name}); err != nil {
		return nil, err
	}
	if out.azure, err = newClient(e, environmentName); err != nil {
		return nil, err
	}
	out.console = inspect.Console{Client: out.azure, Transport: e.Transport}
	return out, nil
}

// addCloudFlag adds the flag that selects the cloud.
func addCloudFlag(cmd *cobra.Command, value *string) {
	cmd.Flags().StringVar(value, "azure-environment", "", "cloud of the cluster: AzurePublicCloud, AzureUSGovernmentCloud or AzureChinaCloud")
}
