package harness

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// errKilled is the error of every request of a killed manager.
var errKilled = errors.New("the manager was killed")

// ManagerOptions configure a manager. The zero value is how users run it.
type ManagerOptions struct {
	// SyncPeriod is the interval between full reads of an object found in order; 0 are the defaults of the flags.
	SyncPeriod time.Duration
	// Flags are further flags.
	Flags []string
	// TokenFile has the token of the manager's own ServiceAccount; "" is none.
	TokenFile string
	// SubscriptionID is that of objects that name no subscription; "" is none.
	SubscriptionID string
}

// Manager is a manager of the provider that watches the stage's namespace and talks to its simulator.
type Manager struct {
	process *process
	// sent are the writes that are on their way.
	sent sync.WaitGroup

	mu         sync.Mutex
	dead       bool
	kubernetes []string
	read       []string
}

// StartManager starts a manager, which is stopped when the test ends.
func (s *Stage) StartManager(options ManagerOptions) *Manager {
	s.T.Helper()
	m, err := s.startManager(options)
	if err != nil {
		s.T.Fatal(err)
	}
	return m
}

func (s *Stage) startManager(options ManagerOptions) (*Manager, error) {
	more := options.Flags
	if options.SyncPeriod > 0 {
		more = append([]string{"--sync-period=" + options.SyncPeriod.String(), "--full-sync-period=0"}, more...)
	}
	parsed, err := managerFlags(s.Namespace, s.Environment.envtest.WebhookInstallOptions.LocalServingCertDir, more)
	if err != nil {
		return nil, fmt.Errorf("flags: %w", err)
	}
	parsed.WebhookHost, parsed.WebhookPort = ownAddress()
	m := &Manager{process: newProcess()}
	parsed.Identity.AuthorityHost, parsed.Identity.ResourceManagerEndpoint = s.Azure.URL, s.Azure.URL
	parsed.Identity.ResourceManagerAudience = "https://management.core.windows.net/"
	parsed.Identity.TokenFile, parsed.Identity.SubscriptionID = options.TokenFile, options.SubscriptionID
	parsed.Transport = m.azureTransport(s.Azure.HTTP)
	parsed.Clock = &s.clock
	config := s.Environment.managerConfig()
	config.Wrap(m.kubernetesTransport)
	m.process.startManager(config, parsed)
	s.T.Cleanup(func() {
		if err := m.Stop(); err != nil {
			s.T.Error(err)
		}
	})
	return m, nil
}

// Stop ends the manager and returns the error it ended with, nil for a killed one.
func (m *Manager) Stop() error {
	err := m.process.stopManager()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return nil
	}
	return err
}

// Kill cuts the manager off from Azure and Kubernetes, as SIGKILL does, and waits until it is gone and Azure has received the requests
// that it had sent.
func (m *Manager) Kill() {
	m.mu.Lock()
	m.dead = true
	m.mu.Unlock()
	_ = m.Stop()
	m.sent.Wait()
}

// KubernetesWrites returns the requests that changed something in Kubernetes, as "PATCH /apis/...". Events are left out.
func (m *Manager) KubernetesWrites() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.kubernetes...)
}

// KubernetesReads returns the paths of reads from the API server itself. Watches are left out.
func (m *Manager) KubernetesReads() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.read...)
}

// azureTransport sends requests to the simulator, unless the manager is dead.
func (m *Manager) azureTransport(client *http.Client) roundTripper {
	return func(request *http.Request) (*http.Response, error) {
		m.mu.Lock()
		if m.dead {
			m.mu.Unlock()
			return nil, errKilled
		}
		m.sent.Add(1)
		m.mu.Unlock()
		defer m.sent.Done()
		return client.Do(request)
	}
}

// kubernetesTransport records reads, and writes except events, and cuts a dead manager off.
func (m *Manager) kubernetesTransport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		m.mu.Lock()
		dead := m.dead
		if request.Method != http.MethodGet && !strings.Contains(request.URL.Path, "/events") {
			m.kubernetes = append(m.kubernetes, fmt.Sprintf("%s %s", request.Method, request.URL.Path))
		}
		if request.Method == http.MethodGet && request.URL.RawQuery == "" {
			m.read = append(m.read, request.URL.Path)
		}
		m.mu.Unlock()
		if dead {
			return nil, errKilled
		}
		return next.RoundTrip(request)
	})
}
