// Package settings describes one lab: the places of its files, the ports and the programs.
//
// Two labs with different directories and port blocks share nothing but the binaries.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// PortBlock is how many consecutive ports one lab may use, beginning with its base port.
const PortBlock = 1000

// maxTimeScale is that of the simulator's own flag.
const maxTimeScale = 1000

// Identifiers of the simulated tenant. They are arbitrary, and fixed so that manifests can be kept between labs.
const (
	TenantID       = "10000000-0000-4000-8000-000000000001"
	SubscriptionID = "20000000-0000-4000-8000-000000000001"
	ClientID       = "30000000-0000-4000-8000-000000000001"
	ObjectID       = "40000000-0000-4000-8000-000000000001"
	Location       = "westeurope"
)

// KubernetesVersion is what workload clusters run. The simulator's community gallery has an image of it.
const KubernetesVersion = "v1.35.2"

// ManagedKubernetesVersion is what AKS clusters run. AKS offers versions of its own.
const ManagedKubernetesVersion = "v1.34.1"

// ProviderVersion is the version of our provider that `make release` writes.
const ProviderVersion = "v2.0.0"

// Settings describe one lab. They are kept in its directory, so that later commands need only --dir.
type Settings struct {
	// Dir is the lab's directory, absolute.
	Dir string `json:"dir"`
	// Root is the source tree with bin/, config/ and templates/, absolute.
	Root string `json:"root"`
	// BasePort is the first of PortBlock ports.
	BasePort int `json:"basePort"`
	// TimeScale multiplies the simulator's and the guests' durations: 1 is the measured medians, 0 is at once.
	TimeScale float64 `json:"timeScale"`
	// WithoutProvider leaves our manager and its components out.
	WithoutProvider bool `json:"withoutProvider,omitempty"`
	// WithoutGuests leaves the bridge out: virtual machines run without a guest system.
	WithoutGuests bool `json:"withoutGuests,omitempty"`
	// ClientSecret is the password of the lab's service principal, made anew for every lab.
	ClientSecret string `json:"clientSecret"`
	// ControlToken guards the simulator's control API.
	ControlToken string `json:"controlToken"`
	// FeatureGates of our manager beside those that every lab turns on, NAME=true,NAME=false.
	FeatureGates string `json:"featureGates,omitempty"`
	// Beside is the directory of another lab whose simulated Azure this one uses; "" is one of its own.
	Beside string `json:"beside,omitempty"`
	// Traces has our manager send its traces to a file of the lab.
	Traces bool `json:"traces,omitempty"`
	// Verbosity is our manager's klog level.
	Verbosity int `json:"verbosity"`
	// APIServerMemory is the size from which on Go collects the garbage of the API server harder, as in "2GiB"; "" is
	// enough for a lab of a few clusters.
	APIServerMemory string `json:"apiServerMemory,omitempty"`
	// Release is the folder, named by its version, of the release of our provider that the lab begins with; "" is that of
	// `make release`.
	Release string `json:"release,omitempty"`

	// other is the lab that Beside names.
	other *Settings
	// stored is the content of the file that these settings were read from or written to.
	stored []byte
}

// Validate checks the settings that users choose.
func (s *Settings) Validate() error {
	if s.BasePort < 1024 || s.BasePort+PortBlock > 65536 {
		return fmt.Errorf("--base-port %d: want 1024 to %d, the lab uses the %d ports from there", s.BasePort, 65536-PortBlock, PortBlock)
	}
	if !(s.TimeScale >= 0 && s.TimeScale <= maxTimeScale) {
		return fmt.Errorf("--time-scale %v: want 1 for Azure's measured durations, 0 for none, or another factor up to %d", s.TimeScale, maxTimeScale)
	}
	return nil
}

// Offsets of the ports in the block.
const (
	etcdClient = iota
	etcdPeer
	apiServer
	controllerManager
	simulatorARM
	simulatorConnect
	traceCollector
)

// firstManagerPort is where the managers begin, with three ports each; firstKubernetesPort is where the API servers of
// workload clusters begin.
const (
	firstManagerPort    = 10
	firstKubernetesPort = 100
)

func (s *Settings) localURL(scheme string, offset int) string {
	return fmt.Sprintf("%s127.0.0.1:%d", scheme, s.BasePort+offset)
}

