package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/inspect"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// groupSuffix ends the API groups of Cluster API and its providers.
const groupSuffix = "cluster.x-k8s.io"

// maxPodLog bounds the log of one Pod.
const maxPodLog = 256 << 20

// NewBundleCommand returns the command bundle.
func NewBundleCommand(e *environment.Environment) *cobra.Command {
	var file, environmentName string
	var logs []string
	cmd := &cobra.Command{
		Use:   "bundle CLUSTER",
		Short: "Collect the state of a cluster into a file without secrets",
		Long: "Writes a compressed archive with the objects of a Cluster and their conditions, events, the states of the resources in Azure, and the lines of\n" +
			"the managers' logs about them. It reads no Secret, and hides fields that can hold secrets, such as files and commands of bootstrap configurations.\n\n" +
			"The logs are those of the Pods of all Cluster API providers, and the files of --log.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			if file == "" {
				file = arguments[0] + ".tar.gz"
			}
			b, err := newBundle(cmd.Context(), e, arguments[0], environmentName, logs)
			if err != nil {
				return err
			}
			notes, err := writeFile(cmd.Context(), e, b, file)
			if err != nil {
				return err
			}
			to := text.NewWriter(cmd.OutOrStdout())
			for _, note := range notes {
				fmt.Fprintln(to, "note:", note)
			}
			fmt.Fprintf(to, "Wrote %s. Look at it before you share it: names, addresses and IDs are not hidden.\n", file)
			return nil
		},
		ValidArgsFunction: e.CompleteClusters,
	}
	cmd.Flags().StringVar(&file, "file", "", "file to write, which must not exist (default CLUSTER.tar.gz)")
	cmd.Flags().StringArrayVar(&logs, "log", nil, "log file of a manager that does not run in a Pod; may be repeated")
	addCloudFlag(cmd, &environmentName)
	return cmd
}

// writeFile writes a bundle to a file, and returns its notes. It leaves no file after an error, so that the command can be repeated.
func writeFile(ctx context.Context, e *environment.Environment, b *inspect.Bundle, file string) ([]string, error) {
	out, err := e.CreateFile(file)
	if err != nil {
		return nil, err
	}
	notes, err := b.Write(ctx, out)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, errors.Join(err, e.RemoveFile(file))
	}
	return notes, nil
}

func newBundle(ctx context.Context, e *environment.Environment, cluster, environmentName string, files []string) (*inspect.Bundle, error) {
	namespace, err := e.Namespace()
	if err != nil {
		return nil, err
	}
	config, err := e.RESTConfig()
	if err != nil {
		return nil, err
	}
	c, err := e.KubernetesClient()
	if err != nil {
		return nil, err
	}
	b := &inspect.Bundle{Kubernetes: c, Cluster: client.ObjectKey{Namespace: namespace, Name: cluster}, Now: time.Now()}
	if b.Kinds, err = listKinds(config); err != nil {
		return nil, err
	}
	azure, err := newClient(e, environmentName)
	if err != nil {
		return nil, err
	}
	if err := azure.SignIn(ctx); err != nil {
		b.Notes = append(b.Notes, "Operations in Azure are missing: "+err.Error())
	} else {
		b.Azure = azure.ReadOnly()
	}
	b.Logs, err = listLogs(ctx, config)
	switch {
	case apierrors.IsForbidden(err):
		// Users who may not list Pods may have the files for --log.
		b.Notes = append(b.Notes, "The logs of the Pods are missing: "+err.Error())
	case err != nil:
		return nil, err
	}
	for _, name := range files {
		b.Logs = append(b.Logs, inspect.Log{Name: strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".log"),
			Open: func(context.Context) (io.ReadCloser, error) { return e.OpenFile(name) }})
	}
	return b, nil
}

// listKinds returns the namespaced kinds of Cluster API and its providers, each in the preferred version.
func listKinds(config *rest.Config) (out []schema.GroupVersionKind, err error) {
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	lists, err := c.ServerPreferredNamespacedResources()
	if len(lists) == 0 && err != nil {
		return nil, fmt.Errorf("kinds of the management cluster: %w", err)
	}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil || version.Group != groupSuffix && !strings.HasSuffix(version.Group, "."+groupSuffix) {
			continue
		}
		for _, resource := range list.APIResources {
			if slices.Contains(resource.Verbs, "list") && !strings.Contains(resource.Name, "/") {
				out = append(out, version.WithKind(resource.Kind))
			}
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.Kind, b.Kind) })
	return out, nil
}

// listLogs returns the logs of the Pods of all providers.
func listLogs(ctx context.Context, config *rest.Config) (out []inspect.Log, err error) {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	pods, err := c.CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: clusterv1.ProviderNameLabel})
	if err != nil {
		return nil, fmt.Errorf("list the Pods of the providers: %w", err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		for _, container := range pod.Spec.Containers {
			out = append(out, inspect.Log{Name: pod.Name + "_" + container.Name, Open: func(ctx context.Context) (io.ReadCloser, error) {
				return c.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container.Name,
					LimitBytes: new(int64(maxPodLog))}).Stream(ctx)
			}})
		}
	}
	return out, nil
}
