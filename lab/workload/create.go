package workload

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// Options say what cluster to create.
type Options struct {
	// Flavor of the template, "default" for the one without a name.
	Flavor               string `json:"flavor"`
	ControlPlaneMachines int    `json:"controlPlaneMachines"`
	WorkerMachines       int    `json:"workerMachines"`
	// KubernetesVersion is that of the lab for the flavor when it is empty.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// Timeout bounds the wait until everything is ready.
	Timeout time.Duration `json:"-"`
	// Variables replace those of the lab, for instance AZURE_LOCATION.
	Variables map[string]string `json:"-"`
	// Manifest is applied as it is, in place of a template.
	Manifest []byte `json:"-"`
}

// DefaultOptions make the cluster of `make lab`.
func DefaultOptions() Options {
	return Options{Flavor: DefaultFlavor, ControlPlaneMachines: 3, WorkerMachines: 2, Timeout: 20 * time.Minute}
}

// IsManaged reports whether the flavor makes an AKS cluster.
func (o Options) IsManaged() bool { return o.Flavor == "aks" || strings.HasPrefix(o.Flavor, "aks-") }

// ChosenVersion returns the cluster's Kubernetes version.
func (o Options) ChosenVersion() string {
	switch {
	case o.KubernetesVersion != "":
		return o.KubernetesVersion
	case o.IsManaged():
		return settings.ManagedKubernetesVersion
	}
	return settings.KubernetesVersion
}

// Screen shows how a cluster changes.
type Screen interface {
	// Show replaces the previous picture. The tree is nil when nothing is left.
	Show(root *Object, elapsed time.Duration)
	// Close leaves the last picture.
	Close()
}

// interval is how often a cluster is looked at. What is looked at is watched, so that a look costs the management cluster nothing.
const interval = 300 * time.Millisecond

// RenderManifest renders a template, as a person would with clusterctl.
func RenderManifest(ctx context.Context, s *settings.Settings, name string, o Options) ([]byte, error) {
	args := []string{
		"generate", "cluster", name, "--infrastructure=" + settings.Azure.Provider + ":" + settings.ProviderVersion,
		"--target-namespace=" + management.Namespace,
		"--kubernetes-version=" + o.ChosenVersion(), "--control-plane-machine-count=" + strconv.Itoa(o.ControlPlaneMachines),
		"--worker-machine-count=" + strconv.Itoa(o.WorkerMachines),
	}
	if o.Flavor != "" && o.Flavor != DefaultFlavor {
		args = append(args, "--flavor="+o.Flavor)
	}
	var environment []string
	for name, value := range o.Variables {
		environment = append(environment, name+"="+value)
	}
	return management.RunClusterctl(ctx, s, environment, args...)
}

// ManifestFile is where Create keeps the manifest of a cluster.
func ManifestFile(s *settings.Settings, name string) string {
	return s.JoinPath("clusters", name+".yaml")
}

// applyManifest applies the manifest of a cluster with kubectl. If the API server refuses one object of the manifest, kubectl has already
// created others. The error then has the commands that apply the corrected manifest or delete these objects.
func applyManifest(ctx context.Context, s *settings.Settings, name string, manifest []byte) error {
	command := exec.CommandContext(ctx, s.BinaryPath("kubectl"), "apply", "--kubeconfig="+s.KubeconfigPath(), "-f", "-")
	command.Stdin = strings.NewReader(string(manifest))
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply: %w\n%s%s", err, strings.TrimSpace(string(out)), explainPart(s, name, string(out)))
	}
	return nil
}

// explainPart returns what to do with the objects that kubectl has applied before it failed.
func explainPart(s *settings.Settings, name, out string) string {
	var applied []string
	for line := range strings.Lines(out) {
		if object, what, ok := strings.Cut(strings.TrimSpace(line), " "); ok && (what == "created" || what == "configured" || what == "unchanged") {
			applied = append(applied, object)
		}
	}
	switch {
	case slices.Contains(applied, "cluster.cluster.x-k8s.io/"+name):
		return fmt.Sprintf("\nA part of Cluster %s exists. To create the rest, remove the cause and run the command again with the same flags. "+
			"To create it with other flags, delete it first with `lab delete %s`", name, name)
	case len(applied) > 0:
		return fmt.Sprintf("\nObjects without a Cluster exist. Delete them with `kubectl delete --ignore-not-found -f %s`", ManifestFile(s, name))
	}
	return ""
}

