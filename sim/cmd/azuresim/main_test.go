package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

func TestPrincipals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]server.Principal{
		"id:s3cret":        {ClientID: "id", Secret: "s3cret"},
		"id:s3cret:object": {ClientID: "id", Secret: "s3cret", ObjectID: "object"},
		"id:@" + file:      {ClientID: "id", Secret: "from-file"},
	} {
		got, err := parsePrincipal(in)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q gives client %q and object %q, want %q and %q; the secret is right: %v", in, got.ClientID, got.ObjectID, want.ClientID,
				want.ObjectID, got.Secret == want.Secret)
		}
	}
	for _, bad := range []string{"", "only-id", "a:b3cret:c:d", ":b3cret", "id:@/does/not/exist"} {
		if _, err := parsePrincipal(bad); err == nil || strings.Contains(err.Error(), "b3cret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestServesUntilTold(t *testing.T) {
	dir := t.TempDir()
	address := ports.Free(t)
	ctx, cancel := context.WithCancel(t.Context())
	cmd := command()
	cmd.SetArgs([]string{"--listen", address, "--state-dir", dir, "--time-scale", "0", "--request-log", filepath.Join(dir, "log")})
	out, ready := os.Stdout, make(chan struct{})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	defer func() { os.Stdout = out }()
	go func() {
		buf := make([]byte, 256)
		n, _ := r.Read(buf)
		if bytes.Contains(buf[:n], []byte("ready")) {
			close(ready)
		}
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	pem, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "management.azure.com"}}}
	res, err := client.Get("https://" + address + "/subscriptions?api-version=2022-12-01")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	client.CloseIdleConnections()
	if res.StatusCode != 401 {
		t.Errorf("without a token: %d", res.StatusCode)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it must end without an error after a signal: %v", err)
	}
}

// TestEnforcedNeedsOwner: a simulator without an account that may assign roles would refuse every request forever.
func TestEnforcedNeedsOwner(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	if err := os.MkdirAll(filepath.Join(kept, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	const client = "22222222-2222-2222-2222-222222222222"
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"no owner":        {"nobody could assign a role", []string{"--enforce-rbac"}, "--enforce-rbac needs an --owner"},
		"a new directory": {"it has no role assignments", []string{"--enforce-rbac", "--state-dir", filepath.Join(dir, "new")}, "--enforce-rbac needs an --owner"},
		"a state":         {"it has the role assignments of a former owner", []string{"--enforce-rbac", "--state-dir", kept}, ""},
		"the default":     {"the application exists", []string{"--enforce-rbac", "--owner", server.DefaultClientID}, ""},
		"a principal":     {"the application exists", []string{"--enforce-rbac", "--owner", strings.ToUpper(client), "--principal", client + ":s"}, ""},
		"a typo":          {"no application can sign in as the owner", []string{"--enforce-rbac", "--owner", "1111"}, "--owner 1111: no application has this client ID"},
		"a principal more": {"the default application is not added to others",
			[]string{"--enforce-rbac", "--owner", server.DefaultClientID, "--principal", client + ":s"}, "name one of " + client},
		"roles off": {"the flag would have no effect", []string{"--owner", server.DefaultClientID}, "add that flag or remove --owner"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command()
			// A start that is not refused ends at once.
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			cmd.SetArgs(append(tc.args, "--listen", "127.0.0.1:0"))
			err := cmd.ExecuteContext(ended)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestTimeScale refuses factors with which no duration can be computed.
func TestTimeScale(t *testing.T) {
	for _, scale := range []string{"-1", "NaN", "Inf", "1e300"} {
		cmd := command()
		cmd.SetArgs([]string{"--time-scale=" + scale, "--listen", "127.0.0.1:0"})
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "--time-scale is ") {
			t.Errorf("--time-scale %s: %v", scale, err)
		}
	}
}

// TestSnapshot: a file with a snapshot is begun with, and never takes the place of a state that a directory holds.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	from, err := server.New(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if err := from.LoadFaults([]byte(`[{"kind": "lost"}]`)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "snapshot.json")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := from.Snapshot(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	f := &flags{snapshot: path, options: server.Options{StateDir: filepath.Join(dir, "azure")}}
	if err := f.complete(); err != nil {
		t.Errorf("with a directory that does not exist yet: %v", err)
	}
	to, err := server.New(f.options)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := restore(to, path); err != nil {
		t.Error(err)
	}
	if n := len(to.Faults()); n != 1 {
		t.Errorf("there are %d faults after the snapshot, want 1", n)
	}
	if err := f.complete(); err == nil || !strings.Contains(err.Error(), "has a state already") {
		t.Errorf("with a directory that has a state: %v", err)
	}
	if err := restore(to, filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "--snapshot") {
		t.Errorf("without the file: %v", err)
	}
}

// TestSnapshotAfterFailedStart corrects a command whose first start failed. A start that failed leaves no state which the next one would not
// replace by the snapshot.
func TestSnapshotAfterFailedStart(t *testing.T) {
	dir := t.TempDir()
	from, err := server.New(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	var snapshot bytes.Buffer
	if err := from.Snapshot(&snapshot); err != nil {
		t.Fatal(err)
	}
	good, bad := filepath.Join(dir, "good.json"), filepath.Join(dir, "bad.json")
	for path, content := range map[string][]byte{good: snapshot.Bytes(), bad: []byte("{}")} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A start that succeeds ends at once.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	start := func(snapshot, faults string) error {
		return (&flags{listen: "127.0.0.1:0", snapshot: snapshot, faultFile: faults, options: server.Options{StateDir: filepath.Join(dir, "azure")}}).run(ended)
	}
	for reason, err := range map[string]error{"no file": start(filepath.Join(dir, "none"), ""), "no snapshot": start(bad, ""), "no faults": start(good, bad)} {
		if err == nil || strings.Contains(err.Error(), "has a state already") {
			t.Errorf("%s: %v", reason, err)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for flag, f := range map[string]*flags{
		"--listen": {listen: taken.Addr().String()}, "--connect-proxy": {listen: "127.0.0.1:0", proxy: taken.Addr().String()},
	} {
		f.snapshot, f.options.StateDir = good, filepath.Join(dir, "azure")
		if err := f.run(ended); err == nil || !strings.Contains(err.Error(), flag+" "+taken.Addr().String()+": another program uses this address") {
			t.Errorf("%s of another program: %v", flag, err)
		}
	}
	if err := start(good, ""); err != nil {
		t.Errorf("the corrected command: %v", err)
	}
	if err := start(bad, ""); err == nil || !strings.Contains(err.Error(), "has a state already") {
		t.Errorf("a start with a snapshot after one that succeeded: %v", err)
	}
	if err := start("", ""); err != nil {
		t.Errorf("a start that goes on with the state: %v", err)
	}
}
