package management

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/kubelet"
	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/provider"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// Report prints one line of progress.
type Report func(format string, args ...any)

// ProcessTable returns the table of the lab's processes.
func ProcessTable(s *settings.Settings) *process.Table { return &process.Table{Dir: s.ProcessesPath()} }

// StartLab starts what does not run yet and waits until all of it serves. It keeps what etcd and the simulator have, so it is
// also the way to bring back what died.
func StartLab(ctx context.Context, s *settings.Settings, report Report) (err error) {
	l := &lab{s: s, table: ProcessTable(s), report: report, begin: time.Now()}
	if err := l.checkSettings(); err != nil {
		return refusedError{err}
	}
	lock, err := lockLab(s)
	if err != nil {
		return refusedError{err}
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := s.CheckCurrent(); err != nil {
		return refusedError{err}
	}
	if err := s.Save(); err != nil {
		return err
	}
	if err := l.prepareFiles(); err != nil {
		return err
	}
	if err := l.startAll(ctx); err != nil {
		return err
	}
	if err := l.applyIdentity(ctx); err != nil {
		return err
	}
	report("management cluster ready in %.1f s", time.Since(l.begin).Seconds())
	return nil
}

// refusedError is the error of settings with which the lab cannot start, or of a lab that another command starts or stops. StartLab has
// written no settings and started nothing then.
type refusedError struct{ error }

func (e refusedError) Unwrap() error { return e.error }

// IsRefused reports whether StartLab refused to start the lab. Its error has the remedy.
func IsRefused(err error) bool { return errors.As(err, &refusedError{}) }

// checkSettings is called before anything is written: a lab that cannot start would look like one that was started, and later commands
// would use its settings.
func (l *lab) checkSettings() error {
	if err := l.s.Validate(); err != nil {
		return err
	}
	if err := l.checkPorts(); err != nil {
		return err
	}
	return provider.CheckReleases(l.s)
}

// startAll starts processes without prerequisites at once, and the others as soon as their prerequisites run.
func (l *lab) startAll(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	rendered, installed, azureReady := make(chan struct{}), make(chan struct{}), make(chan struct{})
	group.Go(closeAfter(rendered, func() error { return l.writeRepository() }))
	group.Go(closeAfter(installed, func() error { return l.startKubernetes(ctx, rendered) }))
	group.Go(closeAfter(azureReady, func() error { return l.startAzure(ctx) }))
	group.Go(func() error {
		if !haveSucceeded(ctx, installed, azureReady) {
			return nil // the group already has the cause
		}
		return l.startManagers(ctx)
	})
	return group.Wait()
}

// closeAfter closes done when f succeeds. Who waits for it also waits for the group's context, which ends when f fails.
func closeAfter(done chan<- struct{}, f func() error) func() error {
	return func() error {
		err := f()
		if err == nil {
			close(done)
		}
		return err
	}
}

// haveSucceeded reports whether all steps succeeded before ctx ended.
func haveSucceeded(ctx context.Context, steps ...<-chan struct{}) bool {
	for _, step := range steps {
		select {
		case <-step:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

type lab struct {
	s      *settings.Settings
	table  *process.Table
	report Report
	begin  time.Time
}

func (l *lab) startProcess(ctx context.Context, spec process.Spec) error {
	started, err := l.table.Start(ctx, spec)
	if err != nil {
		return err
	}
	if started {
		l.report("%5.1f s  %s", time.Since(l.begin).Seconds(), spec.Name)
	}
	return nil
}

// startKubernetes brings up the API server with all kinds installed.
func (l *lab) startKubernetes(ctx context.Context, rendered <-chan struct{}) error {
	if err := l.startProcess(ctx, etcdSpec(l.s)); err != nil {
		return err
	}
	if err := l.startProcess(ctx, apiServerSpec(l.s)); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.startProcess(ctx, controllerManagerSpec(l.s)) })
	group.Go(func() error {
		if !haveSucceeded(ctx, rendered) {
			return nil
		}
		return l.installProviders(ctx)
	})
	return group.Wait()
}

// startAzure brings up the simulated Azure with the resources that clusters expect to find, and the bridge.
func (l *lab) startAzure(ctx context.Context) error {
	if l.s.Beside != "" {
		// All the rest is the other lab's.
		if err := l.writeCABundle(); err != nil {
			return err
		}
		return l.trustTokens(ctx)
	}
	if err := l.startProcess(ctx, azuresimSpec(l.s)); err != nil {
		return err
	}
	if err := l.writeCABundle(); err != nil {
		return err
	}
	if err := l.seedAzure(ctx); err != nil {
		return fmt.Errorf("resources in the simulated Azure: %w", err)
	}
	if err := l.trustTokens(ctx); err != nil {
		return err
	}
	if l.s.WithoutGuests {
		return nil
	}
	return l.startProcess(ctx, bridgeSpec(l.s))
}

func (l *lab) writeRepository() error {
	variables := TemplateVariables(l.s)
	maps.Copy(variables, releaseVariables(l.s))
	return provider.WriteRepository(l.s, variables)
}

// startManagers lets the kubelet run the managers. It replaces one whose program was built anew.
func (l *lab) startManagers(ctx context.Context) error {
	if l.s.Traces {
		if err := l.startProcess(ctx, tracesSpec(l.s)); err != nil {
			return err
		}
	} else if err := ProcessTable(l.s).Stop(ctx, traces); err != nil {
		return err
	}
	if err := l.startProcess(ctx, kubeletSpec(l.s)); err != nil {
		return err
	}
	kube, err := NewClient(l.s)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, m := range l.s.InstalledManagers() {
		group.Go(func() error {
			if l.table.IsOutdated(m.Name) {
				if err := l.table.Stop(ctx, m.Name); err != nil {
					return err
				}
			}
			return l.awaitManager(ctx, kube, m)
		})
	}
	return group.Wait()
}

// awaitManager waits until the process is the one that the Deployment asks for.
func (l *lab) awaitManager(ctx context.Context, kube client.Client, m settings.Manager) error {
	before := l.table.ReadState(m.Name)
	ready := process.ReadyURL("http://"+l.s.HealthAddress(m)+"/readyz", nil)
	err := awaitNone(ctx, func() (waiting string, err error) {
		deployment, err := kubelet.FindDeployment(ctx, kube, m)
		if err != nil {
			return "", err
		}
		if deployment == nil {
			return "", fmt.Errorf("%s has no Deployment: clusterctl did not install it", m.Label)
		}
		if deployment.Spec.Replicas != nil && *deployment.Spec.Replicas == 0 {
			return "", nil
		}
		// The status may be that of a process which has died since.
		if l.table.CheckRunning(m.Name) == nil && ready(ctx) == nil && deployment.Status.ObservedGeneration == deployment.Generation &&
			deployment.Status.AvailableReplicas > 0 {
			return "", nil
		}
		waiting = fmt.Sprintf("%s is not ready; its log is %s", m.Name, l.s.LogPath(m.Name))
		for _, condition := range deployment.Status.Conditions {
			if condition.Message != "" {
				waiting = condition.Message
			}
		}
		return waiting, nil
	})
	if err == nil && l.table.ReadState(m.Name).PID != before.PID {
		l.report("%5.1f s  %s", time.Since(l.begin).Seconds(), m.Name)
	}
	return err
}

// checkPorts finds a foreign process on one of the lab's ports before readiness probes take it for the lab's own.
func (l *lab) checkPorts() error {
	if running, err := ListRunning(l.s); err != nil || len(running) > 0 {
		return err // ports are taken by the lab itself
	}
	var taken []string
	for port := l.s.BasePort; port < l.s.BasePort+32; port++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			taken = append(taken, fmt.Sprint(port))
			continue
		}
		listener.Close()
	}
	if len(taken) > 0 {
		return fmt.Errorf("--base-port %d: another process listens on port %s; is another lab running? Choose another block, as in --base-port %d",
			l.s.BasePort, strings.Join(taken, ", "), l.s.BasePort+settings.PortBlock)
	}
	return nil
}

