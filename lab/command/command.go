// Package command is the command line of the lab.
package command

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// New returns the root command. version is that of the release.
func New(version string) *cobra.Command {
	root := &cobra.Command{
		Use:           "lab",
		Short:         "A management cluster and a simulated Azure on this machine",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		// controller-runtime would log the errors of its clients, which are returned, too.
		PersistentPreRun: func(*cobra.Command, []string) { log.SetLogger(logr.Discard()) },
	}
	root.PersistentFlags().String("dir", ".lab", "directory of the lab")
	root.AddCommand(upCommand(), downCommand(), envCommand(), execCommand(), statusCommand(), flavorsCommand(), createCommand(), deleteCommand(),
		kubeconfigCommand(), timelineCommand(), logsCommand(), demandCommand(), killCommand(), benchCommand(), bridgeCommand(), kubeletCommand(), tracesCommand())
	return root
}

// loadSettings reads the lab of --dir.
func loadSettings(c *cobra.Command) (*settings.Settings, error) {
	dir, err := c.Flags().GetString("dir")
	if err != nil {
		return nil, err
	}
	return settings.Load(dir)
}

func upCommand() *cobra.Command {
	var bare bool
	var name string
	create := workload.DefaultOptions()
	c := &cobra.Command{
		Use:   "up",
		Short: "Start the lab, or restart its stopped processes, and create a cluster",
		Args:  cobra.NoArgs,
	}
	c.Flags().BoolVar(&bare, "bare", false, "create no workload cluster")
	c.Flags().Bool("without-provider", false, "do not start the provider's manager, to try another provider")
	c.Flags().Int("base-port", 21000, fmt.Sprintf("first of the %d ports that the lab uses", settings.PortBlock))
	c.Flags().Float64("time-scale", 0.05, "factor for the durations of Azure and of booting machines: 1 as measured, 0 for none")
	c.Flags().Int("verbosity", 2, "log level of the provider's manager")
	c.Flags().Bool("traces", false, "write the traces of the provider's manager to a file, which lab timeline shows")
	c.Flags().String("feature-gates", "", "additional feature gates of the provider's manager, for example APIServerILB=true")
	c.Flags().String("beside", "", "directory of another lab. The new lab uses its simulated Azure, as a second management cluster")
	c.Flags().String("release", "",
		"folder of the release of the provider in a new lab, named by its version (default that of make release)")
	c.Flags().StringVar(&name, "cluster-name", "", fmt.Sprintf("name of the workload cluster (default %s, of another flavor %s)",
		workload.DefaultName(workload.DefaultFlavor), workload.DefaultName("FLAVOR")))
	createFlags(c, &create)
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, err := upSettings(c)
		if err != nil {
			return err
		}
		if err := workload.CheckOptions(s, create); err != nil {
			return err
		}
		if name == "" {
			name = workload.DefaultName(create.Flavor)
		}
		out := c.OutOrStdout()
		fmt.Fprintf(out, "lab in %s\n", s.Dir)
		report := func(format string, args ...any) { fmt.Fprintf(out, "  "+format+"\n", args...) }
		if err := management.StartLab(c.Context(), s, report); err != nil {
			return unfinishedError(c, s, err)
		}
		if bare || s.WithoutProvider {
			fmt.Fprintf(out, "\n%s\n  %s\n  kubectl get providers -A\n  %s\n", nextHeading, shellHint(s),
				ownCommand(s, "create", name))
			return nil
		}
		made, err := madeBefore(c, s, name)
		if err != nil {
			return err
		}
		return unfinishedError(c, s, createCluster(c, s, name, create, made))
	}
	return c
}

// unfinishedError adds to the error of a `lab up` what runs nevertheless, and how to go on or to end it.
func unfinishedError(c *cobra.Command, s *settings.Settings, err error) error {
	running, listErr := management.ListRunning(s)
	if err == nil || listErr != nil || len(running) == 0 || management.IsRefused(err) {
		return err
	}
	if (c.Context().Err() != nil || isInterrupted(err)) && !errors.Is(err, workload.ErrInterrupted) {
		err = workload.ErrInterrupted // the last picture is no result
	}
	words := []string{"up"}
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "dir" {
			words = append(words, "--"+f.Name+"="+f.Value.String())
		}
	})
	return fmt.Errorf("%w\n  running: %s\n  to go on:          %s\n  to stop all of it: %s", err, strings.Join(running, ", "),
		ownCommand(s, words...), ownCommand(s, "down"))
}

// isInterrupted reports whether err is that of a program which a signal ended. A terminal sends it to all programs of a command, and the
// others may notice first.
func isInterrupted(err error) bool {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return false
	}
	status, ok := ended.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && (status.Signal() == syscall.SIGINT || status.Signal() == syscall.SIGTERM)
}

// upSettings returns those of the lab in --dir, changed by flags that are given, or those of a new lab.
func upSettings(c *cobra.Command) (*settings.Settings, error) {
	flags := c.Flags()
	dir, err := flags.GetString("dir")
	if err != nil {
		return nil, err
	}
	s, err := settings.LoadAlone(dir)
	fresh := errors.Is(err, settings.ErrNoLab)
	if fresh {
		s = &settings.Settings{ClientSecret: management.NewSecret(), ControlToken: management.NewSecret()}
		s.Dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, err
	}
	if s.Root, err = settings.FindRoot(); err != nil {
		return nil, err
	}
	if !fresh {
		if err := checkFixed(c, s); err != nil {
			return nil, err
		}
	}
	if fresh || flags.Changed("without-provider") {
		s.WithoutProvider, _ = flags.GetBool("without-provider")
	}
	if fresh || flags.Changed("base-port") {
		s.BasePort, _ = flags.GetInt("base-port")
	}
	if fresh || flags.Changed("time-scale") {
		s.TimeScale, _ = flags.GetFloat64("time-scale")
	}
	for name, folder := range map[string]*string{"release": &s.Release, "beside": &s.Beside} {
		if !fresh && !flags.Changed(name) {
			continue
		}
		if *folder, _ = flags.GetString(name); *folder != "" {
			if *folder, err = filepath.Abs(*folder); err != nil {
				return nil, err
			}
		}
	}
	if err := s.LoadBeside(); err != nil {
		return nil, err
	}
	if fresh || flags.Changed("traces") {
		s.Traces, _ = flags.GetBool("traces")
	}
	if fresh || flags.Changed("verbosity") {
		s.Verbosity, _ = flags.GetInt("verbosity")
	}
	if fresh || flags.Changed("feature-gates") {
		s.FeatureGates, _ = flags.GetString("feature-gates")
	}
	return s, nil
}

