package virtual

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// Outside is an endpoint of Azure for programs outside of the bubble: processes, and code that opens connections. It accepts connections in real
// time, and a scenario answers their requests in RunOutside.
type Outside struct {
	// Endpoint is the URL of Azure. CA is a file with the certificate authority that it uses.
	Endpoint, CA string
	// Environment has the variables that lead a process to the endpoint: HTTPS_PROXY for the hosts of Azure, and SSL_CERT_FILE.
	Environment []string

	requests chan outsideRequest
	programs chan func() error
	ended    chan error
}

// outsideRequest is a request that waits for an answer. Its channel was made outside of the bubble, as goroutines outside may not use others.
type outsideRequest struct {
	*http.Request
	body   []byte
	answer chan *http.Response
}

// ListenOutside opens an endpoint that ends with the test. It has to be called before the bubble starts: goroutines and channels belong to the bubble
// in which they are made.
func ListenOutside(t *testing.T) *Outside {
	t.Helper()
	o := &Outside{CA: filepath.Join(t.TempDir(), "ca.crt"), requests: make(chan outsideRequest), programs: make(chan func() error),
		ended: make(chan error)}
	// Certificates of a simulator in the bubble are those of another time.
	certified, err := server.New(server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.CA, certified.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	azure := httptest.NewUnstartedServer(http.HandlerFunc(o.serve))
	azure.TLS = certified.TLSConfig()
	azure.StartTLS()
	proxy := httptest.NewServer(certified.ProxyHandler(azure.Listener.Addr().String()))
	o.Endpoint = "https://" + azure.Listener.Addr().(*net.TCPAddr).String()
	o.Environment = []string{"HTTPS_PROXY=" + proxy.URL, "https_proxy=" + proxy.URL, "SSL_CERT_FILE=" + o.CA}
	go func() {
		for program := range o.programs {
			o.ended <- program()
		}
	}()
	t.Cleanup(func() {
		close(o.programs)
		azure.CloseClientConnections()
		azure.Close()
		proxy.CloseClientConnections()
		proxy.Close()
		if err := certified.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// serve hands a request to the scenario. Until the next call of RunOutside it waits.
func (o *Outside) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	request := outsideRequest{Request: r, body: body, answer: make(chan *http.Response, 1)}
	select {
	case o.requests <- request:
	case <-r.Context().Done():
		return
	}
	response := <-request.answer
	if response == nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = response.Body.Close() }()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body) // The program may have gone.
}

// RunOutside runs a function outside of the bubble, answers the requests to the endpoint until it returns, and returns its error. The function must not
// use the scenario. Each request takes a second of virtual time, and waits until Azure is idle.
func (s *Scenario) RunOutside(o *Outside, program func() error) error {
	s.T.Helper()
	o.programs <- program
	for {
		select {
		case request := <-o.requests:
			request.answer <- s.answerOutside(request)
		case err := <-o.ended:
			return err
		}
	}
}

// answerOutside returns the answer to a request, or nil if the connection is cut.
func (s *Scenario) answerOutside(r outsideRequest) *http.Response {
	s.T.Helper()
	// The context of the request ends outside of the bubble, where nothing may wake goroutines of the bubble.
	request, err := http.NewRequestWithContext(s.T.Context(), r.Method, "https://"+r.Host+r.URL.RequestURI(), bytes.NewReader(r.body))
	if err != nil {
		s.T.Error(err)
		return nil
	}
	request.Header = r.Header.Clone()
	WaitForSignal(nil, time.Second)
	s.WaitAzureIdle()
	response, err := s.serveAzure(request)
	if err != nil {
		return nil
	}
	return response
}
