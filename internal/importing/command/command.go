// Package command is the command import of kubectl-capz: it reads Azure, writes the manifests, and checks with a plan whether applying them
// would write to Azure. It sends GET requests only.
package command

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing/survey"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// flags are the values of the flags.
type flags struct {
	survey.Selection
	importing.Options
	tag, endpoint, gates, controlPlane string
}

// NewCommand returns the command.
func NewCommand(e *environment.Environment) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Write manifests for a self-managed cluster that has no objects",
		Long: "Reads a self-managed cluster from Azure, created by this provider, the established one or by hand, and prints the manifests with which Cluster API manages it.\n" +
			"The standard error has the steps before and after you apply them, the properties that they lack, and the writes to Azure that applying them would cause.\n" +
			"It needs the right to read in Azure, writes nothing, and connects to no management cluster.\n" +
			"Exit codes: 0 if nothing would be written, 2 if something would be written or is refused, 1 after an error.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, e) },
	}
	e.AddOutputFlag(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.Subscription, "subscription", "", "ID of the subscription of the cluster")
	fs.StringVar(&f.Group, "resource-group", "", "resource group of the machines; default: the one with machines of --cluster or --tag")
	fs.StringVar(&f.Selection.Cluster, "cluster", "", "name of the Cluster; default: the one in the ownership tags of the resource group")
	fs.StringVar(&f.tag, "tag", "", "key=value: import only machines with this tag")
	fs.StringVar(&f.Identity, "identity", "cluster-identity", "name of the AzureClusterIdentity")
	fs.StringVar(&f.endpoint, "endpoint", "", "HOST:PORT of the API server, if it is not that of the load balancer")
	fs.StringArrayVar(&f.ControlPlanes, "control-plane-vm", nil, "name of a control-plane machine that is not behind the load balancer of the API server; may be repeated")
	fs.StringVar(&f.KubernetesVersion, "kubernetes-version", "", "version of machines with an image that does not name it, such as v1.34.2")
	fs.StringVar(&f.controlPlane, "kubeadm-control-plane", "", "file with the KubeadmControlPlane that created the control plane, or - for the standard input. New machines get its kubeadmConfigSpec")
	fs.StringVar(&f.Environment, "environment", "", "AzurePublicCloud, AzureChinaCloud or AzureUSGovernmentCloud; default: AzurePublicCloud")
	fs.StringVar(&f.OwnerID, "owner-id", "", "ownerID of the annotation of the AzureCluster of an earlier import or of lost objects; default: a new one")
	fs.StringVar(&f.gates, "feature-gates", "", "feature gates of the manager, in the form of its flag")
	_ = cmd.MarkFlagRequired("subscription") // The flag exists.
	return cmd
}

// complete checks the flags and sets the values that follow from them.
func (f *flags) complete(e *environment.Environment) error {
	if f.Group == "" && f.Selection.Cluster == "" && f.tag == "" {
		return errors.New("nothing selects a cluster. Pass --resource-group, --cluster or --tag")
	}
	if strings.ContainsAny(f.Subscription+f.Group, "/?#%\\ ") {
		return errors.New("--subscription and --resource-group are an ID and a name, without slashes and spaces")
	}
	if f.tag != "" {
		key, value, has := strings.Cut(f.tag, "=")
		if !has || key == "" {
			return fmt.Errorf("--tag %q: pass key=value", f.tag)
		}
		f.TagKey, f.TagValue = key, value
	}
	if f.endpoint != "" {
		host, port, err := net.SplitHostPort(f.endpoint)
		number, numberErr := strconv.ParseUint(port, 10, 16)
		if err != nil || numberErr != nil || number == 0 || host == "" {
			return fmt.Errorf("--endpoint %q: pass HOST:PORT, such as 10.0.0.4:6443", f.endpoint)
		}
		f.EndpointHost, f.EndpointPort = host, int32(number)
	}
	f.Options.Cluster, f.Namespace = f.Selection.Cluster, e.Overrides.Context.Namespace
	if f.Namespace == "" {
		f.Namespace = metav1.NamespaceDefault // The owner tag has the namespace, so kubectl cannot choose it.
	}
	if f.OwnerID == "" {
		f.OwnerID = uuid.NewString()
	}
	var err error
	f.Features, err = preview.Features(preview.Options{Gates: f.gates})
	return err
}

func (f *flags) run(cmd *cobra.Command, e *environment.Environment) error {
	ctx := cmd.Context()
	log.SetLogger(logr.Discard()) // The result shows the reports of the controllers.
	if err := f.complete(e); err != nil {
		return err
	}
	var err error
	if f.KubeadmConfig, err = readKubeadmConfig(e, cmd.InOrStdin(), f.controlPlane); err != nil {
		return err
	}
	live, err := preview.NewLive(e.Identity, e.Transport, e.Credential, f.Environment)
	if err != nil {
		return err
	}
	messages := text.NewWriter(cmd.ErrOrStderr())
	estate, err := survey.Read(ctx, live, f.Selection, newProgress(messages))
	if err != nil {
		return err
	}
	imported, err := importing.Write(estate, f.Options)
	if err != nil {
		return err
	}
	checked, err := f.check(ctx, e, live, imported)
	if err != nil {
		return fmt.Errorf("check the writes of applying the manifests: %w", err)
	}
	if err := writeResult(e.Output, cmd.OutOrStdout(), messages, imported, checked); err != nil {
		return err
	}
	if checked.isFound() {
		return environment.FoundError{}
	}
	return nil
}