// checkFixed refuses flags that would change which processes and which simulated Azure an existing lab has: those that run would run on, and
// the clusters would lose their resources.
func checkFixed(c *cobra.Command, s *settings.Settings) error {
	beside, err := c.Flags().GetString("beside")
	if err != nil {
		return err
	}
	if beside != "" {
		if beside, err = filepath.Abs(beside); err != nil {
			return err
		}
	}
	without, err := c.Flags().GetBool("without-provider")
	if err != nil {
		return err
	}
	for name, changes := range map[string]bool{"beside": beside != s.Beside, "without-provider": without != s.WithoutProvider} {
		if changes && c.Flags().Changed(name) {
			return fmt.Errorf("--%s: the lab in %s exists, and only a new lab can have another value. Delete it first with `%s`", name, s.Dir,
				ownCommand(s, "down"))
		}
	}
	return nil
}

func downCommand() *cobra.Command {
	var keep bool
	c := &cobra.Command{
		Use:   "down",
		Short: "Stop all processes of the lab, and delete its clusters",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := c.Flags().GetString("dir")
			if err != nil {
				return err
			}
			s, err := settings.LoadAlone(dir)
			if errors.Is(err, settings.ErrNoLab) {
				fmt.Fprintln(c.OutOrStdout(), "nothing to stop:", err)
				return nil
			}
			damaged := errors.Is(err, settings.ErrDamaged)
			if damaged {
				// The processes and the data are found by the directory alone.
				s = &settings.Settings{}
				s.Dir, err = filepath.Abs(dir)
			}
			if err != nil {
				return err
			}
			if !keep {
				if err := management.RemoveLab(c.Context(), s); err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "stopped; logs are in %s\n", s.JoinPath("logs"))
				return nil
			}
			if err := management.StopLab(c.Context(), s); err != nil {
				return err
			}
			if damaged {
				return fmt.Errorf("stopped, but `lab up` cannot go on with the data in %s: %w. `lab down` without --keep removes them", s.Dir,
					settings.ErrDamaged)
			}
			fmt.Fprintf(c.OutOrStdout(), "stopped; `lab up` goes on with the data in %s\n", s.Dir)
			return nil
		},
	}
	c.Flags().BoolVar(&keep, "keep", false, "keep the data of etcd and of the simulated Azure for the next `lab up`")
	return c
}

func killCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kill PROCESS",
		Short: "Kill one process with SIGKILL; a manager restarts automatically, all others with `lab up --bare`",
		Args:  cobra.ExactArgs(1), ValidArgsFunction: completeFirst(listProcesses),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			err = management.ProcessTable(s).Kill(c.Context(), args[0])
			if errors.Is(err, process.ErrNotRunning) {
				running, listErr := management.ListRunning(s)
				return errors.Join(fmt.Errorf("%w; running are: %s", err, strings.Join(running, ", ")), listErr)
			}
			return err
		},
	}
}

func createFlags(c *cobra.Command, o *workload.Options) {
	c.Flags().StringVar(&o.Flavor, "flavor", workload.DefaultFlavor,
		"flavor of the template: default, or the part of a file name in templates/ after cluster-template-")
	_ = c.RegisterFlagCompletionFunc("flavor", completeFlavors) // It fails only for a flag that does not exist.
	c.Flags().IntVar(&o.ControlPlaneMachines, "control-plane-machines", 3, "number of control-plane machines; AKS has none")
	c.Flags().IntVar(&o.WorkerMachines, "worker-machines", 2, "number of worker machines; with AKS, of each pool")
	c.Flags().StringVar(&o.KubernetesVersion, "kubernetes-version", "",
		fmt.Sprintf("version of the workload cluster (default %s, with AKS %s)", settings.KubernetesVersion, settings.ManagedKubernetesVersion))
	c.Flags().DurationVar(&o.Timeout, "timeout", 20*time.Minute, "time to wait until the cluster is ready")
}

func createCommand() *cobra.Command {
	o := workload.DefaultOptions()
	c := &cobra.Command{
		Use:   "create CLUSTER",
		Short: "Create a cluster from a template and wait until it is ready",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			if err := workload.CheckOptions(s, o); err != nil {
				return err
			}
			made, err := madeBefore(c, s, args[0])
			if err != nil {
				return err
			}
			return createCluster(c, s, args[0], o, made)
		},
	}
	createFlags(c, &o)
	return c
}

func deleteCommand() *cobra.Command {
	timeout := 20 * time.Minute
	c := &cobra.Command{
		Use:   "delete CLUSTER",
		Short: "Delete a cluster and wait until all its objects are gone",
		Args:  cobra.ExactArgs(1), ValidArgsFunction: completeFirst(listClusters),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			return workload.DeleteCluster(c.Context(), s, args[0], timeout, newScreen(c.OutOrStdout()))
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", timeout, "time to wait until the cluster is gone")
	return c
}
