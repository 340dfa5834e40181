package harness

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
)

// BuildManager builds the manager into a folder of the test and returns its path.
func BuildManager(tb testing.TB) string {
	tb.Helper()
	binary := filepath.Join(tb.TempDir(), "manager")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary,
		"sigs.k8s.io/cluster-api-provider-azure/cmd/manager").CombinedOutput(); err != nil {
		tb.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// Program is a manager that is a process of its own: it shares neither its memory nor its rights nor its end with other programs.
type Program struct {
	// Process is the running manager.
	Process *os.Process
	// Started is when it was.
	Started time.Time
	// Diagnostics, Health and Webhooks are the addresses it serves at.
	Diagnostics, Health, Webhooks string

	tb    testing.TB
	log   string
	ended chan struct{}
	err   error // Valid when ended is closed.
}

// ProgramOptions configure the start of a manager.
type ProgramOptions struct {
	// Binary is the result of BuildManager.
	Binary string
	// Arguments are those of its command line, less addresses and folders of this machine; Environment are variables less those that
	// lead it to the simulator.
	Arguments, Environment []string
	// Token authenticates the manager to the API server; "" makes it the administrator.
	Token string
	// Files are written beside the certificate of the webhooks, by their names.
	Files map[string][]byte
}

// StartProgram starts a manager that talks to the stage's simulator. It is ended with the test.
func (s *Stage) StartProgram(o ProgramOptions) *Program {
	s.T.Helper()
	folder := s.T.TempDir()
	p := &Program{
		Diagnostics: ports.Free(s.T), Health: ports.Free(s.T), Webhooks: ports.Free(s.T),
		tb: s.T, log: filepath.Join(folder, "manager.log"), ended: make(chan struct{}),
	}
	log, err := os.Create(p.log)
	if err != nil {
		s.T.Fatal(err)
	}
	defer log.Close()
	s.writeCertificate(folder)
	for name, content := range o.Files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			s.T.Fatal(err)
		}
	}
	_, port, err := net.SplitHostPort(p.Webhooks)
	if err != nil {
		s.T.Fatal(err)
	}
	command := exec.Command(o.Binary, append(append([]string{}, o.Arguments...),
		"--diagnostics-address="+p.Diagnostics, "--health-addr="+p.Health, "--webhook-port="+port, "--webhook-cert-dir="+folder)...)
	command.Env = append(append(os.Environ(), o.Environment...),
		"KUBECONFIG="+s.Environment.writeKubeconfigFor(s.T, folder, o.Token), "SSL_CERT_FILE="+filepath.Join(folder, "tls.crt"),
		"AZURE_AUTHORITY_HOST="+s.Azure.URL+"/", "AZURE_RESOURCE_MANAGER_ENDPOINT="+s.Azure.URL,
		"AZURE_RESOURCE_MANAGER_AUDIENCE=https://management.core.windows.net/")
	command.Stdout, command.Stderr = log, log
	p.Started = time.Now()
	if err := command.Start(); err != nil {
		s.T.Fatal(err)
	}
	p.Process = command.Process
	go func() {
		defer close(p.ended)
		p.err = command.Wait()
	}()
	s.T.Cleanup(func() {
		// The log of a manager that has ended by itself gives the cause.
		_ = p.SignalAndWait(syscall.SIGTERM)
		if s.T.Failed() {
			log := p.ReadLog()
			s.T.Logf("log of the manager (ended with %v):\n%s", p.err, log[max(0, len(log)-8000):])
		}
	})
	return p
}

// ReadLog returns the log written so far.
func (p *Program) ReadLog() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// SignalAndWait sends a signal, waits until the process has ended, and returns how: nil is a clean end.
func (p *Program) SignalAndWait(signal os.Signal) error {
	// A process that has ended takes no signal.
	_ = p.Process.Signal(signal)
	<-p.ended
	return p.err
}

// ResidentMemory returns the resident memory in MiB: now, and the most it ever was.
func (p *Program) ResidentMemory() (now, most float64) {
	p.tb.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		p.tb.Fatal(err)
	}
	return parseMemoryLine(string(raw), "VmRSS:"), parseMemoryLine(string(raw), "VmHWM:")
}

// writeCertificate writes the simulator's certificate with its key: the manager trusts it, and uses it for webhooks.
func (s *Stage) writeCertificate(folder string) {
	s.T.Helper()
	certificate := s.Azure.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		s.T.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: certificate.Certificate[0]},
		"tls.key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			s.T.Fatal(err)
		}
	}
}

// parseMemoryLine reads a line of /proc/PID/status, which counts in KiB.
func parseMemoryLine(status, name string) float64 {
	for line := range strings.Lines(status) {
		var found string
		var kibibytes float64
		if _, err := fmt.Sscan(line, &found, &kibibytes); err == nil && found == name {
			return kibibytes / 1024
		}
	}
	return 0
}
