package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Options say where the simulator is and how fast the bridge's machines boot.
type Options struct {
	// Simulator is the base URL of azuresim, e.g. https://127.0.0.1:28443.
	Simulator string
	// SimulatorCAFile is a PEM file with the CA of the simulator's serving certificate.
	// Empty means the system's trust store.
	SimulatorCAFile string
	// ControlTokenFile holds the token sent as X-Sim-Token to the control API. Empty sends none.
	ControlTokenFile string
	// TimeScale multiplies every duration of the boot model: 1 is the measured median, 0 is at once.
	TimeScale float64
	// MinPort and MaxPort bound the loopback ports of the API servers (inclusive). Each control-plane
	// VM takes one, each workload cluster one more. Both 0 lets the kernel choose.
	MinPort, MaxPort int
	// Log receives structured records. Nil discards them.
	Log *slog.Logger
}

func (o *Options) checkOptions() error {
	u, err := url.Parse(o.Simulator)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("the simulator's address %q is not an http(s) URL such as https://127.0.0.1:28443", o.Simulator)
	}
	if o.TimeScale < 0 {
		return fmt.Errorf("time scale %v is negative: use 1 for the measured medians, 0 for at once", o.TimeScale)
	}
	if o.MinPort < 0 || o.MaxPort > 65535 || o.MaxPort < o.MinPort || (o.MinPort == 0) != (o.MaxPort == 0) {
		return fmt.Errorf("port range %d-%d is not MIN-MAX within 1-65535", o.MinPort, o.MaxPort)
	}
	return nil
}

// RunBridge watches the simulator's guests and keeps workload clusters in step with them. It blocks until
// ctx is done (then it returns nil) or until it cannot start at all. A simulator that is away is
// waited for.
func RunBridge(ctx context.Context, o Options) error {
	if err := o.checkOptions(); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	sim, err := newSimulator(o)
	if err != nil {
		return err
	}
	f, err := newFleet(&portRange{min: o.MinPort, max: o.MaxPort}, o.Log)
	if err != nil {
		return err
	}
	if err := f.manager.Start(ctrl.LoggerInto(ctx, logr.Discard())); err != nil {
		return fmt.Errorf("start the in-memory API: %w", err)
	}
	b := &bridge{
		sim: sim, fleet: f, scale: o.TimeScale, log: o.Log,
		entra: &entra{sim: sim}, machines: map[string]*machine{}, managed: map[string]*managed{},
	}
	defer b.closeAll()
	clusters := make(chan struct{})
	go func() {
		defer close(clusters)
		b.followClusters(ctx)
	}()
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		f.keepAll(ctx)
	}()
	b.followGuests(ctx)
	<-clusters
	<-kept
	return nil
}

// bridge keeps one machine per guest and one workload cluster per managed cluster. Each map belongs to the goroutine that
// follows its list.
type bridge struct {
	sim      *simulator
	fleet    *fleet
	entra    *entra
	scale    float64
	log      *slog.Logger
	machines map[string]*machine
	managed  map[string]*managed
}

// Waits of the loop that polls the control API, in wall-clock time: they follow a process, not Azure.
const (
	longPoll     = 30 * time.Second
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 5 * time.Second
)

// followGuests keeps machines in step with the virtual machines until ctx is done.
func (b *bridge) followGuests(ctx context.Context) {
	followList(ctx, b.log, b.sim.listGuests, b.syncMachines, func(ctx context.Context) {
		for _, m := range b.machines {
			m.announceAgain(ctx)
		}
	})
}

// followList polls a list of the simulator until ctx is done and hands each new one to sync. When the simulator answers
// again after it was away, the bridge repeats everything that the simulator may have forgotten.
func followList[T any](ctx context.Context, log *slog.Logger,
	list func(ctx context.Context, after int64, wait time.Duration) ([]T, int64, error),
	sync func(context.Context, []T), announce func(context.Context)) {
	after, wait, backoff, lost := int64(0), time.Duration(0), firstBackoff, false
	for ctx.Err() == nil {
		items, revision, err := list(ctx, after, wait)
		if err != nil {
			if !lost && ctx.Err() == nil {
				log.Warn("the simulator does not answer", "error", err)
			}
			lost, after, wait = true, 0, 0
			waitUnlessDone(ctx, backoff)
			backoff = min(2*backoff, lastBackoff)
			continue
		}
		sync(ctx, items)
		if lost {
			log.Info("the simulator answers again")
			announce(ctx)
		}
		after, wait, backoff, lost = revision, longPoll, firstBackoff, false
	}
}

