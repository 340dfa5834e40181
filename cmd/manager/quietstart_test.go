package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// maxStartLines is how many lines a manager without objects logs until it has started, with the default verbosity.
const maxStartLines = 5

// startUntilLogged runs a manager until its log contains a text as often as wanted, ends it, and returns the lines before the end.
func startUntilLogged(t *testing.T, text string, times int, arguments ...string) []string {
	t.Helper()
	_, webhooks, err := net.SplitHostPort(ports.Free(t))
	if err != nil {
		t.Fatal(err)
	}
	command, _ := newManagerProcess(t, append([]string{"--health-addr=" + ports.Free(t), "--diagnostics-address=" + ports.Free(t),
		"--webhook-port=" + webhooks, "--webhook-cert-dir=" + environment.CertificateFolder()}, arguments...), nil)
	name := filepath.Join(command.Dir, "manager.log")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	command.Stdout, command.Stderr = file, file
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	defer func() {
		_ = command.Process.Kill()
		<-ended
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(harness.Patience)
	for {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(raw), text) >= times {
			return strings.Split(strings.TrimSpace(string(raw)), "\n")
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the manager ended: %v\n%s", err, raw)
		case <-late:
			t.Fatalf("the log does not have %q %d times:\n%s", text, times, raw)
		case <-tick.C:
		}
	}
}

// TestQuietStart counts the lines of a start. Each start of a watch, a webhook or a cache would be one, several hundred in all.
func TestQuietStart(t *testing.T) {
	t.Parallel()
	// The check of the manager's rights is the last of these to end, as the controllers start with it. The user of this test has all rights.
	const checked = "the manager has rights in all namespaces that it does not need"
	for name, arguments := range map[string][]string{"text": nil, "json": {"--logging-format=json"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := startUntilLogged(t, checked, 1, arguments...)
			if len(lines) > maxStartLines {
				t.Errorf("the start has %d lines, want at most %d:\n%s", len(lines), maxStartLines, strings.Join(lines, "\n"))
			}
			if name == "json" && slices.ContainsFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "{") }) {
				t.Errorf("a line is not JSON:\n%s", strings.Join(lines, "\n"))
			}
		})
	}
	t.Run("loud", func(t *testing.T) {
		t.Parallel()
		if lines := startUntilLogged(t, "Starting workers", 10, "--v=3"); len(lines) < 100 {
			t.Errorf("with --v=3 the start has %d lines, want all of them", len(lines))
		}
	})
}
