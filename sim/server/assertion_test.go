package server_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// readKeyPair reads a certificate and its key as clients have them.
func readKeyPair(t *testing.T) (text []byte, certificate *x509.Certificate, key *rsa.PrivateKey) {
	t.Helper()
	text, keyText := azuretest.NewCertificate(t)
	block, _ := pem.Decode(text)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	block, _ = pem.Decode(keyText)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return text, certificate, parsed.(*rsa.PrivateKey)
}

// signToken returns a token with these claims, signed by the algorithm RS256.
func signToken(t *testing.T, key *rsa.PrivateKey, header, claims obj) string {
	t.Helper()
	part := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	header["alg"], header["typ"] = "RS256", "JWT"
	text := part(header) + "." + part(claims)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

// keySet returns the key set that an issuer with the key publishes.
func keySet(t *testing.T, key *rsa.PublicKey) []byte {
	t.Helper()
	enc := base64.RawURLEncoding.EncodeToString
	raw, err := json.Marshal(obj{"keys": []any{obj{"kty": "RSA", "kid": "1", "n": enc(key.N.Bytes()),
		"e": enc(big.NewInt(int64(key.E)).Bytes())}}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// signIn asks for a token and returns the code of the refusal, 0 when there is none.
func (a *azure) signIn(form url.Values) (code int, name, token string) {
	a.t.Helper()
	if !form.Has("grant_type") {
		form.Set("grant_type", "client_credentials")
	}
	if !form.Has("scope") {
		form.Set("scope", "https://management.azure.com/.default openid")
	}
	if !form.Has("client_id") {
		form.Set("client_id", server.DefaultClientID)
	}
	res, err := a.http.PostForm(a.url+"/"+server.DefaultTenant+"/oauth2/v2.0/token", form)
	if err != nil {
		a.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Codes []int  `json:"error_codes"`
		Error string `json:"error"`
		Words string `json:"error_description"`
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		a.t.Fatal(err)
	}
	if res.StatusCode == http.StatusOK {
		return 0, "", answer.Token
	}
	if len(answer.Codes) != 1 {
		a.t.Fatalf("no code: %+v", answer)
	}
	return answer.Codes[0], answer.Error, ""
}

func assertionForm(token string) url.Values {
	return url.Values{"client_assertion": {token}, "client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}}
}

func TestClientCertificate(t *testing.T) {
	a := newAzure(t)
	text, certificate, key := readKeyPair(t)
	_, stranger, strangers := readKeyPair(t)
	cred, err := azidentity.NewClientCertificateCredential(server.DefaultTenant, server.DefaultClientID, []*x509.Certificate{certificate}, key,
		&azidentity.ClientCertificateCredentialOptions{ClientOptions: a.clientOptions(), DisableInstanceDiscovery: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.checkTokenAccepted(cred); err == nil || !strings.Contains(err.Error(), "AADSTS700027") {
		t.Errorf("a certificate that is not registered: %v", err)
	}
	if err := a.sim.TrustCertificate("22222222-2222-2222-2222-222222222222", text); err == nil {
		t.Error("a certificate was registered with an application that does not exist")
	}
	if err := a.sim.TrustCertificate(server.DefaultClientID, text); err != nil {
		t.Fatal(err)
	}
	if err := a.checkTokenAccepted(cred); err != nil {
		t.Error(err)
	}
	thumb := func(c *x509.Certificate) string {
		sum := sha256.Sum256(c.Raw)
		return base64.RawURLEncoding.EncodeToString(sum[:])
	}
	endpoint := a.url + "/" + server.DefaultTenant + "/oauth2/v2.0/token"
	for name, tc := range map[string]struct {
		reason string
		by     *rsa.PrivateKey
		thumb  string
		change obj
		want   int
	}{
		"good": {"all is as registered", key, thumb(certificate), nil, 0},
		"issuer": {"the audience may be the tenant's issuer", key, thumb(certificate),
			obj{"aud": "https://login.microsoftonline.com/" + server.DefaultTenant + "/v2.0"}, 0},
		"unknown":       {"the certificate belongs to another application", strangers, thumb(stranger), nil, 700027},
		"wrong key":     {"every client can read the thumbprint", strangers, thumb(certificate), nil, 700027},
		"no thumbprint": {"Entra ID finds the certificate by it", key, "", nil, 700027},
		"audience":      {"made for another service", key, thumb(certificate), obj{"aud": "https://other.example/token"}, 700023},
		"other tenant": {"made for another tenant", key, thumb(certificate),
			obj{"aud": "https://login.microsoftonline.com/33333333-3333-3333-3333-333333333333/v2.0"}, 700023},
		"expired": {"it was stolen a while ago", key, thumb(certificate), obj{"exp": time.Now().Add(-time.Minute).Unix()}, 700024},
		"not yet": {"the clock is wrong", key, thumb(certificate), obj{"nbf": time.Now().Add(time.Hour).Unix()}, 700024},
		"endless": {"an assertion without an end", key, thumb(certificate), obj{"exp": 0}, 700024},
	} {
		t.Run(name, func(t *testing.T) {
			claims := obj{"iss": server.DefaultClientID, "sub": server.DefaultClientID, "aud": endpoint, "exp": time.Now().Add(time.Minute).Unix(),
				"nbf": time.Now().Unix()}
			for k, v := range tc.change {
				claims[k] = v
			}
			if code, _, _ := a.signIn(assertionForm(signToken(t, tc.by, obj{"x5t#S256": tc.thumb}, claims))); code != tc.want {
				t.Errorf("AADSTS%d, want %d: %s", code, tc.want, tc.reason)
			}
		})
	}
}

const (
	issuer  = "https://issuer.example"
	subject = "system:serviceaccount:capz-system:capz-manager"
)

func TestFederatedTokens(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	_, _, key := readKeyPair(t)
	_, _, other := readKeyPair(t)
	identity := groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/identity"
	made := a.mustSucceed("PUT", identity, obj{"location": "westus3"})
	client, _ := made.valueAt("properties.clientId").(string)
	if lower, _ := made.valueAt("id").(string); made.status != 201 || !strings.Contains(lower, "/resourcegroups/") || client == "" ||
		made.valueAt("properties.principalId") == nil {
		t.Errorf("identity: %d %v", made.status, made.body)
	}
	ask := func(client string, by *rsa.PrivateKey, change obj) int {
		t.Helper()
		claims := obj{"iss": issuer, "sub": subject, "aud": []any{"api://AzureADTokenExchange"}, "exp": time.Now().Add(time.Hour).Unix()}
		for k, v := range change {
			claims[k] = v
		}
		form := assertionForm(signToken(t, by, obj{}, claims))
		form.Set("client_id", client)
		code, _, token := a.signIn(form)
		if code == 0 {
			if err := a.checkTokenAccepted(fixedToken(token)); err != nil {
				t.Error(err)
			}
		}
		return code
	}
	if code := ask(client, key, nil); code != 70025 {
		t.Errorf("before there is a credential: %d", code)
	}
	credential := obj{"properties": obj{"issuer": issuer, "subject": subject, "audiences": []any{"api://AzureADTokenExchange"}}}
	a.mustSucceed("PUT", identity+"/federatedIdentityCredentials/capz", credential)
	if r := a.sendRequest("PUT", identity+"/federatedIdentityCredentials/again", credential); r.status != 409 {
		t.Errorf("the same issuer and subject twice: %d", r.status)
	}
	if code := ask(client, key, nil); code != 90061 {
		t.Errorf("an issuer that cannot be reached: %d", code)
	}
	if err := a.sim.TrustIssuer(issuer, keySet(t, &key.PublicKey)); err != nil {
		t.Fatal(err)
	}
	if err := a.sim.TrustSubject(server.DefaultClientID, issuer, subject); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		by     *rsa.PrivateKey
		change obj
		want   int
	}{
		"good":          {key, nil, 0},
		"subject":       {key, obj{"sub": "system:serviceaccount:other:other"}, 700213},
		"issuer":        {key, obj{"iss": "https://other.example"}, 700211},
		"case":          {key, obj{"sub": strings.ToUpper(subject)}, 700213},
		"audience":      {key, obj{"aud": "https://kubernetes.default.svc"}, 700212},
		"own signature": {other, nil, 700027},
		"expired":       {key, obj{"exp": time.Now().Add(-time.Hour).Unix()}, 700024},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []string{client, server.DefaultClientID} {
				if code := ask(c, tc.by, tc.change); code != tc.want {
					t.Errorf("%s: AADSTS%d, want %d", c, code, tc.want)
				}
			}
		})
	}
	if code, name, _ := a.signIn(assertionForm("not.a.token")); code != 50027 || name != "invalid_request" {
		t.Errorf("no token at all: %d %s", code, name)
	}
	if r := a.mustSucceed("DELETE", identity, nil); r.status != 200 {
		t.Errorf("DELETE: %d", r.status)
	}
	if code := ask(client, key, nil); code != 700016 {
		t.Errorf("an identity that is gone: %d", code)
	}
}

// TestRegistrationsByTheControlAPI: a simulator that runs as a program is registered with over HTTP instead of Go,
// and can be restarted.
func TestRegistrationsByTheControlAPI(t *testing.T) {
	dir := t.TempDir()
	a := newAzure(t, func(o *server.Options) { o.StateDir = dir })
	text, certificate, key := readKeyPair(t)
	control := func(path, body string, want int) {
		t.Helper()
		req, err := http.NewRequest("PUT", a.url+"/_sim/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := a.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s %s: %d, want %d", path, body, res.StatusCode, want)
		}
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		t.Fatal(err)
	}
	control("applications",
		`{"clientID":"`+server.DefaultClientID+`","certificates":[`+string(
			quoted)+`],"federatedCredentials":[{"issuer":"`+issuer+`","subject":"`+subject+`"}]}`, 204)
	control("issuers", `{"issuer":"`+issuer+`",`+strings.TrimPrefix(string(keySet(t, &key.PublicKey)), "{"), 204)
	control("applications", `{"clientID":"nobody"}`, 400)
	control("applications", `{"clientID":"`+server.DefaultClientID+`","certificates":["none"]}`, 400)
	control("issuers", `{"issuer":"`+issuer+`"}`, 400)
	control("issuers", `{"issuer":"`+issuer+`","keys":[{"kty":"oct"}]}`, 400)
	control("issuers", `{"issuer":"`+issuer+`","keys":[{"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"}]}`, 400)

	thumb := sha256.Sum256(certificate.Raw)
	dir = copyState(t, dir)
	a = newAzure(t, func(o *server.Options) { o.StateDir = dir })
	end := time.Now().Add(time.Minute).Unix()
	for name, token := range map[string]string{
		"certificate": signToken(t, key, obj{"x5t#S256": base64.RawURLEncoding.EncodeToString(thumb[:])},
			obj{"iss": server.DefaultClientID, "sub": server.DefaultClientID,
				"aud": a.url + "/" + server.DefaultTenant + "/oauth2/v2.0/token", "exp": end}),
		"federated": signToken(t, key, obj{}, obj{"iss": issuer, "sub": subject, "aud": "api://AzureADTokenExchange", "exp": end}),
	} {
		if code, _, _ := a.signIn(assertionForm(token)); code != 0 {
			t.Errorf("%s: AADSTS%d", name, code)
		}
	}
}

func TestScopes(t *testing.T) {
	a := newAzure(t)
	for scope, want := range map[string]int{
		"https://management.azure.com/.default":           0,
		"https://management.core.windows.net//.default":   0,
		"https://graph.microsoft.com/.default":            0,
		"https://vault.azure.net/.default openid":         0,
		"api://" + server.DefaultClientID + "/.default":   0,
		"6dae42f8-4368-4678-94ff-3960e28e3630/.default":   0,
		"https://management.example/.default":             500011,
		"https://management.azure.com/user_impersonation": 1002012,
		"": 900144,
	} {
		if code, _, _ := a.signIn(url.Values{"scope": {scope}, "client_secret": {server.DefaultSecret}}); code != want {
			t.Errorf("scope %q: AADSTS%d, want %d", scope, code, want)
		}
	}
}

// TestAudienceOfResourceManager: a token for another service is none for Resource Manager, however good it is.
func TestAudienceOfResourceManager(t *testing.T) {
	dir := t.TempDir()
	a := newAzure(t, func(o *server.Options) { o.StateDir = dir })
	for resource, want := range map[string]string{
		"https://management.azure.com":         "",
		"https://management.azure.com/":        "",
		"https://management.core.windows.net/": "",
		"https://graph.microsoft.com":          "InvalidAuthenticationTokenAudience",
		"https://vault.azure.net":              "InvalidAuthenticationTokenAudience",
	} {
		code, _, token := a.signIn(url.Values{"scope": {resource + "/.default"}, "client_secret": {server.DefaultSecret}})
		if code != 0 {
			t.Fatalf("%s: AADSTS%d", resource, code)
		}
		if err := a.checkTokenAccepted(fixedToken(token)); codeOf(err) != want {
			t.Errorf("a token for %s: %v, want %q", resource, err, want)
		}
	}
	for name, token := range map[string]string{"text": "abc", "foreign": func() string {
		_, _, key := readKeyPair(t)
		return signToken(t, key, obj{},
			obj{"aud": "https://management.azure.com", "tid": server.DefaultTenant, "exp": time.Now().Add(time.Hour).Unix()})
	}()} {
		if err := a.checkTokenAccepted(fixedToken(token)); codeOf(err) != "InvalidAuthenticationToken" {
			t.Errorf("%s: %v", name, err)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "entra.key"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	own, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		claims obj
		want   string
	}{
		"expired": {obj{"exp": time.Now().Add(-time.Minute).Unix()}, "ExpiredAuthenticationToken"},
		"tenant":  {obj{"tid": "33333333-3333-3333-3333-333333333333"}, "InvalidAuthenticationTokenTenant"},
		"good":    {nil, ""},
	} {
		claims := obj{"aud": "https://management.azure.com", "tid": server.DefaultTenant, "exp": time.Now().Add(time.Hour).Unix()}
		for k, v := range tc.claims {
			claims[k] = v
		}
		if err := a.checkTokenAccepted(fixedToken(signToken(t, own, obj{}, claims))); codeOf(err) != tc.want {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func TestServicePrincipalsOfGraph(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	a.mustSucceed("PUT", groupA+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes", obj{"location": "westus3"})
	_, _, token := a.signIn(url.Values{"scope": {"https://graph.microsoft.com/.default"}, "client_secret": {server.DefaultSecret}})
	get := func(path, token string) (int, obj) {
		t.Helper()
		req, err := http.NewRequest("GET", a.url+"/v1.0/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := a.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var out obj
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, out
	}
	find := func(filter string) []any {
		t.Helper()
		status, out := get("servicePrincipals?$filter="+url.QueryEscape(filter), token)
		if status != 200 {
			t.Fatalf("%s: %d %v", filter, status, out)
		}
		list, _ := out["value"].([]any)
		return list
	}
	found := find("appId eq '" + server.DefaultClientID + "'")
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	id, _ := found[0].(map[string]any)["id"].(string)
	for path, want := range map[string]int{
		"servicePrincipals/" + id:                                       200,
		"servicePrincipals(appId='" + server.DefaultClientID + "')":     200,
		"servicePrincipals/" + server.DefaultClientID:                   404,
		"servicePrincipals?$filter=" + url.QueryEscape("owner eq 'me'"): 400,
	} {
		if status, out := get(path, token); status != want || status == 200 && out["appId"] != server.DefaultClientID {
			t.Errorf("%s: %d %v, want %d", path, status, out, want)
		}
	}
	for filter, want := range map[string]int{
		"servicePrincipalNames/any(c:c eq '" + server.DefaultClientID + "')": 1, "displayName eq 'nodes'": 1, "startswith(displayName,'no')": 1,
		"id eq '" + id + "'": 1, "appId eq 'nobody'": 0,
	} {
		if found := find(filter); len(found) != want {
			t.Errorf("%s: %v, want %d", filter, found, want)
		}
	}
	if status, _ := get("servicePrincipals", a.sim.Token("")); status != 401 {
		t.Errorf("a token for Resource Manager: %d", status)
	}
}
