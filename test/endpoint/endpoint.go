// Package endpoint serves a simulated Azure to tests, over TLS on a port of this machine. Clients keep their
// connections, so that the duration of a test depends on its requests only.
package endpoint

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// connections is how many a client keeps. It is more than the requests that a manager has under way at once. With the two that Go
// keeps by itself most requests would begin with a handshake, which costs more than the answer.
const connections = 100

// ListenTLS serves a simulator with a certificate of its own. The client of the returned server trusts it. The caller
// closes the server.
func ListenTLS(simulator *server.Server) *httptest.Server {
	listener := httptest.NewUnstartedServer(simulator.Handler())
	listener.TLS = simulator.TLSConfig()
	// Whose connection is cut loses one request, not all that share it.
	listener.TLS.NextProtos = []string{"http/1.1"}
	// The simulator cuts connections where a test asks for it.
	listener.Config.ErrorLog = log.New(io.Discard, "", 0)
	listener.StartTLS()
	listener.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = connections
	return listener
}
