package scale_test

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var managerFlags = flag.String("manager-flags", "", "further flags of the manager that the benchmark measures, separated by spaces")

// manager is the provider as users run it, a process of its own: its memory is nobody else's.
type manager struct {
	tb      testing.TB
	command *exec.Cmd
	metrics string
	log     string
}

// startManager builds the manager and starts it for the namespace of the stage, with default flags unless -manager-flags
// has others.
func startManager(stage *harness.Stage) *manager {
	tb := stage.T
	tb.Helper()
	folder := tb.TempDir()
	binary := filepath.Join(folder, "manager")
	if out, err := exec.Command("go", "build", "-o", binary, "sigs.k8s.io/cluster-api-provider-azure/cmd/manager").CombinedOutput(); err != nil {
		tb.Fatalf("go build: %v\n%s", err, out)
	}
	m := &manager{tb: tb, log: filepath.Join(folder, "manager.log")}
	log, err := os.Create(m.log)
	if err != nil {
		tb.Fatal(err)
	}
	authority := filepath.Join(folder, "tls.crt")
	serve(stage, folder)
	address := harness.FreeAddress(tb)
	m.metrics = "http://" + address + "/metrics"
	_, port, _ := net.SplitHostPort(harness.FreeAddress(tb))
	arguments := []string{"--namespace=" + stage.Namespace, "--diagnostics-address=" + address, "--insecure-diagnostics", "--health-addr=" + harness.FreeAddress(tb),
		"--webhook-port=" + port, "--webhook-cert-dir=" + folder}
	m.command = exec.Command(binary, append(arguments, strings.Fields(*managerFlags)...)...)
	m.command.Env = append(os.Environ(),
		"KUBECONFIG="+stage.Environment.Kubeconfig(tb, folder), "SSL_CERT_FILE="+authority,
		"AZURE_AUTHORITY_HOST="+stage.Azure.URL+"/", "AZURE_RESOURCE_MANAGER_ENDPOINT="+stage.Azure.URL,
		"AZURE_RESOURCE_MANAGER_AUDIENCE=https://management.core.windows.net/")
	m.command.Stdout, m.command.Stderr = log, log
	if err := m.command.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(m.stop)
	stage.Eventually("the manager serves metrics", func() bool {
		response, err := http.Get(m.metrics)
		return err == nil && response.Body.Close() == nil
	})
	return m
}

func (m *manager) stop() {
	// A manager that ended by itself says why in its log.
	_ = m.command.Process.Signal(syscall.SIGTERM)
	_ = m.command.Wait()
	if m.tb.Failed() {
		raw, err := os.ReadFile(m.log)
		m.tb.Logf("log of the manager (%v):\n%s", err, raw[max(0, len(raw)-8000):])
	}
}

// serve writes the simulator's certificate with its key: the manager trusts it, and uses it for webhooks nobody calls.
func serve(stage *harness.Stage, folder string) {
	certificate := stage.Azure.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		stage.T.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: certificate.Certificate[0]},
		"tls.key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			stage.T.Fatal(err)
		}
	}
}

// figures are the manager's metrics: the sum of every one by name over the label sets that have all the given labels.
type figures []byte

func (m *manager) figures() figures {
	response, err := http.Get(m.metrics)
	if err != nil {
		m.tb.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		m.tb.Fatal(err)
	}
	return raw
}

// sum adds up a metric over the label sets that contain all the labels, each as in `controller="azuremachine"`.
func (f figures) sum(name string, labels ...string) float64 {
	total := 0.0
	lines := bufio.NewScanner(bytes.NewReader(f))
	lines.Buffer(nil, 1<<20)
next:
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, " ") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue next
			}
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndex(rest, " ")+1:], 64)
		if err == nil {
			total += value
		}
	}
	return total
}

// memory is the resident memory of the process in MiB: now, and the most it ever was.
func (m *manager) memory() (now, most float64) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.command.Process.Pid))
	if err != nil {
		m.tb.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var name string
		var kilobytes float64
		if _, err := fmt.Sscan(line, &name, &kilobytes); err != nil {
			continue
		}
		switch name {
		case "VmRSS:":
			now = kilobytes / 1024
		case "VmHWM:":
			most = kilobytes / 1024
		}
	}
	return now, most
}

// load is the load of the computer over the last minute, as every figure of time has to be read with it.
func load() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(raw))[0]
}

// since is the difference of a metric between two looks.
func since(before, after figures, name string, labels ...string) float64 {
	return after.sum(name, labels...) - before.sum(name, labels...)
}

const patience = 10 * time.Minute
