// Package command is the command plan of kubectl-capz. A call blocks while it reads from Kubernetes and Azure. It writes nothing there and may be
// repeated.
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/management"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// flags are the values of the flags.
type flags struct {
	files         []string
	live          bool
	allNamespaces bool
	neverReplace  bool
	details       bool
	gates         string
	unchecked     []string
	subscription  string
}

// NewCommand returns the command.
func NewCommand(e *environment.Environment) *cobra.Command {
	f := &flags{}
	cmd := &cobra.Command{
		Use:   "plan [CLUSTER]",
		Short: "Show every change that the manager would make in Azure",
		Long: "Prints the writes to Azure that the manager would send, with their reasons. It runs the manager's controllers against a copy of Azure, and writes nothing.\n\n" +
			"  kubectl capz plan -f FILE          plan manifests in an empty Azure, without a connection\n" +
			"  kubectl capz plan [CLUSTER]        plan the objects of a Cluster or of the namespace; -A: of all namespaces\n" +
			"  kubectl capz plan -f FILE --live   plan the changes of applying the manifests\n\n" +
			"It needs the right to read in Azure, and the right to get and list the objects in the management cluster. It reads no Secret.\n" +
			"Exit codes: 0 if nothing would be written, 2 if something would be written, 1 after an error.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			return f.run(cmd, e, arguments)
		},
		ValidArgsFunction: e.CompleteClusters,
	}
	e.AddOutputFlag(cmd)
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.files, "filename", "f", nil, "manifest, folder with manifests, or - for the standard input; may be repeated")
	fs.BoolVar(&f.live, "live", false, "with -f: apply the manifests to the objects of the management cluster, and read Azure")
	fs.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "plan the objects of all namespaces")
	fs.BoolVar(&f.neverReplace, "never-replace", false, "fail with exit code 1 if a machine, an instance of a pool or an AKS pool would be replaced, or if AKS would reimage nodes")
	fs.BoolVar(&f.details, "details", false, "show all properties of new resources")
	fs.StringVar(&f.gates, "feature-gates", "", "feature gates of the manager, in the form of its flag")
	fs.StringSliceVar(&f.unchecked, "unchecked-aso-kinds", nil, "kinds that the manager's flag --unchecked-aso-kinds has")
	fs.StringVar(&f.subscription, "default-subscription", "", "AZURE_SUBSCRIPTION_ID of the manager, for objects that name no subscription")
	return cmd
}

// maxReplacements bounds the replacements that the error of --never-replace names.
const maxReplacements = 10

// newReplaceError returns the error that ends a plan with --never-replace.
func newReplaceError(replacements []string) error {
	return fmt.Errorf("--never-replace forbids to replace %s. The plan shows why", text.JoinFirst(replacements, maxReplacements))
}

func (f *flags) run(cmd *cobra.Command, e *environment.Environment, arguments []string) error {
	ctx := cmd.Context()
	log.SetLogger(logr.Discard()) // The result shows the reports of the controllers.
	if len(arguments) > 0 && (f.allNamespaces || len(f.files) > 0 && !f.live) {
		return errors.New("a Cluster is named, so it is read from the management cluster. Leave out --all-namespaces, and use -f only with --live")
	}
	input, err := f.readInput(ctx, cmd, e, arguments)
	if err != nil {
		return err
	}
	input.options.Progress = newProgress(text.NewWriter(cmd.ErrOrStderr()))
	outcome, err := preview.Compute(ctx, input.options)
	if err != nil {
		return err
	}
	// preview.Compute comes first, because it names invalid manifests: an invalid Cluster would otherwise be reported as missing.
	if err := f.checkManifests(input.options.Objects); err != nil {
		return err
	}
	planned, err := outcome.Report(ctx, input.specs)
	if err != nil {
		return err
	}
	planned.Notes = append(input.notes, planned.Notes...)
	if e.Output == environment.OutputJSON {
		err = environment.WriteJSON(cmd.OutOrStdout(), planned)
	} else {
		planned.WriteText(text.NewWriter(cmd.OutOrStdout()), f.details)
	}
	if err != nil {
		return err
	}
	return f.exitError(planned, outcome.Unanswered)
}

