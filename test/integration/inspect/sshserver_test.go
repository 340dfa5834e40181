package inspect_test

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"

	"golang.org/x/crypto/ssh"
)

// sshServer is the SSH server of a machine: it accepts one key, and answers a command with its text. A shell shows the terminal that it has,
// answers one line and ends with the status 4.
type sshServer struct {
	address string
	host    ssh.Signer
}

func newSigner(t *testing.T) (ssh.Signer, ed25519.PrivateKey) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer, private
}

func startSSHServer(t *testing.T, user string, key ssh.PublicKey) *sshServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	s := &sshServer{address: listener.Addr().String()}
	s.host, _ = newSigner(t)
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != user || !bytes.Equal(offered.Marshal(), key.Marshal()) {
			return nil, fmt.Errorf("%s is not %s with the key", c.User(), user)
		}
		return nil, nil
	}}
	config.AddHostKey(s.host)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go serveSSH(connection, config)
		}
	}()
	return s
}

func serveSSH(raw net.Conn, config *ssh.ServerConfig) {
	connection, channels, requests, err := ssh.NewServerConn(raw, config)
	if err != nil {
		return
	}
	defer func() { _ = connection.Close() }()
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		terminal := "no terminal"
		for request := range requests {
			switch request.Type {
			case "pty-req":
				var asked struct {
					Kind          string
					Width, Height uint32
					Rest          []byte `ssh:"rest"`
				}
				_ = request.Reply(ssh.Unmarshal(request.Payload, &asked) == nil, nil)
				terminal = fmt.Sprintf("%s of %d x %d", asked.Kind, asked.Width, asked.Height)
				continue
			case "shell":
				_ = request.Reply(true, nil)
				fmt.Fprintf(channel, "shell with %s\n", terminal)
				line, _ := bufio.NewReader(channel).ReadString('\n')
				fmt.Fprintf(channel, "ran %s", line)
				_, _ = channel.SendRequest("exit-status", false, binary.BigEndian.AppendUint32(nil, 4))
				_ = channel.Close()
				continue
			case "exec":
			default:
				_ = request.Reply(false, nil)
				continue
			}
			_ = request.Reply(true, nil)
			command := string(request.Payload[4:])
			status := uint32(0)
			if command == "false" {
				status = 3
			}
			_, _ = io.WriteString(channel, "ran "+command+"\n")
			_, _ = channel.SendRequest("exit-status", false, binary.BigEndian.AppendUint32(nil, status))
			_ = channel.Close()
		}
	}
}
