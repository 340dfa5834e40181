package bridge

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

type servingCertificate = tls.Certificate

const (
	serverAuth = x509.ExtKeyUsageServerAuth
	clientAuth = x509.ExtKeyUsageClientAuth
)

// portRange hands out loopback listeners within bounds. Both bounds 0 leaves the choice to the kernel.
type portRange struct {
	min, max int

	mu   sync.Mutex
	next int
}

func (p *portRange) listenOnNext() (net.Listener, error) {
	if p.min == 0 {
		return net.Listen("tcp", "127.0.0.1:0")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var last error
	for range p.max - p.min + 1 {
		if p.next < p.min || p.next > p.max {
			p.next = p.min
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p.next))
		p.next++
		if err == nil {
			return l, nil
		}
		last = err
	}
	return nil, fmt.Errorf("no free port in %d-%d (--kubernetes-ports): %w", p.min, p.max, last)
}

// server is an HTTPS server on loopback. Closing it ends its connections too, upgraded ones included.
type server struct {
	address string
	http    *http.Server
	conns   *trackedListener
	log     *slog.Logger
}

// serveOnNext starts a server at once; it needs no other call.
func (p *portRange) serveOnNext(config *tls.Config, handler http.Handler, log *slog.Logger) (*server, error) {
	l, err := p.listenOnNext()
	if err != nil {
		return nil, err
	}
	tracked := &trackedListener{Listener: l, conns: map[net.Conn]struct{}{}}
	s := &server{
		address: l.Addr().String(),
		conns:   tracked,
		log:     log,
		http: &http.Server{
			Handler:           handler,
			TLSConfig:         config,
			ReadHeaderTimeout: time.Minute,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
	}
	go func() {
		if err := s.http.ServeTLS(tracked, "", ""); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			log.Error("server stopped", "address", s.address, "error", err)
		}
	}()
	return s, nil
}

func (s *server) closeServer() {
	s.http.Close()
	s.conns.closeAll()
}

// trackedListener remembers its connections because http.Server forgets those that were upgraded.
type trackedListener struct {
	net.Listener
	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func (l *trackedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &trackedConn{Conn: c, listener: l}
	l.conns[t] = struct{}{}
	return t, nil
}

func (l *trackedListener) closeAll() {
	l.Listener.Close()
	l.mu.Lock()
	open := l.conns
	l.conns = map[net.Conn]struct{}{}
	l.mu.Unlock()
	for c := range open {
		c.Close()
	}
}

type trackedConn struct {
	net.Conn
	listener *trackedListener
}

func (c *trackedConn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// tlsConfig serves the certificate given, or, for the pods' listener, the one of the etcd member or
// API server the client names. Clients are asked for a certificate but judged per request, so that
// a wrong one gets 401 rather than a broken handshake, as with kube-apiserver.
func (w *workload) tlsConfig(cert *tls.Certificate) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequestClientCert}
	if cert != nil {
		config.Certificates = []tls.Certificate{*cert}
		return config
	}
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if c, ok := w.podCerts[hello.ServerName]; ok {
			return c, nil
		}
		if c, ok := w.podCerts[""]; ok {
			return c, nil
		}
		return nil, fmt.Errorf("no static pod serves %q", hello.ServerName)
	}
	return config
}

// servePods answers what reaches the static pods through port-forward: etcd's gRPC, which takes only
// clients of the etcd CA, and otherwise the API.
func (w *workload) servePods(rw http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != 2 || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		w.serveAPI(rw, r)
		return
	}
	w.mu.Lock()
	pki := w.pki
	w.mu.Unlock()
	if pki == nil || pki.etcd == nil || verifyClient(r, pki.etcd) == nil {
		http.Error(rw, "a client certificate of the etcd CA is required", http.StatusUnauthorized)
		return
	}
	w.fleet.etcd.ServeHTTP(rw, r)
}
