// Package simulator is the lab's client of the simulated Azure: its control API, and Resource Manager for the few
// resources that are there before any cluster is.
package simulator

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
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/sim/schedule"
)

// Client talks to the simulator of one lab.
type Client struct {
	settings *settings.Settings
	http     *http.Client
}

// Process is the name of the simulator's process.
const Process = "azuresim"

// UserAgent is how the lab calls itself in the simulator's log of requests.
const UserAgent = "lab"

// New trusts the simulator's CA, which exists once the simulator is ready. It is an error when the simulator does not run.
func New(s *settings.Settings) (*Client, error) {
	if err := (&process.Table{Dir: s.CloudLab().ProcessesPath()}).CheckRunning(Process); err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(s.SimulatorCA())
	if err != nil {
		return nil, fmt.Errorf("the simulator's CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s has no certificate", s.SimulatorCA())
	}
	return &Client{settings: s, http: &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
	}}, nil
}

// Guest is a virtual machine that runs, with the state that it reports.
type Guest struct {
	VMID              string `json:"vmID"`
	ComputerName      string `json:"computerName"`
	ResourceGroup     string `json:"resourceGroup"`
	PowerState        string `json:"powerState"`
	ProvisioningState string `json:"provisioningState"`
	NICs              []struct {
		LoadBalancerBackendPools []struct {
			ID string `json:"id"`
		} `json:"loadBalancerBackendPools"`
	} `json:"nics"`
	Status struct {
		// Phase is Booting, Running or Failed.
		Phase    string `json:"phase"`
		Message  string `json:"message"`
		NodeName string `json:"nodeName"`
	} `json:"status"`
}

// ListGuests returns the running virtual machines.
func (c *Client) ListGuests(ctx context.Context) ([]Guest, error) {
	var answer struct {
		Guests []Guest `json:"guests"`
	}
	err := c.callControl(ctx, "/_sim/guests", &answer)
	return answer.Guests, err
}

// ListOperations returns all long-running operations since the simulator's state began.
func (c *Client) ListOperations(ctx context.Context) ([]schedule.Operation, error) {
	var raw json.RawMessage
	if err := c.callControl(ctx, "/_sim/operations", &raw); err != nil {
		return nil, err
	}
	var list []schedule.Operation
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var answer struct {
		Operations []schedule.Operation `json:"operations"`
	}
	err := json.Unmarshal(raw, &answer)
	return answer.Operations, err
}

// ReadState returns every stored resource, by whatever grouping the simulator uses.
func (c *Client) ReadState(ctx context.Context) (any, error) {
	var state any
	err := c.callControl(ctx, "/_sim/state", &state)
	return state, err
}

// SetDemand sets how many nodes of a pool the workload of a managed cluster needs. An autoscaled pool grows or shrinks
// to that size, within its bounds.
func (c *Client) SetDemand(ctx context.Context, cluster, pool string, nodes int) error {
	raw, err := json.Marshal(map[string]any{"id": cluster, "pool": pool, "nodes": nodes})
	if err != nil {
		return err
	}
	return c.sendRequest(ctx, http.MethodPost, "/_sim/clusters/demand", bytes.NewReader(raw), nil)
}

// AddFault adds a rule of what happens to requests or operations, as the control API takes it.
func (c *Client) AddFault(ctx context.Context, rule map[string]any) error {
	raw, err := json.Marshal(rule)
	if err != nil {
		return err
	}
	return c.sendRequest(ctx, http.MethodPost, "/_sim/faults", bytes.NewReader(raw), nil)
}

// ClearFaults removes all rules, and ends the operations that are stuck.
func (c *Client) ClearFaults(ctx context.Context) error {
	return c.sendRequest(ctx, http.MethodDelete, "/_sim/faults", nil, nil)
}

// TrustIssuer registers the keys that an issuer of federated tokens publishes.
func (c *Client) TrustIssuer(ctx context.Context, issuer string, keys []map[string]string) error {
	return c.registerPath(ctx, "/_sim/issuers", map[string]any{"issuer": issuer, "keys": keys})
}

// TrustSubjects has the lab's application take tokens of the issuer for these subjects.
func (c *Client) TrustSubjects(ctx context.Context, issuer string, subjects []string) error {
	credentials := []any{}
	for _, subject := range subjects {
		credentials = append(credentials, map[string]any{"issuer": issuer, "subject": subject})
	}
	return c.registerPath(ctx, "/_sim/applications", map[string]any{"clientID": settings.ClientID, "federatedCredentials": credentials})
}

func (c *Client) registerPath(ctx context.Context, path string, body map[string]any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.sendRequest(ctx, http.MethodPut, path, bytes.NewReader(raw), nil)
}

func (c *Client) callControl(ctx context.Context, path string, into any) error {
	return c.sendRequest(ctx, http.MethodGet, path, nil, into)
}

func (c *Client) sendRequest(ctx context.Context, method, path string, body io.Reader, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.settings.SimulatorURL()+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("X-Sim-Token", c.settings.ControlToken)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return c.doRequest(request, into)
}

// PutResource creates a resource whose PUT is not a long-running operation.
func (c *Client) PutResource(ctx context.Context, id, apiVersion string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.resourceManager(ctx, http.MethodPut, id, apiVersion, bytes.NewReader(raw))
}

// MergeTags gives a resource tags beside those that it has, as az tag update does.
func (c *Client) MergeTags(ctx context.Context, id string, tags map[string]string) error {
	raw, err := json.Marshal(map[string]any{"operation": "Merge", "properties": map[string]any{"tags": tags}})
	if err != nil {
		return err
	}
	return c.resourceManager(ctx, http.MethodPatch, id+"/providers/Microsoft.Resources/tags/default", "2021-04-01", bytes.NewReader(raw))
}

// RunAction begins an action of a resource, such as stop of a managed cluster. It does not wait until the action ends.
func (c *Client) RunAction(ctx context.Context, id, action, apiVersion string) error {
	return c.resourceManager(ctx, http.MethodPost, id+"/"+action, apiVersion, nil)
}

func (c *Client) resourceManager(ctx context.Context, method, path, apiVersion string, body io.Reader) error {
	token, err := c.getToken(ctx)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.settings.SimulatorURL()+path+"?api-version="+apiVersion, body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", UserAgent)
	return c.doRequest(request, nil)
}

func (c *Client) getToken(ctx context.Context) (string, error) {
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {settings.ClientID}, "client_secret": {c.settings.ClientSecret},
		"scope": {"https://management.core.windows.net//.default"},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		c.settings.SimulatorURL()+"/"+settings.TenantID+"/oauth2/v2.0/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	err = c.doRequest(request, &answer)
	return answer.AccessToken, err
}

func (c *Client) doRequest(request *http.Request, into any) error {
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", request.Method, request.URL.Path, response.Status, strings.TrimSpace(string(raw)))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}
