package bridge

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
)

// sshPort is the port of the SSH server of a guest.
const sshPort = 22

// maxSSHLine bounds one line of a shell.
const maxSSHLine = 4096

// sshServer is the SSH server of one guest. It authenticates the administrator by the public keys of the VM, and has a few commands that
// show the guest: no program runs.
type sshServer struct {
	machine *machine
	conns   *trackedListener
	config  *ssh.ServerConfig
	// hostKey is the public key in the format of authorized_keys.
	hostKey string
}

var errSSHDenied = errors.New("the key or the user is not the administrator's")

// openSSH starts the SSH server of a running guest that has public keys, and writes its host key to the serial console as cloud-init does.
func (m *machine) openSSH(ctx context.Context) {
	if m.ssh != nil || m.guest.isWindows() || len(m.guest.SSHPublicKeys) == 0 {
		return
	}
	s, err := newSSHServer(m)
	if err != nil {
		m.log.Error("SSH server", "error", err)
		return
	}
	m.ssh = s
	go s.serve()
	m.writeConsole(ctx, "cloud-init[812]: Cloud-init v. 25.1 (simulated) running\n-----BEGIN SSH HOST KEY KEYS-----\n"+s.hostKey+"-----END SSH HOST KEY KEYS-----")
	m.registerSSH(ctx)
}

func (m *machine) registerSSH(ctx context.Context) {
	if m.ssh != nil {
		address := m.ssh.conns.Addr().String()
		m.bridge.callControl(ctx, "register SSH listener", func() error { return m.bridge.sim.addListener(ctx, m.vmID, sshPort, address) })
	}
}

// closeSSH ends the SSH server with its sessions.
func (m *machine) closeSSH(ctx context.Context) {
	if m.ssh == nil {
		return
	}
	m.ssh.conns.closeAll()
	m.ssh = nil
	m.bridge.callControl(ctx, "remove SSH listener", func() error { return m.bridge.sim.removeListener(ctx, m.vmID, sshPort) })
}

// writeConsole adds text to the serial console of the guest.
func (m *machine) writeConsole(ctx context.Context, text string) {
	m.mu.Lock()
	status := m.status
	m.mu.Unlock()
	if status.Phase == "" {
		status = m.guest.Status
	}
	if status.Phase == "" {
		status.Phase = phaseBooting
	}
	status.VMID = m.vmID
	m.bridge.callControl(ctx, "write console", func() error { return m.bridge.sim.writeConsole(ctx, status, text) })
}

func newSSHServer(m *machine) (*sshServer, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, err
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	listener, err := m.bridge.fleet.ports.listenOnNext()
	if err != nil {
		return nil, err
	}
	s := &sshServer{machine: m, conns: &trackedListener{Listener: listener, conns: map[net.Conn]struct{}{}},
		hostKey: string(ssh.MarshalAuthorizedKey(key))}
	user, allowed := m.guest.AdminUsername, parseKeys(m.guest.SSHPublicKeys)
	s.config = &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions, error) {
		for _, key := range allowed {
			if c.User() == user && bytes.Equal(key.Marshal(), offered.Marshal()) {
				return nil, nil
			}
		}
		return nil, errSSHDenied
	}}
	s.config.AddHostKey(signer)
	return s, nil
}

func parseKeys(texts []string) (out []ssh.PublicKey) {
	for _, text := range texts {
		if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text)); err == nil {
			out = append(out, key)
		}
	}
	return out
}

func (s *sshServer) serve() {
	for {
		connection, err := s.conns.Accept()
		if err != nil {
			return
		}
		go s.serveConnection(connection)
	}
}

func (s *sshServer) serveConnection(raw net.Conn) {
	defer raw.Close()
	connection, channels, requests, err := ssh.NewServerConn(raw, s.config)
	if err != nil {
		return
	}
	defer connection.Close()
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.Prohibited, "only sessions")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go s.serveSession(channel, requests)
	}
}

// serveSession answers one command or a shell.
func (s *sshServer) serveSession(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	for request := range requests {
		switch request.Type {
		case "exec":
			var payload struct{ Command string }
			if ssh.Unmarshal(request.Payload, &payload) != nil {
				_ = request.Reply(false, nil)
				return
			}
			_ = request.Reply(true, nil)
			endSession(channel, s.runCommand(channel, payload.Command))
			return
		case "shell":
			_ = request.Reply(true, nil)
			go ssh.DiscardRequests(requests)
			s.runShell(channel)
			endSession(channel, 0)
			return
		default:
			_ = request.Reply(request.Type == "pty-req" || request.Type == "env" || request.Type == "window-change", nil)
		}
	}
}

func endSession(channel ssh.Channel, status uint32) {
	_, _ = channel.SendRequest("exit-status", false, binary.BigEndian.AppendUint32(nil, status))
}

// runShell runs the commands of lines until the input ends.
func (s *sshServer) runShell(channel ssh.Channel) {
	lines := bufio.NewScanner(io.TeeReader(channel, channel))
	lines.Buffer(nil, maxSSHLine)
	lines.Split(splitShellLines)
	for fmt.Fprintf(channel, "%s$ ", s.machine.guest.ComputerName); lines.Scan(); fmt.Fprintf(channel, "%s$ ", s.machine.guest.ComputerName) {
		fmt.Fprint(channel, "\r\n")
		line := strings.TrimSpace(lines.Text())
		if line == "exit" || strings.Contains(line, "\x04") {
			return
		}
		if line != "" {
			s.runCommand(channel, line)
		}
	}
}

// splitShellLines ends lines at the return key of a terminal as well.
func splitShellLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexAny(data, "\r\n\x04"); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// runCommand runs one of the commands that a guest has.
func (s *sshServer) runCommand(out io.Writer, command string) uint32 {
	m := s.machine
	m.mu.Lock()
	status := m.status
	m.mu.Unlock()
	switch strings.TrimPrefix(command, "sudo ") {
	case "true":
	case "hostname":
		fmt.Fprintln(out, m.guest.ComputerName)
	case "cat /var/log/cloud-init-output.log", "tail /var/log/cloud-init-output.log":
		fmt.Fprintln(out, status.Message)
	case "cloud-init status":
		fmt.Fprintln(out, "status:", strings.ToLower(status.Phase))
	default:
		fmt.Fprintf(out, "%.200q is no command of the lab's machines, which run no programs\r\n", command)
		return 127
	}
	return 0
}
