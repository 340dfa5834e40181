// Package inspect_test runs the verbs logs, ssh and bundle of kubectl capz against a cluster with machines in a simulated Azure.
package inspect_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	clienvironment "sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	azureidentity "sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }

// userCredential is the credential of the user who runs the command.
type userCredential struct{ *harness.Simulator }

// GetToken implements azcore.TokenCredential.
func (c userCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: c.UserToken(), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// user runs verbs of kubectl capz.
type user struct {
	stage       *harness.Stage
	kubeconfig  string
	folder      string
	interactive [][]string
	// dialed are the addresses of connections to machines.
	dialed []string
	// agent, terminal and input are those of the user; nil and "" are none.
	agent    agent.Agent
	terminal *clienvironment.Terminal
	input    string
}

// run runs a verb and returns its output.
func (u *user) run(arguments ...string) (string, error) {
	u.stage.T.Helper()
	e := &clienvironment.Environment{Version: "test", Transport: u.stage.Azure.HTTP, Credential: userCredential{u.stage.Azure},
		OpenFile:   func(name string) (io.ReadCloser, error) { return os.Open(name) },
		OpenFolder: func(string) (fs.FS, bool) { return nil, false },
		CreateFile: func(name string) (io.WriteCloser, error) {
			return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		},
		RemoveFile: os.Remove,
		Dial:       u.dial, DialAgent: u.dialAgent,
		OpenTerminal: func() (*clienvironment.Terminal, error) { return u.terminal, nil },
		RunInteractive: func(_ context.Context, name string, arguments ...string) error {
			u.interactive = append(u.interactive, append([]string{name}, arguments...))
			return nil
		},
		Identity: azureidentity.Options{ResourceManagerEndpoint: u.stage.Azure.URL, ResourceManagerAudience: "https://management.core.windows.net/",
			AuthorityHost: u.stage.Azure.URL}}
	root := cli.NewCommand(e)
	out, messages := &bytes.Buffer{}, &bytes.Buffer{} // A session of SSH writes to both at the same time.
	root.SetOut(out)
	root.SetErr(messages)
	root.SetIn(strings.NewReader(u.input))
	root.SetArgs(append([]string{"--namespace", u.stage.Namespace, "--kubeconfig", u.kubeconfig}, arguments...))
	err := root.ExecuteContext(u.stage.T.Context())
	return out.String() + messages.String(), err
}

// dial connects through the simulated network.
func (u *user) dial(_ context.Context, address string) (net.Conn, error) {
	u.dialed = append(u.dialed, address)
	proxy := httptest.NewServer(u.stage.Azure.Server.ProxyHandler(""))
	u.stage.T.(*testing.T).Cleanup(proxy.Close)
	connection, err := net.Dial("tcp", strings.TrimPrefix(proxy.URL, "http://"))
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(connection, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
	in := bufio.NewReader(connection)
	response, err := http.ReadResponse(in, nil)
	if err == nil && response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	return bufferedConn{connection, in}, err
}

// dialAgent connects to the agent of the user.
func (u *user) dialAgent(context.Context) (net.Conn, error) {
	if u.agent == nil {
		return nil, errors.New("SSH_AUTH_SOCK is not set")
	}
	client, server := net.Pipe()
	go func() { _ = agent.ServeAgent(u.agent, server) }()
	return client, nil
}

type bufferedConn struct {
	net.Conn
	in *bufio.Reader
}

// Read implements net.Conn.
func (c bufferedConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// control sends a request to the control API of the simulator.
func control(stage *harness.Stage, method, path string, body any) {
	stage.T.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		stage.T.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	stage.Azure.Server.Handler().ServeHTTP(recorder, httptest.NewRequest(method, path, bytes.NewReader(raw)))
	if recorder.Code != http.StatusNoContent {
		stage.T.Fatalf("%s %s: %d %s", method, path, recorder.Code, recorder.Body)
	}
}

// newCluster creates a cluster with a control plane machine, and returns the user and the ID of the virtual machine.
func newCluster(t *testing.T, changes ...func(*infrav1.AzureCluster)) (*user, string) {
	t.Helper()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	cluster := stage.AzureCluster("c1")
	for _, change := range changes {
		change(cluster)
	}
	stage.CreateCluster(cluster)
	stage.WaitClusterProvisioned("c1")
	stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.ControlPlane, "1")
	stage.CreateMachine(stage.AzureMachine("c1", "m2"), harness.Worker, "")
	stage.WaitMachineProvisioned("m1")
	stage.WaitMachineProvisioned("m2")
	machine := &infrav1.AzureMachine{}
	stage.ReadObject(machine, "m1")
	folder := t.TempDir()
	u := &user{stage: stage, folder: folder, kubeconfig: stage.Environment.WriteKubeconfig(t, folder)}
	return u, strings.TrimPrefix(*machine.Spec.ProviderID, "azure://")
}

// writeKey writes a private key in the format of ssh-keygen.
func (u *user) writeKey(t *testing.T) (file string, public ssh.PublicKey) {
	t.Helper()
	signer, private := newSigner(t)
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(u.folder, "id")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, signer.PublicKey()
}

// runPage runs the commands of the book's page with one verb, and returns how many there are.
func (u *user) runPage(t *testing.T, verb string, names ...string) (ran int) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/book/machines.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		words, is := strings.CutPrefix(line, "kubectl capz "+verb+" ")
		if !is {
			continue
		}
		ran++
		arguments := strings.Fields(strings.NewReplacer(names...).Replace(words))
		if verb == "bundle" && len(arguments) == 1 {
			arguments = append(arguments, "--file", filepath.Join(u.folder, "default.tar.gz")) // The default is in the working folder.
		}
		if verb == "ssh" && strings.Contains(words, "--identity-file") {
			arguments = append(arguments, "--", "true")
		} else if verb == "ssh" {
			arguments = append([]string{"--identity-file", filepath.Join(u.folder, "id")}, arguments...) // Tests have no agent.
		}
		if out, err := u.run(append([]string{verb}, arguments...)...); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	return ran
}

// TestMachines reads the log of a machine, and runs commands on it through the NAT rule of the control plane.
func TestMachines(t *testing.T) {
	t.Parallel()
	u, vm := newCluster(t)
	key, public := u.writeKey(t)
	server := startSSHServer(t, "capi", public)
	console := "\x1b[0;32m[  OK  ]\x1b[0m Started cloud-init.\n[   12.5] cloud-init[812]: Cloud-init v. 25.1 running\n[   14.0] cloud-init[812]: kubeadm \x1b]0;title\x07joined\n" +
		"-----BEGIN SSH HOST KEY KEYS-----\n" + string(ssh.MarshalAuthorizedKey(server.host.PublicKey())) + "-----END SSH HOST KEY KEYS-----\n"
	control(u.stage, "PUT", "/_sim/guests/status", map[string]any{"vmID": vm, "phase": "Running", "console": console})
	control(u.stage, "PUT", "/_sim/guests/listeners", map[string]any{"vmID": vm, "port": 22, "address": server.address})

	log, err := u.run("logs", "m1")
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	for _, want := range []string{"[  OK  ] Started cloud-init.\n", "cloud-init[812]: kubeadm joined\n", "Linux version"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not contain %q:\n%s", want, log)
		}
	}
	if strings.ContainsAny(log, "\x1b\x07\r") {
		t.Errorf("the log has control characters: %q", log)
	}
	if log, err := u.run("logs", "m1", "--cloud-init"); err != nil || log != "Cloud-init v. 25.1 running\nkubeadm joined\n" {
		t.Errorf("the output of cloud-init: %v\n%s", err, log)
	}
	if _, err := u.run("logs", "m3"); err == nil || !strings.Contains(err.Error(), "there is no Machine") {
		t.Errorf("an unknown machine: %v", err)
	}

	if out, err := u.run("ssh", "m1", "--identity-file", key, "--", "uname", "-a"); err != nil || out != "ran uname -a\n" {
		t.Errorf("ssh: %v\n%s", err, out)
	}
	var exit clienvironment.ExitStatusError
	if _, err := u.run("ssh", "m1", "-i", key, "--", "false"); !errors.As(err, &exit) || clienvironment.ExitCode(err) != 3 {
		t.Errorf("a command that fails: %v", err)
	}
	if out, err := u.run("ssh", "m1", "-i", key, "--host-key-fingerprint", ssh.FingerprintSHA256(server.host.PublicKey()), "uptime"); err != nil {
		t.Errorf("with the fingerprint: %v\n%s", err, out)
	}
	if _, err := u.run("ssh", "m1", "-i", key, "--host-key-fingerprint", "SHA256:other", "uptime"); err == nil || !strings.Contains(err.Error(), "and not SHA256:other") {
		t.Errorf("another fingerprint: %v", err)
	}
	if _, err := u.run("ssh", "m2", "-i", key, "uptime"); err == nil || !strings.Contains(err.Error(), "no public IP address, no inbound NAT rule and no bastion host") {
		t.Errorf("a machine without a way: %v", err)
	}
	for verb, want := range map[string]int{"logs": 2, "ssh": 2} {
		if ran := u.runPage(t, verb, "c1-control-plane-x7v2q", "m1", "~/.ssh/id_ed25519", key); ran != want {
			t.Errorf("the page has %d commands with %s, want %d", ran, verb, want)
		}
	}
	// Another server answers at the address.
	other := startSSHServer(t, "capi", public)
	control(u.stage, "PUT", "/_sim/guests/listeners", map[string]any{"vmID": vm, "port": 22, "address": other.address})
	if _, err := u.run("ssh", "m1", "-i", key, "uptime"); err == nil || !strings.Contains(err.Error(), "is none of those in its serial console log") {
		t.Errorf("another host key: %v", err)
	}
}

