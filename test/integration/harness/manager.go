package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// errKilled is what a killed manager gets for everything it tries.
var errKilled = errors.New("the manager was killed")

// ManagerOptions configure a manager. The zero value is how users run it.
type ManagerOptions struct {
	// SyncPeriod is how long an object found in order is left alone, to be read in full then; 0 are the defaults of the flags.
	SyncPeriod time.Duration
	// KillAtWrite kills the manager at its nth write to Azure; 0 never.
	KillAtWrite int
	// KillBefore has that write not reach Azure; else Azure does it and the manager never hears of it.
	KillBefore bool
	// Flags are further flags.
	Flags []string
	// TokenFile has the token of the manager's own ServiceAccount; "" is none.
	TokenFile string
}

// Manager is a manager of the provider that watches the stage's namespace and talks to its simulator.
type Manager struct {
	// Killed is closed when KillAtWrite was reached.
	Killed <-chan struct{}

	process *process
	options ManagerOptions
	killed  chan struct{}
	// sent are the writes that are on their way.
	sent sync.WaitGroup

	mu         sync.Mutex
	dead       bool
	writes     int
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
	m := &Manager{options: options, killed: make(chan struct{}), process: newProcess()}
	m.Killed = m.killed
	parsed.Identity.AuthorityHost, parsed.Identity.ResourceManagerEndpoint = s.Azure.URL, s.Azure.URL
	parsed.Identity.ResourceManagerAudience = "https://management.core.windows.net/"
	parsed.Identity.TokenFile = options.TokenFile
	parsed.Transport = m.azure(s.Azure.HTTP)
	parsed.Clock = &s.clock
	config := s.Environment.managerConfig()
	config.Wrap(m.kubernetesTransport)
	m.process.start(config, parsed)
	s.T.Cleanup(func() {
		if err := m.Stop(); err != nil {
			s.T.Error(err)
		}
	})
	return m, nil
}

// Stop ends the manager and returns the error it ended with; that of a killed one says nothing.
func (m *Manager) Stop() error {
	err := m.process.stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return nil
	}
	return err
}

// Kill cuts the manager off from Azure and Kubernetes, as SIGKILL does, and waits until it is gone and Azure has what it
// had sent.
func (m *Manager) Kill() {
	m.mu.Lock()
	m.dead = true
	m.mu.Unlock()
	_ = m.Stop()
	m.sent.Wait()
}

// KubernetesWrites are the requests that changed something in Kubernetes, as "PATCH /apis/...". Events are left out.
func (m *Manager) KubernetesWrites() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.kubernetes...)
}

// KubernetesReads are the paths of what was read from the API server itself. What is watched is left out.
func (m *Manager) KubernetesReads() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.read...)
}

// azure sends requests to the simulator and kills the manager at the write it shall die at.
func (m *Manager) azure(client *http.Client) roundTripper {
	return func(request *http.Request) (*http.Response, error) {
		last, done, err := m.admit(request)
		if err != nil {
			return nil, err
		}
		defer done()
		if last && m.options.KillBefore {
			return nil, errKilled
		}
		if m.options.KillAtWrite > 0 && isWrite(request.Method, request.URL.Path) {
			// The end of a process does not take back what it has sent.
			request = request.WithContext(context.WithoutCancel(request.Context()))
		}
		response, err := client.Do(request)
		if last {
			if err == nil {
				_ = response.Body.Close()
			}
			return nil, errKilled
		}
		return response, err
	}
}

// admit counts a request to Azure and tells whether it is the one that the manager dies at. done is to be called when
// Azure has answered.
func (m *Manager) admit(request *http.Request) (last bool, done func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return false, nil, errKilled
	}
	if !isWrite(request.Method, request.URL.Path) {
		return false, func() {}, nil
	}
	m.sent.Add(1)
	m.writes++
	if m.writes != m.options.KillAtWrite {
		return false, m.sent.Done, nil
	}
	m.dead = true
	close(m.killed)
	m.process.cancel()
	return true, m.sent.Done, nil
}

// kubernetesTransport records what changes something and cuts a dead manager off.
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

// AtEveryWrite runs test side by side for each of this many writes to Azure, with the options of a manager that is killed at
// it: once before Azure gets the write, and once after.
func AtEveryWrite(t *testing.T, writes int, test func(t *testing.T, kill ManagerOptions)) {
	t.Helper()
	for k := 1; k <= writes; k++ {
		for _, before := range []bool{true, false} {
			name := fmt.Sprintf("write %d taken", k)
			if before {
				name = fmt.Sprintf("write %d not sent", k)
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, ManagerOptions{KillAtWrite: k, KillBefore: before})
			})
		}
	}
}

// RestartWhenKilled starts another manager as soon as m is killed. restarted waits until that has happened.
func (s *Stage) RestartWhenKilled(m *Manager) (restarted func()) {
	done := make(chan struct{})
	ended := make(chan struct{})
	s.T.Cleanup(func() { close(ended) })
	go func() {
		select {
		case <-ended:
		case <-m.Killed:
			m.Kill()
			if _, err := s.startManager(ManagerOptions{}); err != nil {
				s.T.Error(err)
			}
			close(done)
		}
	}()
	return func() {
		s.T.Helper()
		ctx, cancel := s.context()
		defer cancel()
		select {
		case <-done:
		case <-ctx.Done():
			s.T.Fatalf("the manager is not killed and started again after %s", Patience)
		}
	}
}
