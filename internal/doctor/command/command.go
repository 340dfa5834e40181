// Package command is the command doctor of kubectl-capz. A call blocks while it reads from Azure. It writes nothing there and may be repeated.
package command

import (
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/doctor"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// flags are the values of the flags.
type flags struct {
	files        []string
	identity     string
	subscription string
	gates        string
	// tenancy and managerNamespaces are the manager's flags of these names.
	tenancy           string
	managerNamespaces []string
}

// NewCommand returns the command.
func NewCommand(e *environment.Environment) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "doctor -f FILE",
		Short: "Check that Azure meets the needs of manifests before a cluster is created",
		Long: "Checks the endpoints of Azure, the credentials of the identity, its rights compared with the roles of the release,\n" +
			"resource providers, VM sizes with their zones, versions of Kubernetes that AKS offers, and quota. Each line that fails has the command that fixes it.\n\n" +
			"The identity is the AzureClusterIdentity or the Secret that the manifests name. It is read from the manifests, or else from the management cluster.\n" +
			"A workload identity signs in with a token of the ServiceAccount that the manager would use. The token is requested of the management cluster, or it is in\n" +
			"the file of AZURE_FEDERATED_TOKEN_FILE. The command changes nothing. Data that the identity may not read is read with the credential of the environment variables or of az.\n" +
			"Exit codes: 0 if all checks passed, 2 if a check failed or its result is unknown, 1 after an error.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, e) },
	}
	e.AddOutputFlag(cmd)
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.files, "filename", "f", nil, "manifest, folder with manifests, or - for the standard input; may be repeated")
	fs.StringVar(&f.identity, "identity", "", "NAME or NAMESPACE/NAME of the AzureClusterIdentity to check, instead of the one that the manifests name")
	fs.StringVar(&f.subscription, "default-subscription", "", "AZURE_SUBSCRIPTION_ID of the manager, for objects that name no subscription")
	fs.StringVar(&f.gates, "feature-gates", "", "feature gates of the manager, in the form of its flag")
	fs.StringVar(&f.tenancy, identity.TenancyFlag, string(identity.Isolated), "tenancy of the manager, in the form of its flag: isolated or trusted")
	fs.StringSliceVar(&f.managerNamespaces, identity.ManagerNamespacesFlag, []string{managerNamespace},
		"namespaces whose identities may use the manager's own credentials, in the form of its flag")
	_ = cmd.MarkFlagRequired("filename") // The flag exists.
	return cmd
}

func (f *flags) run(cmd *cobra.Command, e *environment.Environment) error {
	ctx := cmd.Context()
	log.SetLogger(logr.Discard()) // The result shows the reports of the controllers.
	options := preview.Options{Identity: e.Identity, Gates: f.gates, Play: clusterapi.PlayRound}
	if f.subscription != "" {
		options.Identity.SubscriptionID = f.subscription
	}
	if err := f.setTenancy(&options.Identity); err != nil {
		return err
	}
	namespace, live, unread, err := f.connect(e)
	if err != nil {
		return err
	}
	objects, notes, err := f.readManifests(cmd, e, namespace)
	if err != nil {
		return err
	}
	from := &source{objects: objects, live: live, readToken: tokenReader(e)}
	options.Objects = slices.Concat(objects, from.missingIdentities(ctx, f.identity, namespace))
	options.Objects = append(options.Objects, preview.Namespaces(options.Objects)...)
	outcome, err := preview.Compute(ctx, options)
	if err != nil {
		return err
	}
	accounts, err := f.findAccounts(ctx, e, options.Identity, outcome.Kubernetes, from, namespace)
	if err != nil {
		return err
	}
	if len(accounts) == 0 {
		return manifests.ErrNoCluster
	}
	report := doctor.Run(ctx, doctor.Options{Accounts: accounts, Writes: outcome.Writes, Objects: objects, User: newUser(e, accounts[0]),
		Transport: e.Transport, Version: e.Version})
	report.Notes = slices.Concat(report.Notes, unread, notes, outcome.Notes)
	if e.Output == environment.OutputJSON {
		err = environment.WriteJSON(cmd.OutOrStdout(), report)
	} else {
		report.WriteText(text.NewWriter(cmd.OutOrStdout()))
	}
	if err != nil {
		return err
	}
	if !report.HasPassed() {
		return environment.FoundError{}
	}
	return nil
}

// setTenancy sets the options that the manager has from its flags.
func (f *flags) setTenancy(o *identity.Options) error {
	switch tenancy := identity.Tenancy(f.tenancy); tenancy {
	case identity.Isolated, identity.Trusted:
		o.Tenancy = tenancy
	default:
		return fmt.Errorf("--%s: %q is not known, use %s or %s", identity.TenancyFlag, f.tenancy, identity.Isolated, identity.Trusted)
	}
	o.ManagerNamespaces, o.FormerNamespace = f.managerNamespaces, managerNamespace
	return nil
}

// connect returns the namespace of objects that name none, and the client of the management cluster. Without a kubeconfig the client is nil, and
// the notes explain it. It returns an error if the user named a kubeconfig or a context that cannot be used.
func (f *flags) connect(e *environment.Environment) (namespace string, live client.Client, notes []string, err error) {
	if namespace, err = e.Namespace(); err == nil {
		live, err = e.KubernetesClient()
	}
	if namespace == "" {
		namespace = "default"
	}
	switch {
	case err == nil:
		return namespace, live, nil, nil
	case e.Kubeconfig != "" || e.Overrides.CurrentContext != "":
		return "", nil, nil, err
	}
	note := "No management cluster was read. Identities and Secrets that the manifests lack count as missing. " + err.Error()
	return namespace, nil, []string{note}, nil
}

// readManifests reads the objects of -f.
func (f *flags) readManifests(cmd *cobra.Command, e *environment.Environment, namespace string) (out []client.Object, notes []string, err error) {
	objects, err := manifests.Files{Open: e.OpenFile, Folder: e.OpenFolder, Input: cmd.InOrStdin()}.ReadObjects(f.files, namespace)
	if err != nil {
		return nil, nil, err
	}
	for _, object := range objects {
		if object.HasTopology {
			notes = append(notes, fmt.Sprintf("Cluster %s has a topology. Cluster API creates its objects from the ClusterClass, so its machines are not in the checks.",
				object.GetName()))
		}
		for _, message := range object.UnknownFields {
			notes = append(notes, fmt.Sprintf("%s %s: %s", object.Kind, object.GetName(), message))
		}
		out = append(out, object.Object)
	}
	return out, notes, nil
}

// newUser returns the credential of the user, nil if there is none.
func newUser(e *environment.Environment, account doctor.Account) azcore.TokenCredential {
	if e.Credential != nil {
		return e.Credential
	}
	_, custom, err := e.Identity.CloudConfiguration("")
	if err != nil {
		return nil
	}
	credential, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{
		ClientOptions: azcore.ClientOptions{Cloud: account.Cloud, Transport: armclient.ForTokens(e.Transport)}, DisableInstanceDiscovery: custom,
	})
	if err != nil {
		return nil
	}
	return credential
}
