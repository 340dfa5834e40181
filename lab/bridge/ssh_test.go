package bridge

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func newSigner(t *testing.T) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// TestSSH signs in to a machine while it boots, and after a restart. Its host key is on the serial console.
func TestSSH(t *testing.T) {
	f := newFakeSimulator(t)
	f.runBridge()
	key := newSigner(t)
	g := testGuest("worker-0", "")
	g.AdminUsername, g.SSHPublicKeys = "capi", []string{"no key", string(ssh.MarshalAuthorizedKey(key.PublicKey()))}
	f.bootGuest(g)
	address := func() (found string) {
		f.awaitCondition("the SSH server to listen", func() bool {
			found = f.listeners[g.VMID][sshPort]
			return found != ""
		})
		return found
	}
	run := func(user string, signer ssh.Signer, command string) (string, error) {
		var shown ssh.PublicKey
		client, err := ssh.Dial("tcp", address(), &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
			HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error { shown = key; return nil }})
		if err != nil {
			return "", err
		}
		defer client.Close()
		if text := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(shown))); !strings.Contains(f.console, text) {
			t.Errorf("the host key is not on the console:\n%s", f.console)
		}
		session, err := client.NewSession()
		if err != nil {
			return "", err
		}
		defer session.Close()
		out, err := session.Output(command)
		return string(out), err
	}
	if out, err := run("capi", key, "hostname"); err != nil || out != "worker-0\n" {
		t.Errorf("hostname: %q, %v", out, err)
	}
	if _, err := run("capi", key, "rm -rf /"); err == nil || !strings.Contains(err.Error(), "status 127") {
		t.Errorf("another command: %v", err)
	}
	if _, err := run("root", key, "hostname"); err == nil {
		t.Error("another user may sign in")
	}
	if _, err := run("capi", newSigner(t), "hostname"); err == nil {
		t.Error("another key may sign in")
	}
	f.editGuest("worker-0", func(g *guest) { g.PowerState = "stopped" })
	f.awaitCondition("the SSH server to go", func() bool { return f.listeners[g.VMID][sshPort] == "" })
	f.editGuest("worker-0", func(g *guest) { g.PowerState = "running" })
	if out, err := run("capi", key, "sudo cat /var/log/cloud-init-output.log"); err != nil || out == "" {
		t.Errorf("after a restart: %q, %v", out, err)
	}
	f.deleteGuest("worker-0")
	f.awaitCondition("the SSH server to go with the machine", func() bool { return f.listeners[g.VMID][sshPort] == "" })
}