// CreatedOptions returns the options of an existing cluster that Create has made. They are nil when there is none, or none of ours.
func CreatedOptions(ctx context.Context, s *settings.Settings, name string) (*Options, error) {
	there, err := clusterExists(ctx, s, name)
	if err != nil || !there {
		return nil, err
	}
	times, err := LoadTimes(s, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return times.Options, err
}

// CreateCluster renders and applies a template and waits until all of the cluster is ready. A cluster that exists already is
// waited for as it is.
func CreateCluster(ctx context.Context, s *settings.Settings, name string, o Options, screen Screen) (Times, error) {
	there, err := clusterExists(ctx, s, name)
	if err != nil {
		return Times{}, err
	}
	// A cluster whose manifest was applied in part is applied again.
	if times, err := LoadTimes(s, name); err == nil && there && !times.Applied.IsZero() {
		err := waitReady(ctx, s, name, o.Timeout, &times, screen)
		return times, errors.Join(err, saveTimes(s, name, times))
	}
	manifest := o.Manifest
	if manifest == nil {
		if manifest, err = RenderManifest(ctx, s, name, o); err != nil {
			return Times{}, err
		}
	}
	file := ManifestFile(s, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return Times{}, err
	}
	if err := files.Replace(file, manifest, 0o644); err != nil {
		return Times{}, err
	}
	// The options are stored first, so that a second command with other flags cannot mix two clusters.
	times := Times{Options: &o}
	if err := saveTimes(s, name, times); err != nil {
		return times, err
	}
	begin := time.Now()
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	infrastructure := watchInfrastructure(watched, s, name)
	bootstrap := watchBootstrap(watched, s, name)
	if err := applyManifest(ctx, s, name, manifest); err != nil {
		return times, err
	}
	times.Applied = begin
	// The command, run again after an interruption, continues to wait.
	if err := saveTimes(s, name, times); err != nil {
		return times, err
	}
	err = waitReady(ctx, s, name, o.Timeout, &times, screen)
	if err == nil {
		// The watch sees the moments exactly; looking now and then does not.
		select {
		case seen := <-infrastructure:
			times.Applied, times.Provisioned = seen.Applied, seen.Provisioned
		case <-time.After(interval):
		}
	}
	times.Bootstrap = bootstrap()
	return times, errors.Join(err, saveTimes(s, name, times))
}

func clusterExists(ctx context.Context, s *settings.Settings, name string) (bool, error) {
	kube, err := management.NewClient(s)
	if err != nil {
		return false, err
	}
	root, err := LoadCluster(ctx, kube, management.Namespace, name)
	return root != nil, err
}

func waitReady(ctx context.Context, s *settings.Settings, name string, timeout time.Duration, times *Times, screen Screen) error {
	defer screen.Close()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	kube, err := management.NewCachedClient(ctx, s)
	if err != nil {
		return err
	}
	var root *Object
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		next, err := LoadCluster(ctx, kube, management.Namespace, name)
		switch {
		case err == nil && next == nil:
			return fmt.Errorf("there is no Cluster %s", name)
		case err == nil:
			root = next
			screen.Show(root, time.Since(begin))
			if times.Provisioned.IsZero() && hasInfrastructure(root) {
				times.Provisioned = time.Now()
			}
			if root.IsComplete() {
				if times.Ready.IsZero() {
					times.Ready = time.Now()
				}
				return nil
			}
		case ctx.Err() == nil:
			return err
		}
		select {
		case <-ctx.Done():
			return notReady(s, root, name, timeout, ctx.Err())
		case <-tick.C:
		}
	}
}

// ErrInterrupted means that the command no longer waits for a cluster, whose creation or deletion continues nevertheless.
var ErrInterrupted = errors.New("interrupted")

// notReady returns the error of a cluster that is not ready in time: the deepest cause and the log to read.
func notReady(s *settings.Settings, root *Object, name string, timeout time.Duration, err error) error {
	failure := fmt.Errorf("after %s not all of Cluster %s is ready", timeout, name)
	if errors.Is(err, context.Canceled) {
		failure = fmt.Errorf("%w before Cluster %s was ready", ErrInterrupted, name)
	}
	if root == nil {
		return failure
	}
	if cause := FindCause(root, listGuests(s)); cause != nil {
		return fmt.Errorf("%w, because of\n  %s", failure, cause.DescribeWithLog(s.LogPath))
	}
	return failure
}

// listGuests returns the virtual machines; none when the simulator does not answer, which `lab status` shows in a line
// of its own.
func listGuests(s *settings.Settings) []simulator.Guest {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	azure, err := simulator.New(s)
	if err != nil {
		return nil
	}
	found, err := azure.ListGuests(ctx)
	if err != nil {
		return nil
	}
	return found
}
