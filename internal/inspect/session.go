package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
)

// dialTimeout bounds the connection and the handshake of SSH.
const dialTimeout = 30 * time.Second

// Session is a session on a machine.
type Session struct {
	// Dial connects to an address.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Signers have the keys of the user.
	Signers []ssh.Signer
	// HostKeys are the public keys that the machine may have. Without any, Fingerprint decides.
	HostKeys []ssh.PublicKey
	// Fingerprint is that of the machine's key, as in SHA256:...; "" is none.
	Fingerprint    string
	In             io.Reader
	Out, Err       io.Writer
	HasTerminal    bool
	Width, Height  int
	TerminalDriver string
}

// errUnknownHost ends a session with a machine whose key cannot be verified.
var errUnknownHost = errors.New(
	"the host key of the machine is not known: its serial console log has none. Get its fingerprint in another way, such as az vm run-command, and set --host-key-fingerprint")

// Run runs a command, or a shell for "". The error is *ssh.ExitError if the command failed.
func (s *Session) Run(ctx context.Context, route *Route, command string) error {
	if len(s.HostKeys) == 0 && s.Fingerprint == "" {
		return errUnknownHost
	}
	config := &ssh.ClientConfig{User: route.User, Auth: []ssh.AuthMethod{ssh.PublicKeys(s.Signers...)}, HostKeyCallback: s.checkHostKey,
		HostKeyAlgorithms: s.algorithms(), Timeout: dialTimeout}
	connecting, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := s.Dial(connecting, route.Address)
	if err != nil {
		return fmt.Errorf("connect to %s (%s): %w", route.Address, route.Through, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	_ = raw.SetDeadline(time.Now().Add(dialTimeout))
	connection, channels, requests, err := ssh.NewClientConn(raw, route.Address, config)
	if err != nil {
		_ = raw.Close()
		return fmt.Errorf("SSH to %s (%s): %w", route.Address, route.Through, err)
	}
	_ = raw.SetDeadline(time.Time{})
	client := ssh.NewClient(connection, channels, requests)
	defer func() { _ = client.Close() }()
	session, err := client.NewSession()
	if err != nil {
		return fmt.Errorf("SSH to %s: %w", route.Address, err)
	}
	defer func() { _ = session.Close() }()
	session.Stdin, session.Stdout, session.Stderr = s.In, s.Out, s.Err
	if s.HasTerminal {
		if err := session.RequestPty(s.TerminalDriver, s.Height, s.Width, ssh.TerminalModes{ssh.ECHO: 1}); err != nil {
			return fmt.Errorf("terminal on %s: %w", route.Address, err)
		}
	}
	if command != "" {
		return session.Run(command)
	}
	if err := session.Shell(); err != nil {
		return fmt.Errorf("shell on %s: %w", route.Address, err)
	}
	return session.Wait()
}

// checkHostKey accepts only the keys that are known.
func (s *Session) checkHostKey(_ string, _ net.Addr, key ssh.PublicKey) error {
	if s.Fingerprint != "" {
		if got := ssh.FingerprintSHA256(key); got != s.Fingerprint {
			return fmt.Errorf("the machine has the host key %s, and not %s of --host-key-fingerprint", got, s.Fingerprint)
		}
		return nil
	}
	for _, known := range s.HostKeys {
		if bytes.Equal(known.Marshal(), key.Marshal()) {
			return nil
		}
	}
	return fmt.Errorf("the host key %s of the machine is none of those in its serial console log. Another machine may answer", ssh.FingerprintSHA256(key))
}

// algorithms returns the algorithms of the known keys, so that the machine shows one of them. Nil lets it choose.
func (s *Session) algorithms() (out []string) {
	if s.Fingerprint != "" {
		return nil
	}
	for _, key := range s.HostKeys {
		if key.Type() == ssh.KeyAlgoRSA {
			out = append(out, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			continue
		}
		out = append(out, key.Type())
	}
	return out
}
