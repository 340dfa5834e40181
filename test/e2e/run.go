package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/azure"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/repository"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/results"
)

// options are the flags of run.
type options struct {
	root, cloud    string
	specs, flavors []string
	cheap, record  bool
	nodes          int
	basePort       int
	subscription   string
	kubeconfig     string
}

func (o options) path(elements ...string) string {
	return filepath.Join(append([]string{o.root}, elements...)...)
}

// folder has the binaries, the lab and the artifacts of a run.
func (o options) folder(elements ...string) string {
	return o.path(append([]string{"out", "e2e"}, elements...)...)
}

// artifacts returns the folder of the objects, events and reports of the cloud's specs. Each cloud has its own, because a run deletes the
// earlier reports.
func (o options) artifacts() string {
	if o.cloud == catalog.Azure {
		return o.folder("artifacts-azure")
	}
	return o.folder("artifacts")
}

func runCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "run",
		Short: "Run specs",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return o.run(c.Context(), c.OutOrStdout()) },
	}
	o.addFlags(c)
	return c
}

// checkCommand returns the command check. Its flags are those of run, so that the Makefile has both for the same flags.
func checkCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "check",
		Short: "Check the flags and the environment of run, and run nothing",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, _, err := o.check()
			return err
		},
	}
	o.addFlags(c)
	return c
}

func (o *options) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.root, "root", "../..", "source tree with bin/ and out/")
	c.Flags().StringVar(&o.cloud, "cloud", catalog.Lab, "lab or azure")
	c.Flags().StringSliceVar(&o.specs, "spec", nil, "specs to run, all by default")
	c.Flags().StringSliceVar(&o.flavors, "flavor", nil, "flavors to run them with, all by default")
	c.Flags().BoolVar(&o.cheap, "cheap", false, "run only the specs of make test")
	c.Flags().BoolVar(&o.record, "record", false, "record the results, and write docs/book/e2e-results.md")
	c.Flags().IntVar(&o.nodes, "nodes", 8, "how many specs run at once")
	c.Flags().IntVar(&o.basePort, "base-port", 19000, "first of the 1000 ports of the lab")
	c.Flags().StringVar(&o.subscription, "subscription", "", "with --cloud azure: the ID of the subscription that pays")
	c.Flags().StringVar(&o.kubeconfig, "kubeconfig", "",
		"with --cloud azure: an existing management cluster (default one of kind). A relative path begins at the source tree")
}

// check returns the cases and the account that the flags select. It makes the paths of the flags absolute.
func (o *options) check() (cases []catalog.Case, account azure.Settings, err error) {
	if o.root, err = filepath.Abs(o.root); err != nil {
		return nil, account, err
	}
	if cases, err = catalog.Select(o.cloud, o.specs, o.flavors, o.cheap); err != nil {
		return nil, account, err
	}
	if o.cloud == catalog.Lab && (o.subscription != "" || o.kubeconfig != "") {
		return nil, account, errors.New("--subscription and --kubeconfig are for --cloud azure only. " +
			"The lab has a subscription and a management cluster of its own")
	}
	if o.cloud == catalog.Azure {
		if account, err = azure.ReadSettings(o.subscription, os.Getenv); err != nil {
			return nil, account, err
		}
	}
	o.kubeconfig, err = resolveKubeconfig(o.root, o.kubeconfig)
	return cases, account, err
}

func (o options) run(ctx context.Context, out io.Writer) error {
	cases, account, err := o.check()
	if err != nil {
		return err
	}
	if o.cloud == catalog.Azure {
		if err := catalog.PrintCost(out, cases); err != nil {
			return err
		}
	}
	if err := o.buildPrograms(ctx); err != nil {
		return err
	}
	if err := repository.BuildTemplates(ctx, o.root); err != nil {
		return err
	}
	begin := time.Now()
	var failed []string
	for _, gate := range catalog.Gates(cases) {
		var runs []results.Result
		if o.cloud == catalog.Azure {
			// The gates of an existing management cluster are those that it has.
			runs, err = o.runOnAzure(ctx, out, account, catalog.WithGate(cases, gate))
		} else {
			runs, err = o.runInLab(ctx, out, gate, catalog.WithGate(cases, gate))
		}
		if err != nil {
			return err
		}
		for _, r := range runs {
			if !r.Passed {
				failed = append(failed, fmt.Sprintf("%s %s: %s", r.Spec, r.Flavor, r.Failure))
			}
		}
	}
	fmt.Fprintf(out, "%d cases in %s\n", len(cases), time.Since(begin).Round(time.Second))
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d cases failed:\n%s", len(failed), len(cases), strings.Join(failed, "\n"))
	}
	return nil
}

