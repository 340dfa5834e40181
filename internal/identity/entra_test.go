package identity

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
)

// entra is a Microsoft Entra ID, and a metadata endpoint for managed identities, that gives a token for every request and records the
// request. It is a transport, so that it sees the hosts that clients want.
type entra struct {
	mu       sync.Mutex
	requests []tokenRequest
}

type tokenRequest struct {
	URL  string
	Form url.Values
}

func (e *entra) Do(request *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	e.serveToken(recorder, request)
	response := recorder.Result()
	response.Request = request
	return response, nil
}

func (e *entra) serveToken(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	base := "https://" + r.URL.Host
	switch {
	case strings.HasSuffix(r.URL.Path, "/discovery/instance"):
		tenant := base + "/tenant"
		fmt.Fprintf(w, `{"tenant_discovery_endpoint":%q,"metadata":[{"preferred_network":%q,"preferred_cache":%q,"aliases":[%q]}]}`,
			tenant+"/v2.0/.well-known/openid-configuration", r.URL.Host, r.URL.Host, r.URL.Host)
	case strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration"):
		tenant := base + "/" + strings.Split(r.URL.Path, "/")[1]
		fmt.Fprintf(w, `{"authorization_endpoint":%q,"token_endpoint":%q,"issuer":%q}`, tenant+"/authorize", tenant+"/oauth2/v2.0/token",
			tenant+"/v2.0")
	default:
		_ = r.ParseForm()
		e.mu.Lock()
		e.requests = append(e.requests, tokenRequest{URL: r.URL.Scheme + "://" + r.URL.Host + r.URL.Path, Form: r.Form})
		n := len(e.requests)
		e.mu.Unlock()
		fmt.Fprintf(w, `{"token_type":"Bearer","access_token":"token-%d","expires_in":"3600","expires_on":"4102444800","resource":"r"}`, n)
	}
}

// lastRequest returns the latest request for a token.
func (e *entra) lastRequest() tokenRequest {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.requests) == 0 {
		return tokenRequest{}
	}
	return e.requests[len(e.requests)-1]
}
