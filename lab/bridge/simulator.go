package bridge

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// simulator is a client of azuresim's control API (/_sim/). Its methods block for one request.
type simulator struct {
	base  string
	token string
	http  *http.Client
}

func newSimulator(o Options) (*simulator, error) {
	s := &simulator{base: strings.TrimRight(o.Simulator, "/")}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.SimulatorCAFile != "" {
		pem, err := os.ReadFile(o.SimulatorCAFile)
		if err != nil {
			return nil, fmt.Errorf("read the simulator's CA: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read the simulator's CA: %s holds no PEM certificate", o.SimulatorCAFile)
		}
	}
	if o.ControlTokenFile != "" {
		token, err := os.ReadFile(o.ControlTokenFile)
		if err != nil {
			return nil, fmt.Errorf("read the control token: %w", err)
		}
		s.token = strings.TrimSpace(string(token))
	}
	// The control API is on loopback: a proxy of the environment must not take it.
	s.http = &http.Client{Transport: &http.Transport{TLSClientConfig: config, Proxy: nil, IdleConnTimeout: time.Minute}}
	return s, nil
}

// controlError is an answer of the control API other than 2xx.
type controlError struct {
	Status  int
	Step    string `json:"step"`
	Message string `json:"message"`
}

func (e *controlError) Error() string {
	if e.Step != "" {
		return fmt.Sprintf("%s: %s", e.Step, e.Message)
	}
	return fmt.Sprintf("simulator answered %d: %s", e.Status, e.Message)
}

func (s *simulator) callControl(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		req.Header.Set("X-Sim-Token", s.token)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode/100 != 2 {
		e := &controlError{Status: resp.StatusCode}
		if json.Unmarshal(data, e) != nil || e.Message == "" {
			e.Message = abbreviateText(strings.TrimSpace(string(data)), 200)
		}
		e.Status = resp.StatusCode
		return e
	}
	if out == nil || len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s %s: answer is not the JSON expected: %w", method, path, err)
	}
	return nil
}

// listGuests returns every guest once the revision is greater than after, or when wait is over.
func (s *simulator) listGuests(ctx context.Context, after int64, wait time.Duration) ([]guest, int64, error) {
	var page struct {
		Revision int64   `json:"revision"`
		Guests   []guest `json:"guests"`
	}
	err := s.pollList(ctx, "/_sim/guests", after, wait, &page)
	return page.Guests, page.Revision, err
}

// listClusters returns every managed cluster that has an API server, like guests.
func (s *simulator) listClusters(ctx context.Context, after int64, wait time.Duration) ([]managedCluster, int64, error) {
	var page struct {
		Revision int64            `json:"revision"`
		Clusters []managedCluster `json:"clusters"`
	}
	err := s.pollList(ctx, "/_sim/clusters", after, wait, &page)
	return page.Clusters, page.Revision, err
}

func (s *simulator) pollList(ctx context.Context, path string, after int64, wait time.Duration, page any) error {
	q := url.Values{"after": {strconv.FormatInt(after, 10)}, "wait": {strconv.Itoa(int(wait.Seconds()))}}
	ctx, cancel := context.WithTimeout(ctx, wait+15*time.Second)
	defer cancel()
	return s.callControl(ctx, http.MethodGet, path+"?"+q.Encode(), nil, page)
}

type listenerBody struct {
	VMID    string `json:"vmID"`
	Port    int32  `json:"port"`
	Address string `json:"address,omitempty"`
}

// addListener makes the simulator send traffic to a port of the VM's addresses to a loopback address.
func (s *simulator) addListener(ctx context.Context, vmID string, port int32, address string) error {
	return s.callControl(ctx, http.MethodPut, "/_sim/guests/listeners", listenerBody{vmID, port, address}, nil)
}

func (s *simulator) removeListener(ctx context.Context, vmID string, port int32) error {
	return s.callControl(ctx, http.MethodDelete, "/_sim/guests/listeners", listenerBody{VMID: vmID, Port: port}, nil)
}

type clusterListener struct {
	ID      string `json:"id"`
	Address string `json:"address,omitempty"`
}

// listenCluster makes the simulator send traffic to the API server of a managed cluster to a loopback address.
func (s *simulator) listenCluster(ctx context.Context, id, address string) error {
	return s.callControl(ctx, http.MethodPut, "/_sim/clusters/listeners", clusterListener{id, address}, nil)
}

func (s *simulator) unlistenCluster(ctx context.Context, id string) error {
	return s.callControl(ctx, http.MethodDelete, "/_sim/clusters/listeners", clusterListener{ID: id}, nil)
}

// reportStatus reports the state of a guest. Its message is a line of cloud-init on the serial console, too.
func (s *simulator) reportStatus(ctx context.Context, status guestStatus) error {
	return s.writeConsole(ctx, status, "cloud-init[812]: "+status.Message)
}

// writeConsole is reportStatus with another text for the serial console.
func (s *simulator) writeConsole(ctx context.Context, status guestStatus, text string) error {
	return s.callControl(ctx, http.MethodPut, "/_sim/guests/status", struct {
		guestStatus
		Console string `json:"console"`
	}{status, text}, nil)
}

// resolveDial resolves host:port through the simulated data plane to a loopback address. Its error names
// the hop that would drop the packet.
func (s *simulator) resolveDial(ctx context.Context, host, port string) (string, error) {
	var found struct {
		Address string `json:"address"`
	}
	q := url.Values{"host": {host}, "port": {port}}
	if err := s.callControl(ctx, http.MethodGet, "/_sim/dial?"+q.Encode(), nil, &found); err != nil {
		return "", err
	}
	return found.Address, nil
}

// readState returns the resources that exist in the simulator.
func (s *simulator) readState(ctx context.Context) (inventory, error) {
	var tree any
	if err := s.callControl(ctx, http.MethodGet, "/_sim/state", nil, &tree); err != nil {
		return nil, err
	}
	inv := inventory{}
	inv.collectIDs("", tree)
	return inv, nil
}
