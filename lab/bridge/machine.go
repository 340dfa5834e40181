package bridge

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// The boot model: from the hypervisor's start to a kubelet that has registered. Medians of Azure;
// a control plane takes 60 to 150 s, a worker 45 to 90 s.
const (
	controlPlaneBoot = 90 * time.Second
	workerBoot       = 60 * time.Second
	// discoveryRetry is kubeadm's pause between two tries of discovery.
	discoveryRetry = 5 * time.Second
	// discoveryTimeout is kubeadm's default of timeouts.discovery. It is not scaled: controllers, which run at
	// wall-clock speed, write the objects that a join waits for.
	discoveryTimeout = 5 * time.Minute
	// minimumPause keeps retries from spinning at time scale 0.
	minimumPause = 100 * time.Millisecond
)

// machine follows one guest from boot to deletion. Its boot runs in a goroutine of its own; all
// other methods are called by the bridge's loop, and only while no boot runs.
type machine struct {
	bridge *bridge
	vmID   string
	guest  guest
	log    *slog.Logger

	cancel context.CancelFunc
	done   chan struct{}

	// enrolled is set once the machine is in a cluster, failed once its boot has ended for good.
	enrolled *enrolment
	workload *workload
	failed   bool
	off      bool
	// ssh is the SSH server while the guest runs, nil if it has none.
	ssh *sshServer

	mu       sync.Mutex
	status   guestStatus
	listener listenerBody
}

// startBoot begins the boot in the background.
func (m *machine) startBoot(ctx context.Context) {
	ctx, m.cancel = context.WithCancel(ctx)
	m.done = make(chan struct{})
	go func(g guest, done chan struct{}) {
		defer close(done)
		m.bootGuest(ctx, g)
	}(m.guest, m.done)
}

// haltBoot ends a boot that is going on and waits for it.
func (m *machine) haltBoot() {
	if m.cancel == nil {
		return
	}
	m.cancel()
	<-m.done
	m.cancel = nil
}

func (m *machine) bootGuest(ctx context.Context, g guest) {
	m.reportPhase(ctx, phaseBooting, "the machine reads its bootstrap data", "")
	e, err := prepareEnrolment(g, m.bridge.readInventory(ctx))
	if err != nil {
		m.failBoot(ctx, err)
		return
	}
	duration := workerBoot
	if e.plan.controlPlane() {
		duration = controlPlaneBoot
	}
	if !waitUnlessDone(ctx, m.bridge.scaleDuration(duration)) {
		return
	}
	var w *workload
	if e.plan.Init != nil {
		w, err = m.bridge.fleet.ensureByPin(ctx, e.pki.cluster.pinOfCA())
	} else {
		w, err = m.joinCluster(ctx, e)
	}
	if err != nil {
		m.failBoot(ctx, err)
		return
	}
	m.becomeNode(ctx, w, e)
}

// restoreJoined brings back a machine which had joined before the bridge was restarted: no boot time, no
// discovery, since its kubelet never stopped.
func (m *machine) restoreJoined(ctx context.Context) {
	e, err := prepareEnrolment(m.guest, m.bridge.readInventory(ctx))
	if err != nil {
		m.failBoot(ctx, err)
		return
	}
	e.restored = true
	pinned := ""
	switch {
	case e.pki != nil:
		pinned = e.pki.cluster.pinOfCA()
	case e.file != nil:
		pinned = pinOf(e.file.ca)
	case len(e.plan.Join.Discovery.BootstrapToken.CACertHashes) > 0:
		pinned = strings.ToLower(e.plan.Join.Discovery.BootstrapToken.CACertHashes[0])
	default:
		m.startBoot(ctx)
		return
	}
	w, err := m.bridge.fleet.ensureByPin(ctx, pinned)
	if err != nil {
		m.failBoot(ctx, err)
		return
	}
	m.becomeNode(ctx, w, e)
}

