package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// azure is a simulated Azure that is reached as Azure is: by its own names, through a proxy.
type azure struct {
	sim       *server.Server
	proxy     string
	authority string
	servers   []*http.Server
}

// startAzure serves an Azure that answers at once, and leaves its certificate authority in a directory.
func startAzure(dir string, options server.Options) (*azure, error) {
	state := filepath.Join(dir, "azure")
	options.StateDir = state
	sim, err := server.New(options)
	if err != nil {
		return nil, err
	}
	a := &azure{sim: sim, authority: filepath.Join(state, "ca.crt")}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, listener.Close(), a.Close())
	}
	front := &http.Server{Handler: sim.Handler(), TLSConfig: sim.TLSConfig(), ReadHeaderTimeout: 30 * time.Second}
	way := &http.Server{Handler: sim.ProxyHandler(listener.Addr().String()), ReadHeaderTimeout: 30 * time.Second}
	a.proxy, a.servers = "http://"+proxy.Addr().String(), []*http.Server{front, way}
	go front.ServeTLS(listener, "", "")
	go way.Serve(proxy)
	return a, nil
}

// clientEnvironment leads a program with Azure's names to here.
func (a *azure) clientEnvironment() []string {
	return []string{"HTTPS_PROXY=" + a.proxy, "https_proxy=" + a.proxy, "NO_PROXY=", "no_proxy=", "SSL_CERT_FILE=" + a.authority,
		"REQUESTS_CA_BUNDLE=" + a.authority}
}

// loginCommand returns the command that signs in as the principal that exists from the start.
func (a *azure) loginCommand() string {
	return fmt.Sprintf("az login --service-principal --tenant %s --username %s --password %s", server.DefaultTenant, server.DefaultClientID,
		server.DefaultSecret)
}

func (a *azure) Close() error {
	var failures []error
	for _, s := range a.servers {
		failures = append(failures, s.Close())
	}
	return errors.Join(append(failures, a.sim.Close())...)
}
