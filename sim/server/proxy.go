package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// azureHosts are the names the proxy leads to the simulator itself.
var azureHosts = []string{"management.azure.com", "login.microsoftonline.com", "login.microsoft.com", "login.windows.net",
	"sts.windows.net", "graph.microsoft.com"}

// ProxyHandler returns an HTTP CONNECT proxy: Azure's own hosts lead to the simulator at self (host:port), every other one
// through the simulated data plane to a guest. An unreachable address is answered with 502 and the step at which the
// connection stops.
func (s *Server) ProxyHandler(self string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			// The instance metadata service is plain HTTP.
			if r.URL.Hostname() == "169.254.169.254" && s.serveManagedIdentity(w, r) {
				return
			}
			writeRefusal(w, 405, "this proxy only takes CONNECT")
			return
		}
		host, portText, err := net.SplitHostPort(r.Host)
		port, perr := strconv.Atoi(portText)
		if err != nil || perr != nil {
			writeRefusal(w, 400, fmt.Sprintf("%q is not host:port", r.Host))
			return
		}
		address := self
		if low := strings.ToLower(host); !slices.Contains(azureHosts, low) && !strings.HasSuffix(low, ".management.azure.com") {
			route := s.traceDial(host, port)
			if route.Step != "" {
				writeJSON(w, 502, route)
				return
			}
			address = route.Address
		}
		s.pipeConnection(w, r, address)
	})
}

func (s *Server) pipeConnection(w http.ResponseWriter, r *http.Request, address string) {
	out, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		writeJSON(w, 502, Route{Step: "listener", Message: err.Error(), Trace: []string{}})
		return
	}
	defer out.Close()
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		writeRefusal(w, 500, err.Error())
		return
	}
	defer in.Close()
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(out, buffered)
		if c, ok := out.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
		done <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(in, out)
		if c, ok := in.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
		done <- struct{}{}
	}()
	<-done
	select {
	case <-done:
	case <-time.After(time.Minute):
	}
}