// TestBastion asks for a machine behind a bastion host. Its tunnel is that of az, whose arguments are checked.
func TestBastion(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	cluster := stage.AzureCluster("c1")
	cluster.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Sku: infrav1.StandardBastionHostSku, EnableTunneling: true}
	stage.CreateCluster(cluster)
	stage.WaitClusterProvisioned("c1")
	stage.CreateMachine(stage.AzureMachine("c1", "m2"), harness.Worker, "")
	stage.WaitMachineProvisioned("m2")
	folder := t.TempDir()
	u := &user{stage: stage, folder: folder, kubeconfig: stage.Environment.WriteKubeconfig(t, folder)}
	if out, err := u.run("ssh", "m2", "-i", "key"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := "az network bastion ssh --subscription " + stage.Azure.SubscriptionID + " --resource-group c1 --name c1-azure-bastion --target-resource-id " +
		"/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/m2 --auth-type ssh-key --username capi --ssh-key key"
	if len(u.interactive) != 1 || strings.Join(u.interactive[0], " ") != want {
		t.Errorf("the command is %q, want %q", u.interactive, want)
	}
}

// TestBundle collects a cluster, and nothing of another one.
func TestBundle(t *testing.T) {
	t.Parallel()
	u, _ := newCluster(t)
	logFile := filepath.Join(u.folder, "capz-manager.log")
	if err := os.WriteFile(logFile, []byte("about c1 \x1b[1m\nabout another-cluster\nabout m1 password=hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.stage.CreateCluster(u.stage.AzureCluster("c2"))
	file := filepath.Join(u.folder, "c1.tar.gz")
	if out, err := u.run("bundle", "c1", "--file", file, "--log", logFile); err != nil || !strings.Contains(out, "Wrote "+file) {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := u.run("bundle", "c1", "--file", file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	if _, err := u.run("bundle", "c3", "--file", file+"3"); err == nil || !strings.Contains(err.Error(), "there is no Cluster") {
		t.Errorf("an unknown cluster: %v", err)
	}
	if _, err := os.Stat(file + "3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the corrected command would find the file: %v", err)
	}
	if ran := u.runPage(t, "bundle", "c1-report", filepath.Join(u.folder, "c1-report")); ran != 2 {
		t.Errorf("the page has %d commands with bundle, want 2", ran)
	}
	files := readArchive(t, file)
	for name, want := range map[string]string{
		"c1/objects/Cluster/c1.yaml":                                        "kind: Cluster",
		"c1/objects/AzureCluster/c1.yaml":                                   "status:",
		"c1/objects/AzureMachine/m1.yaml":                                   "providerID",
		"c1/objects/Machine/m2.yaml":                                        "spec:",
		"c1/objects/AzureClusterIdentity/" + harness.IdentityName + ".yaml": "clientID",
		"c1/conditions.txt":                                                 "AzureMachine/m1",
		"c1/operations.txt":                                                 "resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/m1 ",
		"c1/logs/capz-manager.log":                                          "about c1 \nabout m1 password=(left out)\n",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s does not contain %q:\n%s", name, want, files[name])
		}
	}
	for name, content := range files {
		if strings.Contains(name, "c2") || strings.Contains(content, u.stage.Azure.ClientSecret) || strings.Contains(content, "another-cluster") {
			t.Errorf("%s has more than it should:\n%s", name, content)
		}
	}
}

func readArchive(t *testing.T, file string) map[string]string {
	t.Helper()
	raw, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	compressed, err := gzip.NewReader(raw)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		out[header.Name] = string(content)
	}
}
