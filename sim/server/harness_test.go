package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	sub    = server.DefaultSubscription
	groupA = "/subscriptions/" + sub + "/resourceGroups/rg"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// azure is a simulator on a virtual clock, with a TLS listener in front and SDK options that lead there.
type azure struct {
	t    *testing.T
	sim  *server.Server
	url  string
	http *http.Client
	// token is that of the first principal. Signing one takes longer than answering most requests.
	token string
}

func newAzure(t *testing.T, change ...func(*server.Options)) *azure {
	t.Helper()
	o := server.Options{Clock: store.NewVirtual(epoch), TimeScale: 1, Seed: 7}
	for _, f := range change {
		f(&o)
	}
	sim, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewTLSServer(sim.Handler())
	t.Cleanup(func() {
		ts.Close()
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	return &azure{t: t, sim: sim, url: ts.URL, http: ts.Client(), token: sim.Token("")}
}

// copyState returns a copy of a state directory as it is at this moment: what another simulator finds if the one that uses the directory
// is killed now.
func copyState(t *testing.T, dir string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

type fixedToken string

func (f fixedToken) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: string(f), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

func (a *azure) tokenCredential() azcore.TokenCredential { return fixedToken(a.token) }

func (a *azure) armOptions() *arm.ClientOptions {
	return &arm.ClientOptions{
		ClientOptions: policy.ClientOptions{
			Cloud: cloud.Configuration{ActiveDirectoryAuthorityHost: a.url + "/", Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
				cloud.ResourceManager: {Endpoint: a.url, Audience: "https://management.core.windows.net/"}}},
			Transport: a.http,
			Retry:     policy.RetryOptions{MaxRetries: -1},
		},
		DisableRPRegistration: true,
	}
}

// response is an answer, with its body decoded where that is an object.
type response struct {
	status int
	header http.Header
	raw    []byte
	body   map[string]any
}

// sendRequest sends one request; api-version 2024-05-01 is added unless the path has one.
func (a *azure) sendRequest(method, path string, body any, header ...string) response {
	a.t.Helper()
	if !strings.Contains(path, "api-version=") {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		path += sep + "api-version=2024-05-01"
	}
	url := path
	if !strings.HasPrefix(path, "https://") {
		url = a.url + path
	}
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			a.t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, url, in)
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := a.http.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	out := response{status: res.StatusCode, header: res.Header, raw: raw}
	if len(raw) > 0 && raw[0] == '{' {
		if err := json.Unmarshal(raw, &out.body); err != nil {
			a.t.Fatalf("%s %s: %v in %s", method, path, err, raw)
		}
	}
	return out
}

// mustSucceed sends a request that has to be answered with 2xx, and lets its operation end.
func (a *azure) mustSucceed(method, path string, body any) response {
	a.t.Helper()
	r := a.sendRequest(method, path, body)
	if r.status > 299 {
		a.t.Fatalf("%s %s = %d %v", method, path, r.status, r.body)
	}
	a.sim.Settle()
	return r
}

// errorCode returns the error code of an answer, inner codes after a slash.
func (r response) errorCode() string {
	e, _ := r.body["error"].(map[string]any)
	code, _ := e["code"].(string)
	if details, _ := e["details"].([]any); len(details) > 0 {
		inner, _ := details[0].(map[string]any)["code"].(string)
		code += "/" + inner
	}
	return code
}

func (r response) errorMessage() string {
	e, _ := r.body["error"].(map[string]any)
	msg, _ := e["message"].(string)
	return msg
}

// valueAt follows a dotted path with array indexes: "properties.subnets.0.name".
func (r response) valueAt(path string) any { return valueAt(r.body, path) }

func valueAt(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i := int(step[0] - '0')
			if i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func (a *azure) createGroup() {
	a.t.Helper()
	a.mustSucceed("PUT", groupA, obj{"location": "westus3"})
}

type obj = map[string]any

// pollUntilDone polls an SDK poller on the virtual clock until it ends.
func pollUntilDone[T any](a *azure, p *runtime.Poller[T], err error) (T, error) {
	a.t.Helper()
	var zero T
	if err != nil {
		return zero, err
	}
	for range 1000 {
		if p.Done() {
			return p.Result(context.Background())
		}
		if _, err := p.Poll(context.Background()); err != nil {
			return zero, err
		}
		a.sim.Advance(5 * time.Second)
	}
	a.t.Fatal("the operation did not end")
	return zero, nil
}

// codeOf returns the error code an SDK call failed with.
func codeOf(err error) string {
	var re *azcore.ResponseError
	if errors.As(err, &re) {
		return re.ErrorCode
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