// exitError returns the error that decides about the exit code of a plan, or nil. unanswered describes the reads that Azure did not answer.
func (f *flags) exitError(planned *result.Plan, unanswered string) error {
	switch {
	case unanswered != "":
		return errors.New(strings.TrimSuffix(unanswered, ".") + ". The role Reader suffices")
	case f.neverReplace && len(planned.Replacements()) > 0:
		return newReplaceError(planned.Replacements())
	case planned.HasChanges():
		return environment.FoundError{}
	}
	return nil
}

// input is the input from which a plan is computed.
type input struct {
	options preview.Options
	specs   map[string][]string
	notes   []string
}

func (f *flags) readInput(ctx context.Context, cmd *cobra.Command, e *environment.Environment, arguments []string) (*input, error) {
	in := &input{options: preview.Options{Identity: e.Identity, Gates: f.gates, UncheckedASOKinds: f.unchecked, Play: clusterapi.PlayRound}}
	if f.subscription != "" {
		in.options.Identity.SubscriptionID = f.subscription
	}
	namespace, isLive := "default", len(f.files) == 0 || f.live
	if isLive {
		var err error
		if namespace, err = e.Namespace(); err != nil {
			return nil, err
		}
	} else if given := e.Overrides.Context.Namespace; given != "" {
		namespace = given
	}
	applied, err := f.readManifests(cmd, e, in, namespace)
	if err != nil {
		return nil, err
	}
	in.options.Objects = applied
	if isLive {
		if err := f.checkApplied(applied); err != nil {
			return nil, err
		}
		if err := f.readLive(ctx, e, in, namespace, arguments, applied); err != nil {
			return nil, err
		}
	}
	in.options.Objects = append(in.options.Objects, preview.Namespaces(in.options.Objects)...)
	assumptions, err := clusterapi.ListNotes(in.options.Objects)
	in.notes = append(in.notes, assumptions...)
	return in, err
}

// readManifests reads the objects of -f.
func (f *flags) readManifests(cmd *cobra.Command, e *environment.Environment, in *input, namespace string) (out []client.Object, err error) {
	objects, err := manifests.Files{Open: e.OpenFile, Folder: e.OpenFolder, Input: cmd.InOrStdin()}.ReadObjects(f.files, namespace)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if object.HasTopology {
			in.notes = append(in.notes, fmt.Sprintf(
				"Cluster %s has a topology. Cluster API creates its objects from the ClusterClass, so manifests alone do not show them. Plan the Cluster from the management cluster instead.",
				object.GetName()))
		}
		for _, message := range object.UnknownFields {
			in.options.Warnings = append(in.options.Warnings, preview.Event{Kind: object.Kind, Namespace: object.GetNamespace(),
				Name: object.GetName(), Type: corev1.EventTypeWarning, Reason: "UnknownField", Note: message})
		}
		out = append(out, object.Object)
	}
	return out, nil
}

// readLive reads the management cluster and prepares to read Azure.
func (f *flags) readLive(ctx context.Context, e *environment.Environment, in *input, namespace string, arguments []string,
	applied []client.Object) error {
	c, err := e.KubernetesClient()
	if err != nil {
		return err
	}
	scope := management.Scope{Namespace: namespace}
	if f.allNamespaces {
		scope.Namespace = ""
	}
	if len(arguments) > 0 {
		scope.Cluster = arguments[0]
	}
	read, err := management.Read(ctx, c, scope)
	if err != nil {
		return err
	}
	in.notes = append(in.notes, read.Notes...)
	features, err := preview.Features(in.options)
	if err != nil {
		return err
	}
	if in.options.Objects, in.specs, err = preview.Merge(ctx, features, read.Items, applied); err != nil {
		return err
	}
	if err := checkScope(scope, in.options.Objects); err != nil {
		return err
	}
	cloud, err := preview.CloudOf(in.options.Objects)
	if err != nil {
		return err
	}
	in.options.Live, err = preview.NewLive(e.Identity, e.Transport, e.Credential, cloud)
	return err
}
