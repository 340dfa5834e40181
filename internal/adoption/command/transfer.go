package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/transfer"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// FormerTransferCommand is the command of v2.0.0-alpha for transfer.
const FormerTransferCommand = "documents"

// NewTransferCommand returns the command transfer.
func NewTransferCommand(e *environment.Environment) *cobra.Command {
	t := &transfer.Transfer{Poll: time.Second}
	cloud := ""
	cmd := &cobra.Command{
		Use:   "transfer CLUSTER",
		Short: "Move an AKS cluster between the AzureManaged and the AzureASOManaged kinds",
		Long: "Replaces the objects of an AKS cluster by those of the other family, while it runs: AzureASOManaged kinds, which have resource manifests, or AzureManaged kinds.\n" +
			"If the new objects would write to Azure, it prints these writes, changes nothing and ends.\n" +
			"It signs in to Azure with the environment variables (AZURE_TENANT_ID, AZURE_CLIENT_ID, ...), or like az, and only reads there. Repeat the command to complete a run that was interrupted.",
		Args: cobra.ExactArgs(1), ValidArgsFunction: e.CompleteClusters,
		RunE: func(cmd *cobra.Command, arguments []string) error {
			var err error
			if t.To, err = parseFamily("to", t.To); err != nil {
				return err
			}
			for flag, to := range map[string]string{"identity": transfer.AzureManaged, "credential-from": transfer.AzureASOManaged} {
				if t.To != to && cmd.Flags().Changed(flag) {
					return fmt.Errorf("--%s requires --to %s. The other kinds sign in by other means", flag, to)
				}
			}
			namespace, err := e.Namespace()
			if err != nil {
				return err
			}
			if t.Kubernetes, err = e.KubernetesClient(); err != nil {
				return err
			}
			options := Options{Version: e.Version, Identity: e.Identity, Transport: e.Transport, Credential: e.Credential}
			if t.Azure, err = newReadOnlyClient(options, cloud); err != nil {
				return err
			}
			t.Key, t.Messages = client.ObjectKey{Namespace: namespace, Name: arguments[0]}, text.NewWriter(cmd.ErrOrStderr())
			if err := t.Run(cmd.Context()); err != nil {
				if errors.Is(err, context.Canceled) {
					return fmt.Errorf("interrupted. Repeat the command to complete the transfer: %w", err)
				}
				return err
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&t.To, "to", transfer.AzureASOManaged, "kinds of the new objects: azureasomanaged or azuremanaged")
	fs.StringVar(&t.Credential, "credential-from", "aso-credential", "name of the Secret with the credential, with --to azureasomanaged")
	fs.StringVar(&t.Identity, "identity", "cluster-identity", "name of the AzureClusterIdentity, with --to azuremanaged")
	fs.StringVar(&t.SubscriptionID, "subscription", "", "ID of the subscription; required if the objects do not have it")
	fs.StringVar(&t.APIVersion, "api-version", types.ContainerServiceAPIVersion, "api-version of the resource manifests of cluster and pools")
	fs.StringVar(&cloud, "environment", "", "AzurePublicCloud, AzureChinaCloud or AzureUSGovernmentCloud; default: AzurePublicCloud")
	fs.DurationVar(&t.Patience, "timeout", 10*time.Minute, "how long the manager may take to pause the objects")
	return cmd
}

// formerASOManaged is the value of --as and --to of v2.0.0-alpha for AzureASOManaged kinds.
const formerASOManaged = "documents"

// parseFamily returns the family of kinds that the value of a flag names.
func parseFamily(flag, value string) (string, error) {
	switch value {
	case transfer.AzureManaged, transfer.AzureASOManaged:
		return value, nil
	case formerASOManaged:
		return transfer.AzureASOManaged, nil
	}
	return "", fmt.Errorf("--%s %q: use %s or %s", flag, value, transfer.AzureManaged, transfer.AzureASOManaged)
}