// joinCluster repeats discovery until it succeeds or kubeadm would give up.
func (m *machine) joinCluster(ctx context.Context, e *enrolment) (*workload, error) {
	timeout := discoveryTimeout
	if s := e.plan.Join.Timeouts.DiscoverySeconds; s != nil && *s > 0 {
		timeout = time.Duration(*s) * time.Second
	}
	deadline := time.Now().Add(timeout)
	for {
		ca, err := m.discoverCA(ctx, e)
		if err == nil {
			var w *workload
			if w, err = m.admitToCluster(ca, e); err == nil {
				return w, nil
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("kubeadm join gave up after %s: %w", timeout, err)
		}
		m.reportPhase(ctx, phaseBooting, "kubeadm join retries: "+err.Error(), "")
		if !waitUnlessDone(ctx, max(m.bridge.scaleDuration(discoveryRetry), minimumPause)) {
			return nil, ctx.Err()
		}
	}
}

// discoverCA finds the CA of the cluster, in the way that the machine's configuration sets.
func (m *machine) discoverCA(ctx context.Context, e *enrolment) (*x509.Certificate, error) {
	if e.file != nil {
		return e.file.discoverByFile(ctx, m.bridge.sim)
	}
	return discoverByToken(ctx, m.bridge.sim, e.plan.Join.Discovery.BootstrapToken)
}

// admitToCluster finds the cluster of a discovered CA and checks the prerequisites of a joining control plane.
func (m *machine) admitToCluster(ca *x509.Certificate, e *enrolment) (*workload, error) {
	w := m.bridge.fleet.findByPin(pinOf(ca))
	if w == nil {
		return nil, fmt.Errorf("the cluster with CA %s has no control plane in this lab", pinOf(ca))
	}
	if e.pki == nil {
		return w, nil
	}
	if e.pki.cluster.pinOfCA() != pinOf(ca) {
		return nil, fmt.Errorf("/etc/kubernetes/pki/ca.crt is not the CA of the cluster it joins (%s)", pinOf(ca))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.settings.endpoint == "" {
		return nil, errors.New("the cluster's ClusterConfiguration has no controlPlaneEndpoint, so it cannot take another control plane")
	}
	return w, nil
}

// becomeNode makes the machine a Node and tells the simulator.
func (m *machine) becomeNode(ctx context.Context, w *workload, e *enrolment) {
	address, err := w.enrolMachine(ctx, *e)
	if err != nil {
		m.failBoot(ctx, err)
		return
	}
	m.enrolled, m.workload = e, w
	m.listenOn(ctx, e.plan.bindPort(), address)
	message := "Node " + e.node.Name + " joined"
	if e.plan.Init != nil {
		message = "kubeadm initialised the cluster on Node " + e.node.Name
	}
	if e.found == nil {
		message += "; its kubelet runs without cloud-provider=external, so the Node has no provider ID"
	}
	m.reportPhase(ctx, phaseRunning, message, e.node.Name)
	m.log.Info("node joined", "node", e.node.Name, "controlPlane", e.plan.controlPlane(), "address", address)
}

// observeGuest takes a newer sighting of the same machine: stopped, started or rebooted meanwhile.
func (m *machine) observeGuest(ctx context.Context, g guest, rebooted bool) {
	m.guest.PowerState, m.guest.BootID, m.guest.NICs = g.PowerState, g.BootID, g.NICs
	switch {
	case !g.isRunning() && !m.off:
		m.powerOff(ctx)
	case g.isRunning() && m.off:
		m.powerOn(ctx)
	case g.isRunning() && rebooted:
		m.powerOff(ctx)
		m.powerOn(ctx)
	}
}

// restoreRank orders machines for restoring: the one that ran kubeadm init, control planes, workers.
func (m *machine) restoreRank() int {
	script, err := readCustomData(m.guest)
	if err != nil {
		return 3
	}
	plan, err := planKubeadm(script)
	switch {
	case err != nil:
		return 3
	case plan.Init != nil:
		return 0
	case plan.controlPlane():
		return 1
	}
	return 2
}

// powerOff follows the VM being stopped or deallocated.
func (m *machine) powerOff(ctx context.Context) {
	m.haltBoot()
	m.closeSSH(ctx)
	m.off = true
	if m.enrolled == nil {
		return
	}
	m.stopListening(ctx)
	if err := m.workload.suspendMachine(ctx, m.enrolled.node.Name); err != nil {
		m.log.Error("suspend node", "error", err)
	}
}

// powerOn follows the VM being started. Bootstrap data is used once per instance: a machine that has
// joined comes back as it was, one that failed stays so.
func (m *machine) powerOn(ctx context.Context) {
	m.off = false
	m.openSSH(ctx)
	switch {
	case m.enrolled != nil:
		m.enrolled.guest = m.guest
		address, err := m.workload.resumeMachine(ctx, *m.enrolled)
		if err != nil {
			m.log.Error("resume node", "error", err)
			return
		}
		m.listenOn(ctx, m.enrolled.plan.bindPort(), address)
	case !m.failed:
		m.startBoot(ctx)
	}
}

// removeMachine follows the VM being deleted.
func (m *machine) removeMachine(ctx context.Context) {
	m.haltBoot()
	m.closeSSH(ctx)
	if m.enrolled == nil {
		return
	}
	ended, err := m.workload.dismissMachine(ctx, m.enrolled.node.Name)
	if err != nil {
		m.log.Error("remove node", "error", err)
	}
	m.stopListening(ctx)
	m.log.Info("node removed", "node", m.enrolled.node.Name, "clusterEnded", ended)
}

func (m *machine) failBoot(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	m.failed = true
	m.log.Warn("machine never joins", "reason", err)
	m.reportPhase(ctx, phaseFailed, err.Error(), "")
}

func (m *machine) reportPhase(ctx context.Context, phase, message, node string) {
	status := guestStatus{VMID: m.vmID, Phase: phase, Message: message, NodeName: node}
	m.mu.Lock()
	same := m.status == status
	m.status = status
	m.mu.Unlock()
	if !same {
		m.bridge.callControl(ctx, "report status", func() error { return m.bridge.sim.reportStatus(ctx, status) })
	}
}

func (m *machine) listenOn(ctx context.Context, port int32, address string) {
	if address == "" {
		return
	}
	m.mu.Lock()
	m.listener = listenerBody{VMID: m.vmID, Port: port, Address: address}
	m.mu.Unlock()
	m.bridge.callControl(ctx, "register listener", func() error { return m.bridge.sim.addListener(ctx, m.vmID, port, address) })
}

func (m *machine) stopListening(ctx context.Context) {
	m.mu.Lock()
	l := m.listener
	m.listener = listenerBody{}
	m.mu.Unlock()
	if l.Address != "" {
		m.bridge.callControl(ctx, "remove listener", func() error { return m.bridge.sim.removeListener(ctx, l.VMID, l.Port) })
	}
}

// announceAgain repeats all messages to the simulator, because a restarted one has lost them.
func (m *machine) announceAgain(ctx context.Context) {
	m.mu.Lock()
	l, status := m.listener, m.status
	m.mu.Unlock()
	if l.Address != "" {
		m.bridge.callControl(ctx, "register listener", func() error { return m.bridge.sim.addListener(ctx, l.VMID, l.Port, l.Address) })
	}
	m.registerSSH(ctx)
	if status.Phase != "" {
		m.bridge.callControl(ctx, "report status", func() error { return m.bridge.sim.reportStatus(ctx, status) })
	}
}