// syncMachines brings the machines in step with a list of guests.
func (b *bridge) syncMachines(ctx context.Context, guests []guest) {
	seen := map[string]bool{}
	var fresh []*machine
	for _, g := range guests {
		seen[g.VMID] = true
		m, ok := b.machines[g.VMID]
		if ok && !m.guest.sameMachine(g) {
			m.removeMachine(ctx)
			ok = false
		}
		if !ok {
			m = &machine{bridge: b, vmID: g.VMID, guest: g, log: b.log.With("vm", g.String(), "vmID", g.VMID)}
			b.machines[g.VMID] = m
			fresh = append(fresh, m)
			continue
		}
		rebooted := m.guest.BootID != g.BootID
		m.observeGuest(ctx, g, rebooted)
	}
	for id, m := range b.machines {
		if !seen[id] {
			m.removeMachine(ctx)
			delete(b.machines, id)
		}
	}
	b.beginMachines(ctx, fresh)
}

// beginMachines starts machines seen for the first time. Those which had joined before the bridge was
// restarted come back at once, control planes first.
func (b *bridge) beginMachines(ctx context.Context, fresh []*machine) {
	var joined []*machine
	for _, m := range fresh {
		if m.guest.isRunning() {
			m.openSSH(ctx)
		}
		switch {
		case m.guest.Status.Phase == phaseRunning:
			joined = append(joined, m)
		case m.guest.Status.Phase == phaseFailed:
			// cloud-init ran and failed; it does not run again.
			m.failed, m.status, m.off = true, m.guest.Status, !m.guest.isRunning()
			m.status.VMID = m.guest.VMID
		case m.guest.isRunning():
			m.startBoot(ctx)
		default:
			m.off = true
		}
	}
	slices.SortStableFunc(joined, func(x, y *machine) int { return cmp.Compare(x.restoreRank(), y.restoreRank()) })
	for _, m := range joined {
		m.restoreJoined(ctx)
		if !m.guest.isRunning() {
			m.powerOff(ctx)
		}
	}
}

// readInventory reads the simulator's resources; nil when it does not show them.
func (b *bridge) readInventory(ctx context.Context) inventory {
	var inv inventory
	b.callControl(ctx, "read state", func() (err error) {
		inv, err = b.sim.readState(ctx)
		return err
	})
	return inv
}

// callControl calls the control API and repeats the call while the simulator is away. An answer, even a
// refusal, ends it.
func (b *bridge) callControl(ctx context.Context, what string, call func() error) {
	for backoff := firstBackoff; ; backoff = min(2*backoff, lastBackoff) {
		err := call()
		if err == nil || ctx.Err() != nil {
			return
		}
		if refused, ok := errors.AsType[*controlError](err); ok && refused.Status < 500 {
			b.log.Log(ctx, refusalLevel(refused), "the simulator refuses", "call", what, "error", err)
			return
		}
		b.log.Warn("the simulator does not answer", "call", what, "error", err)
		if !waitUnlessDone(ctx, backoff) {
			return
		}
	}
}

// refusalLevel keeps quiet about guests that went away meanwhile.
func refusalLevel(e *controlError) slog.Level {
	if e.Status == 404 {
		return slog.LevelDebug
	}
	return slog.LevelError
}

func (b *bridge) scaleDuration(d time.Duration) time.Duration {
	return time.Duration(float64(d) * b.scale)
}

func (b *bridge) closeAll() {
	for _, m := range b.machines {
		m.haltBoot()
		if m.ssh != nil {
			m.ssh.conns.closeAll()
		}
	}
	b.fleet.closeAll()
}

// waitUnlessDone waits. It returns false if ctx ended first.
func waitUnlessDone(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
