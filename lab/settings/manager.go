package settings

import "fmt"

// Manager is one controller manager of the management cluster.
type Manager struct {
	// Name is that of the process, its binary and its log.
	Name string
	// Binary is the program's name in bin/.
	Binary string
	// Label is the provider's name in clusterctl's repository layout, as in bootstrap-kubeadm.
	Label string
	// Provider and Type are the provider's name and type in clusterctl's configuration.
	Provider, Type string
	// Components is the file name clusterctl expects.
	Components string
	// FeatureGates are those that a flavor of our templates needs and that change nothing for clusters of other flavors.
	FeatureGates string

	index int
}

// Managers are Cluster API's and, last, ours.
var Managers = []Manager{
	{Name: "capi-core", Binary: "capi-core", Label: "cluster-api", Provider: "cluster-api", Type: "CoreProvider",
		Components: "core-components.yaml", FeatureGates: "ClusterTopology=true", index: 0},
	{Name: "capi-kubeadm-bootstrap", Binary: "capi-kubeadm-bootstrap", Label: "bootstrap-kubeadm", Provider: "kubeadm",
		Type:       "BootstrapProvider",
		Components: "bootstrap-components.yaml", FeatureGates: "KubeadmBootstrapFormatIgnition=true", index: 1},
	{Name: "capi-kubeadm-control-plane", Binary: "capi-kubeadm-control-plane", Label: "control-plane-kubeadm", Provider: "kubeadm",
		Type:       "ControlPlaneProvider",
		Components: "control-plane-components.yaml", FeatureGates: "ClusterTopology=true,KubeadmBootstrapFormatIgnition=true", index: 2},
	Azure,
}

// Azure is our own provider.
var Azure = Manager{Name: "capz-manager", Binary: "manager", Label: "infrastructure-azure", Provider: "azure",
	Type:       "InfrastructureProvider",
	Components: "infrastructure-components.yaml", FeatureGates: "EdgeZone=true", index: 3}

// ForeignManager is the nth program, from 0, of a provider that is not ours. It takes our manager's place, and the ports from there on.
func ForeignManager(n int) Manager {
	return Manager{Name: fmt.Sprintf("provider-%d", n), index: Azure.index + n}
}

// WebhookPort is where the manager serves admission and conversion. Managers have no flag for the address: they listen
// on all interfaces.
func (s *Settings) WebhookPort(m Manager) int { return s.BasePort + firstManagerPort + 3*m.index }

// HealthAddress is host:port of the manager's probes.
func (s *Settings) HealthAddress(m Manager) string {
	return fmt.Sprintf("127.0.0.1:%d", s.WebhookPort(m)+1)
}

// DiagnosticsAddress is host:port of the manager's metrics.
func (s *Settings) DiagnosticsAddress(m Manager) string {
	return fmt.Sprintf("127.0.0.1:%d", s.WebhookPort(m)+2)
}

// GatesFor returns the feature gates that the manager gets.
func (s *Settings) GatesFor(m Manager) string {
	if m.Name != Azure.Name || s.FeatureGates == "" {
		return m.FeatureGates
	}
	return m.FeatureGates + "," + s.FeatureGates
}

// InstalledManagers returns the managers of this lab.
func (s *Settings) InstalledManagers() []Manager {
	if s.WithoutProvider {
		return Managers[:len(Managers)-1]
	}
	return Managers
}
