package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/kubelet"
	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/provider"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
	"sigs.k8s.io/cluster-api-provider-azure/lab/timeline"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
	"sigs.k8s.io/cluster-api-provider-azure/sim/schedule"
)

// Options say how a scenario is run.
type Options struct {
	// Dir is the directory of the lab, and Root the source tree.
	Dir, Root string
	BasePort  int
	TimeScale float64
	// Clusters, Machines and Pools change the size of the scenario; zero leaves it.
	Clusters, Machines, Pools int
	// Timeout bounds each phase, Rest is how long nothing is done after a phase before resting memory is read, and Steady how long a
	// phase is in which nothing happens; zero is none.
	Timeout, Rest, Steady time.Duration
	// Name is that of the provider, Commands are its processes and Components the file with the manifests of each. Without commands it
	// is ours, from its release.
	Name                 string
	Commands, Components []string
	Report               management.Report
}

// seed is azuresim's default one.
const seed = 1

// runner is a run that is under way.
type runner struct {
	Options
	scenario Scenario
	settings *settings.Settings
	programs []program
	// accounts are those of the provider in the audit log, token that of the bench for metrics.
	accounts []string
	token    string
	kube     client.Client
	watcher  *watcher
	webhooks map[string]bool
	// restarting is set while programs are ended on purpose.
	restarting atomic.Bool
	out        Run
}

// StartRun runs a scenario in a lab that is gone when it returns; its logs stay in the directory.
func StartRun(ctx context.Context, scenario Scenario, o Options) (Run, error) {
	scenario, err := scenario.withSize(o.Clusters, o.Machines, o.Pools)
	if err != nil {
		return Run{}, err
	}
	if scenario.IsVirtual() {
		return inVirtualTime(ctx, scenario, o)
	}
	r := &runner{Options: o, scenario: scenario, webhooks: map[string]bool{}}
	if r.programs, err = pairPrograms(o.Commands, o.Components); err != nil {
		return Run{}, err
	}
	if _, err := settings.Load(o.Dir); !errors.Is(err, settings.ErrNoLab) {
		return Run{}, fmt.Errorf("a lab exists in %s, and a bench needs a folder of its own: end the lab with `lab down --dir %s`, or choose another --dir",
			o.Dir, o.Dir)
	}
	r.settings = &settings.Settings{
		Dir: o.Dir, Root: o.Root, BasePort: o.BasePort, TimeScale: o.TimeScale, Verbosity: 2,
		ClientSecret: management.NewSecret(), ControlToken: management.NewSecret(),
		WithoutProvider: len(r.programs) > 0, WithoutGuests: scenario.kind == machines, APIServerMemory: apiServerMemory,
	}
	if err := firstError(os.RemoveAll(r.settings.RequestLog()), os.RemoveAll(r.settings.ChangeLog()),
		os.RemoveAll(r.settings.JoinPath("logs"))); err != nil {
		return Run{}, err
	}
	r.out = Run{
		Scenario: scenario.Name, Provider: o.Name, Source: FromProcesses, Begun: time.Now().UTC(), Seed: seed, TimeScale: o.TimeScale,
		Clusters: scenario.clusters, Machines: scenario.machines, Pools: scenario.pools, Guests: scenario.kind != machines,
		Processors: runtime.NumCPU(), LoadBefore: loadAverage(),
	}
	err = r.runScenario(ctx)
	return r.out, errors.Join(err, r.stopAll())
}

// apiServerMemory has room for the objects of the largest scenarios: with what other labs have the API server takes a third of its
// processor time to collect garbage, and the bench measures that.
const apiServerMemory = "3GiB"

// stopAll stops everything that the run has started, even when it was interrupted.
func (r *runner) stopAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	table := management.ProcessTable(r.settings)
	var failures []error
	for _, p := range r.programs {
		pid := table.ReadState(p.Name).PID
		failures = append(failures, table.Stop(ctx, p.Name), endSession(pid))
	}
	if err := errors.Join(failures...); err != nil {
		return errors.Join(err, management.StopLab(ctx, r.settings))
	}
	return management.RemoveLab(ctx, r.settings)
}

func (r *runner) runScenario(ctx context.Context) error {
	if err := management.StartLab(ctx, r.settings, r.Report); err != nil {
		return err
	}
	config, err := management.RESTConfig(r.settings)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, -1 // requests of the bench must not delay the measured ones
	if r.kube, err = client.New(config, client.Options{}); err != nil {
		return err
	}
	if r.token, err = createAdminToken(ctx, r.kube, "bench"); err != nil {
		return err
	}
	if err := r.startProvider(ctx); err != nil {
		return err
	}
	if err := r.awaitQuiet(ctx); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	r.watcher = startWatcher(watching, r.sessionIDs)
	if err := r.runPhases(ctx); err != nil {
		return err
	}
	r.out.LoadAfter = loadAverage()
	return nil
}

