package kubeapi

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"

	"k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// isTunnel reports whether a request asks for port-forward over WebSocket, which clients try before SPDY since
// Kubernetes 1.31.
func isTunnel(r *http.Request) bool { return wsstream.IsWebSocketRequestWithTunnelingProtocol(r) }

// serveTunnel carries SPDY, the only protocol of the in-memory handler, through a WebSocket as
// kube-apiserver does.
func serveTunnel(api http.Handler, rw http.ResponseWriter, r *http.Request) {
	proxy.NewTunnelingHandler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		api.ServeHTTP(&rawUpgrade{inner: rw, header: http.Header{}}, r)
	})).ServeHTTP(rw, r)
}

// rawUpgrade turns an upgrade as handlers do it (write 101, then hijack) into the one the tunnel
// expects of a proxied backend: hijack, then the bytes of the 101 response on the connection.
type rawUpgrade struct {
	inner  http.ResponseWriter
	header http.Header
}

func (u *rawUpgrade) Header() http.Header { return u.header }

func (u *rawUpgrade) WriteHeader(code int) {
	if code == http.StatusSwitchingProtocols {
		return
	}
	for k, v := range u.header {
		u.inner.Header()[k] = v
	}
	u.inner.WriteHeader(code)
}

func (u *rawUpgrade) Write(b []byte) (int, error) { return u.inner.Write(b) }

func (u *rawUpgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, _, err := http.NewResponseController(u.inner).Hijack()
	if err != nil {
		return nil, nil, err
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", http.StatusSwitchingProtocols, http.StatusText(http.StatusSwitchingProtocols))
	if err := u.header.Write(&head); err != nil {
		return nil, nil, err
	}
	head.WriteString("\r\n")
	if _, err := conn.Write(head.Bytes()); err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn, bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn)), nil
}
