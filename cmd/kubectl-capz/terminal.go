package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"

	"golang.org/x/term"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

// runInteractive runs a program of the search path with the terminal of this one.
func runInteractive(ctx context.Context, name string, arguments ...string) error {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	return command.Run()
}

// dial connects to host:port, with the method CONNECT of the proxy of HTTPS_PROXY if there is one for the host.
func dial(ctx context.Context, address string) (net.Conn, error) {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: address}})
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	if proxy == nil {
		return dialer.DialContext(ctx, "tcp", address)
	}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(proxy.Hostname(), cmp.Or(proxy.Port(), "80")))
	if err != nil {
		return nil, fmt.Errorf("proxy %s: %w", proxy.Host, err)
	}
	if deadline, has := ctx.Deadline(); has {
		_ = connection.SetDeadline(deadline)
	}
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	in := bufio.NewReader(connection)
	if err = request.Write(connection); err == nil {
		var response *http.Response
		//nolint:bodyclose // What follows the answer to CONNECT is the connection.
		if response, err = http.ReadResponse(in, request); err == nil && response.StatusCode != http.StatusOK {
			err = errors.New(response.Status)
		}
	}
	if err != nil {
		_ = connection.Close()
		return nil, fmt.Errorf("proxy %s: %w", proxy.Host, err)
	}
	return bufferedConn{connection, in}, nil
}

// bufferedConn is a connection of which some bytes are read already.
type bufferedConn struct {
	net.Conn
	in *bufio.Reader
}

// Read implements net.Conn.
func (c bufferedConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// dialAgent connects to the SSH agent.
func dialAgent(ctx context.Context) (net.Conn, error) {
	socket := os.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, errors.New("SSH_AUTH_SOCK is not set")
	}
	var dialer net.Dialer
	return dialer.DialContext(ctx, "unix", socket)
}

// openTerminal sets the terminal of the process to raw mode.
func openTerminal() (*environment.Terminal, error) {
	in := int(os.Stdin.Fd())
	if !term.IsTerminal(in) || !term.IsTerminal(int(os.Stdout.Fd())) {
		return nil, nil
	}
	width, height, err := term.GetSize(in)
	if err != nil {
		return nil, err
	}
	state, err := term.MakeRaw(in)
	if err != nil {
		return nil, err
	}
	return &environment.Terminal{Width: width, Height: height, Kind: cmp.Or(os.Getenv("TERM"), "xterm"),
		Restore: func() { _ = term.Restore(in, state) }}, nil
}

// createFile creates a file that only the user can read. It does not replace one.
func createFile(name string) (io.WriteCloser, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}