// EtcdURL is where clients reach etcd.
func (s *Settings) EtcdURL() string { return s.localURL("http://", etcdClient) }

// EtcdPeerURL is etcd's own.
func (s *Settings) EtcdPeerURL() string { return s.localURL("http://", etcdPeer) }

// APIServerPort returns the management cluster's.
func (s *Settings) APIServerPort() int { return s.BasePort + apiServer }

// APIServerURL returns the management cluster's.
func (s *Settings) APIServerURL() string { return s.localURL("https://", apiServer) }

// ControllerManagerPort is kube-controller-manager's.
func (s *Settings) ControllerManagerPort() int { return s.BasePort + controllerManager }

// CloudLab returns the lab that the simulated Azure belongs to.
func (s *Settings) CloudLab() *Settings {
	if s.other != nil {
		return s.other
	}
	return s
}

// SimulatorAddress is host:port of the simulated Azure.
func (s *Settings) SimulatorAddress() string { return s.CloudLab().localURL("", simulatorARM) }

// SimulatorURL returns the simulated Azure's Resource Manager and authority.
func (s *Settings) SimulatorURL() string { return s.CloudLab().localURL("https://", simulatorARM) }

// ConnectProxyAddress is host:port of the proxy into the simulated network.
func (s *Settings) ConnectProxyAddress() string { return s.CloudLab().localURL("", simulatorConnect) }

// ProxyURL returns the proxy into the simulated network.
func (s *Settings) ProxyURL() string { return s.CloudLab().localURL("http://", simulatorConnect) }

// TraceAddress is host:port of the collector of traces.
func (s *Settings) TraceAddress() string { return s.localURL("", traceCollector) }

// TraceFile is the file with the traces of our manager.
func (s *Settings) TraceFile() string { return s.JoinPath("traces.jsonl") }

// KubernetesPorts bound the ports of workload clusters, inclusive.
func (s *Settings) KubernetesPorts() (first, last int) {
	return s.BasePort + firstKubernetesPort, s.BasePort + PortBlock - 1
}

// JoinPath joins elements below the lab's directory.
func (s *Settings) JoinPath(elements ...string) string {
	return filepath.Join(append([]string{s.Dir}, elements...)...)
}

// BinaryPath returns the path of a program in bin/.
func (s *Settings) BinaryPath(name string) string { return filepath.Join(s.Root, "bin", name) }

// MadeRelease returns the folder that `make release` writes.
func (s *Settings) MadeRelease() string {
	return filepath.Join(s.Root, "out", Azure.Label, ProviderVersion)
}

// ReleaseDir returns the folder of the release that the lab begins with. Its name is the version.
func (s *Settings) ReleaseDir() string {
	if s.Release != "" {
		return s.Release
	}
	return s.MadeRelease()
}

// KubeconfigPath leads to the management cluster.
func (s *Settings) KubeconfigPath() string { return s.JoinPath("kubeconfig") }

// RequestLog returns the simulator's log of requests, JSON lines.
func (s *Settings) RequestLog() string { return s.CloudLab().JoinPath("requests.jsonl") }

// LogPath returns the log file of a process.
func (s *Settings) LogPath(process string) string { return s.JoinPath("logs", process+".log") }

// ChangeLog returns the simulator's log of changed resources, JSON lines.
func (s *Settings) ChangeLog() string { return s.CloudLab().JoinPath("changes.jsonl") }

// AuditPolicy returns the path of the policy that selects the requests in the audit log.
func (s *Settings) AuditPolicy() string { return s.JoinPath("pki", "audit-policy.yaml") }

// AuditLog returns the log of the managers' requests to the API server.
func (s *Settings) AuditLog() string { return s.JoinPath("logs", "audit.jsonl") }

// ProcessesPath is where the records of the lab's processes are.
func (s *Settings) ProcessesPath() string { return s.JoinPath("run") }

// SimulatorState is where the simulator keeps its state and its CA.
func (s *Settings) SimulatorState() string { return s.JoinPath("azure") }

// SimulatorCA returns the certificate of the simulator's CA.
func (s *Settings) SimulatorCA() string { return s.CloudLab().JoinPath("azure", "ca.crt") }

// CABundle has the system's CAs and the simulator's.
func (s *Settings) CABundle() string { return s.JoinPath("pki", "ca-bundle.crt") }

