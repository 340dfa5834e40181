// Package command is the command line of adopt: its flags, and the order of reads, messages and writes.
//
// The command for a cluster only reads from Azure. The command for an upgrade changes objects in Kubernetes and sends no request to
// Azure.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/prepareupgrade"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/readonly"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/transfer"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// Options are the environment of the process.
type Options struct {
	Version string
	// Identity selects the cloud, like the manager's.
	Identity identity.Options
	// Transport sends requests to Azure.
	Transport policy.Transporter
	// Credential signs in to Azure. With nil, the environment variables or az determine the credential.
	Credential azcore.TokenCredential
	// Kubernetes returns the configuration of the management cluster. Only commands that change its objects call it.
	Kubernetes func() (*rest.Config, error)
}

type flags struct {
	subscription, group, name, as, environment, apiVersion string
	unproven                                               bool
	adoption.Options
}

// NewCommand returns the command adopt.
func NewCommand(o Options) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "Write the manifests for the adoption of an AKS cluster",
		Long: "Reads an AKS cluster from Azure and prints the manifests with which Cluster API adopts it. The standard error has the values that they cannot contain.\n" +
			"If applying the manifests would write to Azure, it prints these writes instead.\n" +
			"It signs in with the environment variables (AZURE_TENANT_ID, AZURE_CLIENT_ID, ...), or like az. It needs only the right to read, and writes nothing.",
		Args: cobra.NoArgs, Version: o.Version, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if f.as, err = parseFamily("as", f.as); err != nil {
				return err
			}
			for flag, as := range map[string]string{"identity": transfer.AzureManaged, "credential-from": transfer.AzureASOManaged} {
				if f.as != as && cmd.Flags().Changed(flag) {
					return fmt.Errorf("--%s requires --as %s. The other kinds sign in by other means", flag, as)
				}
			}
			return f.runAdoption(cmd.Context(), o, cmd.OutOrStdout(), text.NewWriter(cmd.ErrOrStderr()))
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.subscription, "subscription", "", "ID of the subscription of the AKS cluster")
	fs.StringVar(&f.group, "resource-group", "", "resource group of the AKS cluster")
	fs.StringVar(&f.name, "name", "", "name of the AKS cluster")
	fs.StringVar(&f.as, "as", transfer.AzureManaged, "kinds of the objects: azuremanaged or azureasomanaged")
	fs.StringVar(&f.ClusterName, "cluster-name", "", "name of the Cluster; default: the name of the AKS cluster")
	fs.StringVarP(&f.Namespace, "namespace", "n", "", "namespace of all objects; default: none, so that kubectl chooses it")
	fs.StringVar(&f.Identity, "identity", "cluster-identity", "name of the AzureClusterIdentity, with --as azuremanaged")
	fs.StringVar(&f.Credential, "credential-from", "aso-credential", "name of the Secret with the credential, with --as azureasomanaged")
	fs.StringVar(&f.environment, "environment", "", "AzurePublicCloud, AzureChinaCloud or AzureUSGovernmentCloud; default: AzurePublicCloud")
	fs.StringVar(&f.apiVersion, "api-version", types.ContainerServiceAPIVersion,
		"api-version of the resource manifests of cluster and pools; it cannot change with --as azuremanaged")
	fs.BoolVar(&f.unproven, "unproven", false, "print the manifests even if applying them would write to Azure")
	for _, required := range []string{"subscription", "resource-group", "name"} {
		_ = cmd.MarkFlagRequired(required) // The flags exist.
	}
	cmd.AddCommand(newPrepareCommand(o))
	return cmd
}

func newPrepareCommand(o Options) *cobra.Command {
	return &cobra.Command{
		Use:   "prepare-upgrade",
		Short: "Prepare a management cluster of the established provider for clusterctl upgrade, without a change in Azure",
		Long: "Releases the objects of Azure Service Operator for clusters, and disables conversions by its webhook, which would block the upgrade and the deletion of namespaces.\n" +
			"Stop the operator and the established provider before. Objects of the operator that belong to no cluster are not changed. The command may be repeated at any time.",
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := o.Kubernetes()
			if err != nil {
				return fmt.Errorf("kubeconfig: %w", err)
			}
			return prepareupgrade.RunSteps(cmd.Context(), config, text.NewWriter(cmd.OutOrStdout()))
		},
	}
}

func (f *flags) runAdoption(ctx context.Context, o Options, out, messages io.Writer) error {
	if f.as == transfer.AzureManaged && f.apiVersion != types.ContainerServiceAPIVersion {
		return fmt.Errorf("--api-version %s: AzureManaged kinds use %s. Use --as %s for another version", f.apiVersion,
			types.ContainerServiceAPIVersion, transfer.AzureASOManaged)
	}
	c, err := newReadOnlyClient(o, f.environment)
	if err != nil {
		return err
	}
	id := arm.NewID(f.subscription, f.group, types.ManagedCluster, f.name)
	found, err := readonly.ReadCluster(ctx, c, id, f.apiVersion)
	if err != nil {
		return err
	}
	write := adoption.WriteAzureManaged
	if f.as == transfer.AzureASOManaged {
		write = adoption.WriteASOManaged
	}
	manifest, lefts, err := write(found, f.Options)
	if err != nil {
		return err
	}
	for _, left := range lefts {
		fmt.Fprintln(messages, "not in the manifests:", left)
	}
	writes, err := readonly.FindWrites(ctx, c, found, manifest)
	if err != nil {
		return fmt.Errorf("check the writes of applying the manifests: %w", err)
	}
	for _, line := range writes {
		fmt.Fprintln(messages, "would change or fail:", line)
	}
	if len(writes) > 0 && !f.unproven {
		return errors.New("applying the manifests would write to Azure, so they are not printed. To print them anyway, set --unproven")
	}
	raw, err := manifest.YAML()
	if err != nil {
		return err
	}
	if len(writes) == 0 {
		fmt.Fprintln(messages, "applying the manifests writes nothing to Azure")
	}
	_, err = out.Write(raw)
	return err
}

// newReadOnlyClient returns a client that can only read.
func newReadOnlyClient(o Options, environment string) (*client.Client, error) {
	cloud, custom, err := o.Identity.CloudConfiguration(environment)
	if err != nil {
		return nil, err
	}
	credential := o.Credential
	if credential == nil {
		credential, err = azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
			ClientOptions: azcore.ClientOptions{Cloud: cloud, Transport: client.ForTokens(o.Transport)}, DisableInstanceDiscovery: custom,
		})
		if err != nil {
			return nil, fmt.Errorf("sign in to Azure: %w", err)
		}
	}
	return client.New(credential, cloud, client.Options{Principal: "adopt", Version: o.Version, Transport: readonly.Transport{Next: o.Transport}})
}
