// Package command is the command line of convert aksengine: it reads a model, checks the manifests as an API server does, and writes
// them and the report. It sends no requests, and may be repeated.
package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// result is the output in the format json.
type result struct {
	Manifests string              `json:"manifests"`
	Before    []string            `json:"before"`
	Findings  []aksengine.Finding `json:"findings"`
	Refusals  []string            `json:"refusals"`
}

// NewCommand returns the command aksengine.
func NewCommand(e *environment.Environment) *cobra.Command {
	o := aksengine.Options{}
	cmd := &cobra.Command{
		Use:   "aksengine FILE",
		Short: "Convert an API model of aks-engine to manifests",
		Long: "Reads an API model of aks-engine (JSON, apiVersion vlabs) from a file, or with - from the standard input, and writes the manifests of a new cluster to the standard output.\n" +
			"The standard error has the properties without equivalent, with the reason and what to do. With --output json one JSON object has the manifests and the result for each property.\n" +
			"Secrets of the model are never written. The command sends no requests to Azure or to a management cluster.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			model, err := readModel(cmd.InOrStdin(), arguments[0])
			if err != nil {
				return err
			}
			o.Namespace = e.Overrides.Context.Namespace
			converted, err := aksengine.Convert(model, o)
			if err != nil {
				return err
			}
			refusals, err := findRefusals(cmd.Context(), converted)
			if err != nil {
				return err
			}
			return writeResult(e.Output, cmd.OutOrStdout(), text.NewWriter(cmd.ErrOrStderr()), converted, refusals)
		},
	}
	e.AddOutputFlag(cmd)
	fs := cmd.Flags()
	fs.StringVar(&o.KubernetesVersion, "kubernetes-version", "", "version of all machines, such as v1.34.2")
	fs.StringVar(&o.Name, "name", "", "name of the Cluster; default: dnsPrefix of the masters")
	fs.StringVar(&o.Location, "location", "", "Azure region; default: location of the model")
	fs.StringVar(&o.SubscriptionID, "subscription", "",
		"ID of the subscription; default: that of the model's network, else that of the manager")
	fs.StringVar(&o.ResourceGroup, "resource-group", "", "resource group of the new cluster; default: the name of the Cluster")
	fs.StringVar(&o.TenantID, "tenant-id", "", "tenant of the model's service principal")
	fs.StringVar(&o.Identity, "identity", "cluster-identity", "name of the AzureClusterIdentity")
	_ = cmd.MarkFlagRequired("kubernetes-version") // The flag exists.
	return cmd
}

// readModel reads a file, or the standard input for -.
func readModel(in io.Reader, file string) ([]byte, error) {
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("read the model: %w", err)
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	raw, err := io.ReadAll(io.LimitReader(in, aksengine.MaxModelBytes+1)) // Convert refuses the byte too many.
	if err != nil {
		return nil, fmt.Errorf("read the model: %w", err)
	}
	return raw, nil
}

// errRefused is returned after the manifests are written, so that users can correct them.
var errRefused = errors.New("the API server would refuse the manifests. Correct the fields that are listed as refused")

func writeResult(format environment.Output, out, messages io.Writer, converted aksengine.Result, refusals []string) error {
	manifests, err := converted.YAML()
	if err != nil {
		return err
	}
	if format == environment.OutputJSON {
		err = environment.WriteJSON(out, result{Manifests: string(manifests), Before: converted.Before, Findings: converted.Findings,
			Refusals: refusals})
	} else {
		_, err = out.Write(manifests)
		writeReport(messages, converted, refusals)
	}
	if err == nil && len(refusals) > 0 {
		err = errRefused
	}
	return err
}

// writeReport writes the properties without equivalent, the refused fields, the steps before, and a summary.
func writeReport(messages io.Writer, converted aksengine.Result, refusals []string) {
	for _, finding := range converted.Findings {
		if finding.Conversion == aksengine.NotConverted {
			fmt.Fprintf(messages, "not converted: %s: %s %s\n", finding.Path, finding.Reason, finding.Action)
		}
	}
	for _, line := range refusals {
		fmt.Fprintln(messages, "refused:", line)
	}
	for _, line := range converted.Before {
		fmt.Fprintln(messages, "to do:", line)
	}
	fmt.Fprintf(messages, "%d properties: %d carried over, %d with an equivalent, %d not converted, %d empty\n", len(converted.Findings),
		aksengine.Count(converted.Findings, aksengine.Carried), aksengine.Count(converted.Findings, aksengine.Equivalent),
		aksengine.Count(converted.Findings, aksengine.NotConverted), aksengine.Count(converted.Findings, aksengine.Empty))
}
