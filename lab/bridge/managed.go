package bridge

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// managedCluster is an AKS cluster as the simulator's control API shows it (GET /_sim/clusters), from the moment on at
// which its API server answers.
type managedCluster struct {
	ID                string `json:"id"`
	ResourceGroup     string `json:"resourceGroup"`
	Name              string `json:"name"`
	Location          string `json:"location"`
	KubernetesVersion string `json:"kubernetesVersion"`
	FQDN              string `json:"fqdn"`
	PrivateFQDN       string `json:"privateFQDN"`
	PowerState        string `json:"powerState"`
	ServiceCIDR       string `json:"serviceCIDR"`
	CA                struct {
		Certificate string `json:"certificate"`
		Key         string `json:"key"`
	} `json:"ca"`
	AAD   bool          `json:"aad"`
	Nodes []managedNode `json:"nodes"`
}

func (c managedCluster) isRunning() bool { return !strings.EqualFold(c.PowerState, "Stopped") }

// managed keeps one AKS cluster's workload cluster in step with Azure: one API server, which no machine of the user runs,
// and a Node for each VM of the agent pools. Its methods are called by the goroutine that follows the clusters.
type managed struct {
	bridge   *bridge
	id       string
	ca       string
	workload *workload
	log      *slog.Logger
	// nodes are those of the last list, by name.
	nodes map[string]managedNode
	// names are the SANs that the API server serves.
	names []string
}

// followClusters keeps workload clusters in step with the managed clusters until ctx is done.
func (b *bridge) followClusters(ctx context.Context) {
	followList(ctx, b.log, b.sim.listClusters, b.syncClusters, func(ctx context.Context) {
		for _, m := range b.managed {
			m.announceAgain(ctx)
		}
	})
}

// syncClusters brings the workload clusters in step with a list of managed clusters.
func (b *bridge) syncClusters(ctx context.Context, clusters []managedCluster) {
	seen := map[string]bool{}
	for _, c := range clusters {
		key := strings.ToLower(c.ID)
		seen[key] = true
		m := b.managed[key]
		if m != nil && m.ca != c.CA.Certificate {
			// Another cluster under the same name, or one whose certificates were rotated.
			m.removeCluster(ctx)
			delete(b.managed, key)
			m = nil
		}
		if m == nil {
			var err error
			if m, err = b.openCluster(ctx, c); err != nil {
				b.log.Error("managed cluster has no API server", "cluster", c.ID, "error", err)
				continue
			}
			b.managed[key] = m
		}
		if err := m.observeCluster(ctx, c); err != nil {
			m.log.Error("managed cluster", "error", err)
		}
	}
	for key, m := range b.managed {
		if !seen[key] {
			m.removeCluster(ctx)
			delete(b.managed, key)
		}
	}
}

// openCluster makes an empty workload cluster with the CA that AKS has made for it.
func (b *bridge) openCluster(ctx context.Context, c managedCluster) (*managed, error) {
	ca, err := newAuthority("ca.certificate", []byte(c.CA.Certificate), "ca.key", []byte(c.CA.Key))
	if err != nil {
		return nil, err
	}
	w, err := b.fleet.ensureByPin(ctx, ca.pinOfCA())
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pki, w.entra = &pkiFiles{cluster: ca}, b.entra
	log := b.log.With("cluster", c.ResourceGroup+"/"+c.Name)
	return &managed{bridge: b, id: c.ID, ca: c.CA.Certificate, workload: w, log: log, nodes: map[string]managedNode{}}, nil
}

// observeCluster takes a newer sighting of the same cluster.
func (m *managed) observeCluster(ctx context.Context, c managedCluster) error {
	address, changed, err := m.observeServer(c)
	if err != nil {
		return err
	}
	switch {
	case changed && address != "":
		m.listenOn(ctx, address)
		m.log.Info("API server of a managed cluster answers", "address", address, "version", c.KubernetesVersion)
	case changed:
		m.stopListening(ctx)
		m.log.Info("managed cluster is stopped")
	}
	if !c.isRunning() {
		return nil
	}
	return m.syncNodes(ctx, c)
}