// stopOrder begins with those that write, and ends with those that are written to: an API server without etcd does not
// end by itself.
func stopOrder() [][]string {
	var managers []string
	for _, m := range settings.Managers {
		managers = append(managers, m.Name)
	}
	return [][]string{{kubeletProcess}, append(managers, bridge, controllerManager), {apiServer, azuresim}, {etcd}}
}

// ListRunning returns the names of the lab's processes that run.
func ListRunning(s *settings.Settings) ([]string, error) {
	table := ProcessTable(s)
	names, err := table.ListNames()
	return slices.DeleteFunc(names, func(name string) bool { return table.CheckRunning(name) != nil }), err
}

// StopLab stops everything that StartLab started. The data stays.
func StopLab(ctx context.Context, s *settings.Settings) (err error) {
	lock, err := lockLab(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return stopProcesses(ctx, s)
}

// RemoveLab stops everything that StartLab started, and deletes the data of the lab, except for its logs.
func RemoveLab(ctx context.Context, s *settings.Settings) (err error) {
	lock, err := lockLab(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := stopProcesses(ctx, s); err != nil {
		return err
	}
	return removeData(s)
}

// stopProcesses stops as many processes as it can: one that cannot be stopped does not keep the others running.
func stopProcesses(ctx context.Context, s *settings.Settings) error {
	table := ProcessTable(s)
	var failures []error
	for _, names := range stopOrder() {
		failures = append(failures, table.StopAll(ctx, names...))
		if ctx.Err() != nil {
			return errors.Join(failures...)
		}
	}
	rest, err := table.ListNames()
	rest = slices.DeleteFunc(rest, func(name string) bool { return slices.Contains(slices.Concat(stopOrder()...), name) })
	return errors.Join(append(failures, err, table.StopAll(ctx, rest...))...)
}

func removeData(s *settings.Settings) error {
	for _, path := range []string{s.JoinPath("etcd"), s.SimulatorState(), s.JoinPath("clusters"), s.JoinPath("run"), s.JoinPath("lab.json")} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}