// ControlTokenFile has the token of the simulator's control API.
func (s *Settings) ControlTokenFile() string { return s.JoinPath("pki", "control-token") }

// ClientSecretFile has the service principal's password.
func (s *Settings) ClientSecretFile() string { return s.JoinPath("pki", "client-secret") }

// FederatedTokenFile has the token that our manager shows as a workload identity.
func (s *Settings) FederatedTokenFile() string { return s.JoinPath("pki", "azure-identity-token") }

// ClusterctlConfig is clusterctl's configuration; its folder's parent is XDG_CONFIG_HOME for clusterctl.
func (s *Settings) ClusterctlConfig() string { return s.JoinPath("cluster-api", "clusterctl.yaml") }

// RepositoryPath returns the local clusterctl repository.
func (s *Settings) RepositoryPath() string { return s.JoinPath("repository") }

const file = "lab.json"

// ErrNoLab means that a directory has no lab.
var ErrNoLab = errors.New("there is no lab")

// ErrDamaged means that the file with the settings cannot be decoded.
var ErrDamaged = errors.New("the settings of the lab are damaged")

// Load reads the settings of the lab in dir, and of the lab that Beside names.
func Load(dir string) (*Settings, error) {
	s, err := LoadAlone(dir)
	if err != nil {
		return nil, err
	}
	return s, s.LoadBeside()
}

// LoadAlone reads the settings of the lab in dir without those of the lab that Beside names, which may be gone.
func LoadAlone(dir string) (*Settings, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s: start one with `lab up`", ErrNoLab, dir)
	}
	if err != nil {
		return nil, err
	}
	s := &Settings{}
	if err := userinput.DecodeJSON(raw, nil, s); err != nil {
		return nil, fmt.Errorf("%w: %s: %s. Stop the lab with `lab down`, which does not need them, and start a new one",
			ErrDamaged, filepath.Join(dir, file), err.Error())
	}
	s.Dir, s.stored = dir, raw
	return s, nil
}

// LoadBeside reads the lab that Beside names, and takes over what its simulated Azure asks for.
func (s *Settings) LoadBeside() error {
	if s.Beside == "" {
		return nil
	}
	if s.Beside == s.Dir {
		return fmt.Errorf("--beside %s is the lab itself. Name the directory of another lab", s.Beside)
	}
	other, err := LoadAlone(s.Beside)
	if err != nil {
		// It is not wrapped: there is a lab in this directory, even if there is none in the other.
		return fmt.Errorf("the lab in %s uses the simulated Azure of another lab: %s", s.Dir, err.Error())
	}
	if other.Beside != "" {
		return fmt.Errorf("--beside %s: that lab has no simulated Azure, it uses the one of the lab in %s. Name that one", s.Beside, other.Beside)
	}
	s.other, s.ClientSecret, s.ControlToken = other, other.ClientSecret, other.ControlToken
	return nil
}

// CheckCurrent fails if another program has stored other settings of the lab since these were read. Save would undo them, and a new lab has
// new passwords.
func (s *Settings) CheckCurrent() error {
	raw, err := os.ReadFile(s.JoinPath(file))
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.Equal(raw, s.stored) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("another command changed the settings of the lab in %s meanwhile. Run the command again", s.Dir)
}

// Save keeps the settings in the lab's directory. The file has secrets, so only its owner can read it. Other commands may read it meanwhile.
func (s *Settings) Save() error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	if err := files.Replace(s.JoinPath(file), raw, 0o600); err != nil {
		return err
	}
	s.stored = raw
	return nil
}

// FindRoot returns the source tree that the running program was built into: the parent of its bin/, or the nearest directory
// from the working directory upwards that has lab/ and templates/.
func FindRoot() (string, error) {
	var starts []string
	if executable, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(executable))
	}
	if wd, err := os.Getwd(); err == nil {
		starts = append(starts, wd)
	}
	for _, start := range starts {
		for dir := start; ; dir = filepath.Dir(dir) {
			if isDir(filepath.Join(dir, "lab")) && isDir(filepath.Join(dir, "templates")) {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", fmt.Errorf("no source tree with lab/ and templates/ above %s: run the lab from a checkout", strings.Join(starts, " or "))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