// startProvider starts the provider's programs, and reads their names in the audit log. Our own runs already.
func (r *runner) startProvider(ctx context.Context) error {
	if len(r.programs) == 0 {
		deployment, err := kubelet.FindDeployment(ctx, r.kube, settings.Azure)
		if err != nil {
			return err
		}
		r.accounts = []string{accountName(deployment.Namespace, deployment.Spec.Template.Spec.ServiceAccountName)}
		return nil
	}
	for _, p := range r.programs {
		webhooks, err := p.installManifests(ctx, r.settings)
		if err != nil {
			return err
		}
		r.webhooks[p.Name] = webhooks
		token, err := createAdminToken(ctx, r.kube, p.Name)
		if err != nil {
			return err
		}
		if err := p.writeKubeconfig(r.settings, token); err != nil {
			return err
		}
		r.accounts = append(r.accounts, accountName(accounts, p.Name))
	}
	// All kinds exist before any program looks for them.
	for _, p := range r.programs {
		if err := p.startProgram(ctx, r.settings, r.webhooks[p.Name]); err != nil {
			return err
		}
		r.Report("provider started: %s", p.command)
	}
	return management.ApplyObject(ctx, r.kube, newIdentity())
}

// processNames returns the names of the provider's processes.
func (r *runner) processNames() []string {
	if len(r.programs) == 0 {
		return []string{settings.Azure.Name}
	}
	var out []string
	for _, p := range r.programs {
		out = append(out, p.Name)
	}
	return out
}

// sessionIDs returns those of the provider's processes.
func (r *runner) sessionIDs() []int {
	var out []int
	table := management.ProcessTable(r.settings)
	for _, name := range r.processNames() {
		if state := table.ReadState(name); state.Alive {
			out = append(out, state.PID)
		}
	}
	return out
}

func (r *runner) runPhases(ctx context.Context) error {
	var all *fleet
	single := r.scenario.clusters == 1 && r.scenario.kind != machines
	if !single {
		var err error
		if all, err = newFleet(ctx, r.settings, r.kube, r.scenario); err != nil {
			return err
		}
	}
	err := r.measurePhase(ctx, create, func(ctx context.Context, p *Phase) error {
		if single {
			return r.createOne(ctx, p)
		}
		return r.createFleet(ctx, all, p)
	})
	if err == nil && r.Steady > 0 {
		err = r.measurePhase(ctx, steady, func(ctx context.Context, _ *Phase) error { return waitFor(ctx, r.Steady) })
	}
	for _, name := range r.scenario.after {
		if err != nil {
			return err
		}
		err = r.measurePhase(ctx, name, func(ctx context.Context, p *Phase) error {
			if name == restart {
				return r.restartProvider(ctx, p)
			}
			if err := all.deleteClusters(ctx); err != nil {
				return err
			}
			return all.awaitNone(ctx, "are not gone", all.listLeft)
		})
	}
	return err
}

// createOne makes one cluster that becomes Ready with nodes.
func (r *runner) createOne(ctx context.Context, p *Phase) error {
	o := workload.Options{Flavor: workload.DefaultFlavor, ControlPlaneMachines: r.scenario.controlPlanes(),
		WorkerMachines: r.scenario.machines - r.scenario.controlPlanes(), Timeout: r.Timeout}
	if r.scenario.kind == managed {
		o.Flavor, o.WorkerMachines = "aks", r.scenario.nodes
	}
	name := clusterName(0)
	objects, err := renderTemplate(ctx, r.settings, name, o)
	if err == nil && r.scenario.kind == managed {
		objects, err = ofPools(objects, r.scenario.pools)
	}
	if err != nil {
		return err
	}
	if o.Manifest, err = provider.EncodeDocuments(objects); err != nil {
		return err
	}
	times, err := workload.CreateCluster(ctx, r.settings, name, o, silent{})
	if err != nil {
		return err
	}
	line, err := timeline.LoadTimeline(ctx, r.settings, name)
	if err != nil {
		return err
	}
	_, critical := line.CriticalPath()
	p.WallSeconds, p.ProvisionedSeconds = times.Ready.Sub(times.Applied).Seconds(), times.Provisioned.Sub(times.Applied).Seconds()
	p.CriticalSeconds, p.Overhead = critical.Seconds(), line.ComputeOverhead()
	return nil
}

// createFleet makes many clusters, or many machines.
func (r *runner) createFleet(ctx context.Context, all *fleet, p *Phase) error {
	begin := time.Now()
	if err := all.createObjects(ctx); err != nil {
		return err
	}
	if err := all.awaitNone(ctx, "have no infrastructure", all.listWaiting); err != nil {
		return err
	}
	end := time.Now()
	log, err := timeline.ReadLog(r.settings.RequestLog())
	if err != nil {
		return err
	}
	azure, err := simulator.New(r.settings)
	if err != nil {
		return err
	}
	operations, err := azure.ListOperations(ctx)
	if err != nil {
		return err
	}
	state, err := azure.ReadState(ctx)
	if err != nil {
		return err
	}
	references := schedule.FindReferences(state)
	var longest time.Duration
	for i := range all.clusters {
		line := timeline.BuildTimeline(workload.Times{Applied: begin, Provisioned: end}, []string{clusterName(i)}, log, operations, references,
			nil)
		if _, critical := line.CriticalPath(); critical > longest {
			longest = critical
		}
	}
	p.WallSeconds = end.Sub(begin).Seconds()
	p.ProvisionedSeconds, p.CriticalSeconds = p.WallSeconds, longest.Seconds()
	if longest > 0 {
		p.Overhead = p.WallSeconds / p.CriticalSeconds
	}
	return nil
}

// silent is a screen that shows nothing.
type silent struct{}

func (silent) Show(*workload.Object, time.Duration) {}
func (silent) Close()                               {}

func waitFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
