// Package environment has the parts that the commands of kubectl-capz share: the clouds and clusters that they ask, the flags that select
// them, the formats of their output, and their exit codes. A command reads no environment variable and opens no connection on its own.
package environment

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// Environment is a command's access to its surroundings. Its zero value uses the public cloud and the cluster of the
// kubeconfig.
type Environment struct {
	Version string
	// Identity selects the cloud, like the manager's.
	Identity identity.Options
	// Transport sends requests to Azure.
	Transport policy.Transporter
	// Credential signs in to Azure. With nil, the environment variables or az determine the credential.
	Credential azcore.TokenCredential
	// RunProgram runs another program with arguments, such as clusterctl. Its output goes to out. Its environment is that of this program,
	// and those of the variables, as NAME=value, that are not set there.
	RunProgram func(ctx context.Context, out io.Writer, variables []string, name string, arguments ...string) error
	// ClusterctlFolders are the folders in which clusterctl looks for its configuration.
	ClusterctlFolders []string

	// RunInteractive runs another program with the terminal of this one.
	RunInteractive func(ctx context.Context, name string, arguments ...string) error
	// Dial connects to host:port, through the proxy of the environment if there is one.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// DialAgent connects to the SSH agent of the user.
	DialAgent func(ctx context.Context) (net.Conn, error)
	// OpenTerminal sets the terminal of the process to raw mode. It returns nil if there is none.
	OpenTerminal func() (*Terminal, error)
	// CreateFile creates a file that only the user can read.
	CreateFile func(name string) (io.WriteCloser, error)
	// RemoveFile removes a file that CreateFile created.
	RemoveFile func(name string) error

	// OpenFile opens a file of the computer. OpenFolder returns the file system of a folder, or false if the name is not that of one.
	OpenFile   func(name string) (io.ReadCloser, error)
	OpenFolder func(name string) (fs.FS, bool)

	// Overrides are the values of the flags of kubectl, such as --context.
	Overrides clientcmd.ConfigOverrides
	// Kubeconfig is the file of --kubeconfig. If it is empty, the file is found as by kubectl.
	Kubeconfig string
	// Output is the value of --output.
	Output Output
}

// Terminal is a terminal in raw mode.
type Terminal struct {
	Width, Height int
	// Kind is the name of its type, as in TERM.
	Kind string
	// Restore ends the raw mode.
	Restore func()
}

// AddFlags adds the flags that all commands have: those of kubectl that select a cluster.
func (e *Environment) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&e.Kubeconfig, "kubeconfig", "", "file with the connection to the management cluster")
	fs.StringVar(&e.Overrides.CurrentContext, "context", "", "context of the kubeconfig")
	fs.StringVarP(&e.Overrides.Context.Namespace, "namespace", "n", "", "namespace; default: the one of the context")
}

// config is the kubeconfig with the flags.
func (e *Environment) config() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = e.Kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &e.Overrides)
}

// RESTConfig returns the connection to the management cluster.
func (e *Environment) RESTConfig() (*rest.Config, error) {
	config, err := e.config().ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	config.UserAgent = "kubectl-capz/" + e.Version
	// People wait for the answers, and a command ends after some hundred requests.
	config.QPS, config.Burst = 50, 100
	return config, nil
}

// FixContext selects the current context of the kubeconfig if no flag selects one. From then on the environment stands for one cluster,
// even if another program changes the current context.
func (e *Environment) FixContext() error {
	if e.Overrides.CurrentContext != "" {
		return nil
	}
	config, err := e.config().RawConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	e.Overrides.CurrentContext = config.CurrentContext
	return nil
}

// Namespace returns the namespace of --namespace or of the context.
func (e *Environment) Namespace() (string, error) {
	namespace, _, err := e.config().Namespace()
	if err != nil {
		return "", fmt.Errorf("kubeconfig: %w", err)
	}
	return namespace, nil
}

// KubernetesClient returns a client of the management cluster. It knows the kinds of NewScheme and those of more.
func (e *Environment) KubernetesClient(more ...func(*runtime.Scheme) error) (client.Client, error) {
	config, err := e.RESTConfig()
	if err != nil {
		return nil, err
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	for _, add := range more {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to the management cluster: %w", err)
	}
	return c, nil
}

// NewScheme returns the kinds of Kubernetes, of Cluster API and of this provider.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// CompleteClusters completes an argument with the names of the Clusters in the namespace.
func (e *Environment) CompleteClusters(cmd *cobra.Command, arguments []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(arguments) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	namespace, err := e.Namespace()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	c, err := e.KubernetesClient()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	clusters := &clusterv1.ClusterList{}
	if err := c.List(cmd.Context(), clusters, client.InNamespace(namespace)); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []cobra.Completion
	for i := range clusters.Items {
		names = append(names, clusters.Items[i].Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