// observeServer starts, replaces or stops the API server. The address is empty while the cluster is stopped.
func (m *managed) observeServer(c managedCluster) (address string, changed bool, err error) {
	w := m.workload
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settings = settings{
		name: c.Name, endpoint: c.FQDN + ":443", version: gitVersion(c.KubernetesVersion), serviceSubnet: c.ServiceCIDR, entra: c.AAD,
		certSANs: slices.DeleteFunc([]string{c.FQDN, c.PrivateFQDN}, func(s string) bool { return s == "" }),
	}
	names := w.clusterNames()
	if w.front != nil && (!c.isRunning() || !slices.Equal(names, m.names)) {
		w.front.closeServer()
		w.front, changed = nil, true
	}
	if w.front == nil && c.isRunning() {
		if w.front, err = w.serveFront(names); err != nil {
			return "", changed, err
		}
		m.names, changed = names, true
	}
	if w.front != nil {
		address = w.front.address
	}
	return address, changed, nil
}

// syncNodes creates, changes and removes Nodes. A Node that others deleted comes back with its next boot only, as a
// kubelet registers when it starts.
func (m *managed) syncNodes(ctx context.Context, c managedCluster) error {
	w := m.workload
	w.mu.Lock()
	defer w.mu.Unlock()
	wanted := map[string]managedNode{}
	for _, n := range c.Nodes {
		wanted[n.Name] = n
	}
	for _, name := range slices.Sorted(maps.Keys(m.nodes)) {
		if _, ok := wanted[name]; ok {
			continue
		}
		if err := deleteIfThere(ctx, w.client, &corev1.Node{}, "", name); err != nil {
			return err
		}
		delete(m.nodes, name)
		delete(w.members, name)
		if err := w.dropNodeLease(ctx, name); err != nil {
			return err
		}
		m.log.Info("node removed", "node", name)
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		n := wanted[name]
		before, known := m.nodes[name]
		if known && reflect.DeepEqual(before, n) {
			continue
		}
		node, err := n.newNode(c)
		if err != nil {
			return fmt.Errorf("node %s: %w", name, err)
		}
		w.members[name] = &member{node: node, off: n.isOff()}
		known = known && before.ProviderID == n.ProviderID
		if !known {
			err = w.registerNode(ctx, node)
			m.log.Info("node joined", "node", name, "pool", n.Pool)
		} else if old, broken := before.newNode(c); broken == nil {
			err = w.updateNode(ctx, old, node)
		}
		if err == nil && n.isOff() != (known && before.isOff()) {
			err = w.setNodePower(ctx, name, !n.isOff())
		}
		if err != nil {
			return err
		}
		m.nodes[name] = n
	}
	return nil
}

func (m *managed) listenOn(ctx context.Context, address string) {
	m.bridge.callControl(ctx, "register listener of a cluster", func() error { return m.bridge.sim.listenCluster(ctx, m.id, address) })
}

func (m *managed) stopListening(ctx context.Context) {
	m.bridge.callControl(ctx, "remove listener of a cluster", func() error { return m.bridge.sim.unlistenCluster(ctx, m.id) })
}

// announceAgain repeats all messages to the simulator, because a restarted one has lost them.
func (m *managed) announceAgain(ctx context.Context) {
	m.workload.mu.Lock()
	front := m.workload.front
	m.workload.mu.Unlock()
	if front != nil {
		m.listenOn(ctx, front.address)
	}
}

// removeCluster follows the cluster being deleted.
func (m *managed) removeCluster(ctx context.Context) {
	m.bridge.fleet.dropCluster(m.workload)
	m.stopListening(ctx)
	m.log.Info("managed cluster removed")
}

func gitVersion(version string) string { return "v" + strings.TrimPrefix(version, "v") }
