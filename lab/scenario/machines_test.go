package scenario

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
)

// TestLookIntoMachines runs the verbs of the book's pages about logs, traces and machines: the way to each machine, its log, a bundle of the cluster,
// the lines of all managers, and the reconciliations of its timeline.
func TestLookIntoMachines(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	l := takeLab(t).labFor(t, map[string]string{"AZURE_SSH_PUBLIC_KEY_B64": base64.StdEncoding.EncodeToString(ssh.MarshalAuthorizedKey(key))})
	file := filepath.Join(t.TempDir(), "id_ed25519")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	l.startLab("--traces", "--cluster-name", "shell", "--control-plane-machines", "1", "--worker-machines", "1")
	// A user's shell after eval "$(lab env)".
	l = l.labFor(t, management.ClientEnvironment(l.loadSettings()))
	machine := strings.Fields(l.runProgram("kubectl", "get", "machines", "--selector", "cluster.x-k8s.io/control-plane", "--output", "name"))[0]
	machine = machine[strings.LastIndexByte(machine, '/')+1:]

	if out := l.runProgram("kubectl-capz", "ssh", machine, "--identity-file", file, "--", "hostname"); out != machine+"\n" {
		t.Errorf("hostname: %q, want %q", out, machine)
	}
	if out := l.runProgram("kubectl-capz", "logs", machine, "--cloud-init"); !strings.Contains(out, "kubeadm initialised the cluster") {
		t.Errorf("the log of %s does not show kubeadm:\n%s", machine, out)
	}
	bundle := filepath.Join(t.TempDir(), "shell.tar.gz")
	if out := l.runProgram("kubectl-capz", "bundle", "shell", "--file", bundle, "--log", filepath.Join(l.loadSettings().Dir, "logs", "capz-manager.log")); !strings.Contains(out, "Wrote ") {
		t.Errorf("bundle: %s", out)
	}
	lines := l.runProgram("lab", "logs", "shell")
	for _, want := range []string{"capz-manager", "capi-core", `"Changed Azure"`, `"Condition changed"`} {
		if !strings.Contains(lines, want) {
			t.Errorf("lab logs does not show %q:\n%.3000s", want, lines)
		}
	}
	shown := l.runProgram("lab", "timeline", "shell")
	for _, want := range []string{"RECONCILED", "AzureCluster/shell", "AzureMachine/" + machine, "virtualMachines/" + machine} {
		if !strings.Contains(shown, want) {
			t.Errorf("lab timeline does not show %q:\n%s", want, shown)
		}
	}
	l.deleteCluster("shell")
	l.expectNothingLeft()
}