// buildPrograms compiles the specs, and Ginkgo, which runs them in parallel processes.
func (o options) buildPrograms(ctx context.Context) error {
	for _, args := range [][]string{
		{"test", "-tags", "e2e", "-ldflags=-s", "-c", "-o", o.folder("specs.test"), "./specs"},
		{"build", "-o", o.folder("ginkgo"), "github.com/onsi/ginkgo/v2/ginkgo"},
	} {
		command := exec.CommandContext(ctx, "go", args...)
		command.Dir = o.path("test", "e2e")
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// runInLab starts a lab with a feature gate, and runs specs in it.
func (o options) runInLab(ctx context.Context, out io.Writer, gate string, cases []catalog.Case) ([]results.Result, error) {
	lab, dir := o.path("bin", "lab"), o.folder("lab")
	args := []string{"up", "--bare", "--dir", dir, "--base-port", strconv.Itoa(o.basePort), "--time-scale", "0.05"}
	if gate != "" {
		args = append(args, "--feature-gates", gate+"=true")
	}
	defer func() {
		// The lab is stopped also after an interruption.
		if out, err := exec.Command(lab, "down", "--dir", dir).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "lab down: %v\n%s", err, out)
		}
	}()
	up := exec.CommandContext(ctx, lab, args...)
	// A gate of Cluster API that is off by default, and that a spec needs.
	up.Env = append(os.Environ(), "EXP_MACHINE_TAINT_PROPAGATION=true")
	if out, err := up.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("lab %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return o.runSpecs(ctx, out, []string{lab, "exec", "--dir", dir, "--"}, os.Environ(), cases)
}

// runOnAzure runs specs on a subscription.
func (o options) runOnAzure(ctx context.Context, out io.Writer, account azure.Settings, cases []catalog.Case) ([]results.Result, error) {
	run := "capz-e2e-" + time.Now().UTC().Format("0102150405")
	fmt.Fprintf(out, "run %s: its resource groups have the tag %s=%s\n", run, azure.Tag, run)
	defer func() { fmt.Fprintf(out, "To delete what run %s left in Azure: %s\n", run, o.sweepLine(account, run)) }()
	environment := append(os.Environ(), azure.RunVariable+"="+run, "AZURE_SUBSCRIPTION_ID="+account.Subscription, "CLUSTER_TOPOLOGY=true",
		"EXP_KUBEADM_BOOTSTRAP_FORMAT_IGNITION=true", "EXP_MACHINE_TAINT_PROPAGATION=true")
	data, err := repository.DataVariables(ctx, o.root)
	if err != nil {
		return nil, err
	}
	environment = append(environment, data...)
	if o.kubeconfig != "" {
		environment = append(environment, "KUBECONFIG="+o.kubeconfig)
	}
	return o.runSpecs(ctx, out, nil, environment, cases)
}

// sweepLine returns the command that deletes the resource groups of a run.
func (o options) sweepLine(account azure.Settings, run string) string {
	flags := "--run " + run
	if o.kubeconfig != "" {
		flags += " --kubeconfig " + o.kubeconfig
	}
	return fmt.Sprintf("make e2e-sweep E2E_SUBSCRIPTION=%s E2E_FLAGS=%q", account.Subscription, flags)
}

// runSpecs runs specs in an environment, which a prefix of the command line may change.
func (o options) runSpecs(ctx context.Context, out io.Writer, prefix, environment []string, cases []catalog.Case) ([]results.Result, error) {
	artifacts := o.artifacts()
	reports := filepath.Join(artifacts, "reports")
	if err := os.RemoveAll(reports); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(artifacts, 0o755); err != nil {
		return nil, err
	}
	line := append(prefix, o.folder("ginkgo"), "--no-color", "--keep-going", "--timeout=6h", "--nodes="+strconv.Itoa(o.nodes),
		"--label-filter="+catalog.Filter(cases), o.folder("specs.test"), "--",
		"-e2e.root="+o.root, "-e2e.artifacts="+artifacts, "-e2e.base-port="+strconv.Itoa(o.basePort))
	if o.cloud == catalog.Azure && o.kubeconfig == "" {
		line = append(line, "-e2e.kind")
	}
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	command.Env = environment
	command.Stdout, command.Stderr = out, os.Stderr
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	failure := command.Run()
	// An interrupted run has the reports of the specs that ended.
	runs, err := results.ReadAll(reports, o.cloud, o.commit(ctx))
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		state := "passed"
		if !r.Passed {
			state = "FAILED"
		}
		fmt.Fprintf(out, "%s  %4d s  %s %s\n", state, r.Seconds, r.Spec, r.Flavor)
	}
	if o.record {
		if err := o.recordResults(runs); err != nil {
			return nil, err
		}
	}
	if len(runs) != len(cases) {
		return runs, fmt.Errorf("%d of %d cases ran: ginkgo ended with %v", len(runs), len(cases), failure)
	}
	return runs, nil
}

// commit returns the short name of the commit that is checked out.
func (o options) commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "-C", o.root, "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
