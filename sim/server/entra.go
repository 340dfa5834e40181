package server

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// tokenLifetime is on the wall clock even when the simulator's clock is virtual: clients judge them by their own clock.
const tokenLifetime = 24 * time.Hour

const keyID = "simulated-entra-1"

// entra is the simulated Microsoft Entra ID: it knows the principals, issues tokens and checks them.
type entra struct {
	s   *Server
	key *rsa.PrivateKey
}

// processKey is created once per process for simulators without a state directory, because its creation takes long.
var processKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func newEntra(s *Server) (*entra, error) {
	if s.opts.StateDir == "" {
		key, err := processKey()
		return &entra{s: s, key: key}, err
	}
	path := filepath.Join(s.opts.StateDir, "entra.key")
	if raw, err := os.ReadFile(path); err == nil {
		block, _ := pem.Decode(raw)
		if block == nil {
			return nil, fmt.Errorf("%s holds no key; remove it to have a new one made", path)
		}
		key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
		return &entra{s: s, key: key}, err
	}
	key, err := processKey()
	if err != nil {
		return nil, err
	}
	raw := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return &entra{s: s, key: key}, files.Replace(path, raw, 0o600)
}

type claims struct {
	Aud   any    `json:"aud"`
	Iss   string `json:"iss"`
	Iat   int64  `json:"iat"`
	Nbf   int64  `json:"nbf"`
	Exp   int64  `json:"exp"`
	AppID string `json:"appid,omitempty"`
	OID   string `json:"oid,omitempty"`
	Sub   string `json:"sub"`
	TID   string `json:"tid,omitempty"`
	Ver   string `json:"ver,omitempty"`
	MIRID string `json:"xms_mirid,omitempty"`
	// UTI identifies the token: https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference
	UTI   string `json:"uti,omitempty"`
	IDTyp string `json:"idtyp,omitempty"`
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// issueToken signs an access token. resourceID is set for managed identities.
func (e *entra) issueToken(clientID, audience, resourceID string) string {
	now := time.Now()
	oid := e.objectID(clientID)
	raw, _ := json.Marshal(claims{Aud: audience, Iss: "https://sts.windows.net/" + e.s.opts.Tenant + "/", Iat: now.Unix(),
		Nbf: now.Unix() - 300, Exp: now.Add(tokenLifetime).Unix(),
		AppID: clientID, OID: oid, Sub: oid, TID: e.s.opts.Tenant, Ver: "1.0", MIRID: resourceID, UTI: e.s.newTokenID(), IDTyp: "app"})
	return e.signPayload(raw)
}

func (e *entra) signPayload(payload []byte) string {
	head, _ := json.Marshal(map[string]string{"typ": "JWT", "alg": "RS256", "kid": keyID})
	signed := b64(head) + "." + b64(payload)
	sum := sha256.Sum256([]byte(signed))
	sig, err := rsa.SignPKCS1v15(rand.Reader, e.key, crypto.SHA256, sum[:])
	if err != nil {
		return ""
	}
	return signed + "." + b64(sig)
}

// objectID returns the service principal of a client ID: as configured, that of a stored identity, or derived.
func (e *entra) objectID(clientID string) string {
	configured := false
	for _, p := range e.s.opts.Principals {
		if strings.EqualFold(p.ClientID, clientID) {
			if configured = true; p.ObjectID != "" {
				return p.ObjectID
			}
		}
	}
	if !configured {
		if a := e.listRegistrations().Applications[strings.ToLower(clientID)]; a.Created != nil && a.Created.Principal != "" {
			return a.Created.Principal
		}
	}
	if r := e.findIdentity(func(r *store.Resource) bool {
		return strings.EqualFold(body.String(r.Body, "properties.clientId"), clientID)
	}); r != nil {
		return body.String(r.Body, "properties.principalId")
	}
	return derivedObjectID(clientID)
}

// derivedObjectID returns the object ID of an application for which none was configured.
func derivedObjectID(clientID string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(clientID)))
	return fmt.Sprintf("%x-%x-4%03x-8%03x-%x", sum[0:4], sum[4:6], int(sum[6])<<4&0xfff, int(sum[7])<<4&0xfff, sum[10:16])
}

// findIdentity finds a stored user-assigned identity.
func (e *entra) findIdentity(match func(r *store.Resource) bool) *store.Resource {
	var found *store.Resource
	e.s.store.View(func(tx *store.Tx) {
		for _, r := range tx.List("Microsoft.ManagedIdentity/userAssignedIdentities", "") {
			if match(r) {
				found = r
				return
			}
		}
	})
	return found
}

// verifyToken verifies a token of our own.
func (e *entra) verifyToken(token string) (claims, bool) {
	j, ok := parseJWT(token)
	return j.claims, ok && j.header.Alg == "RS256" && j.signedBy(&e.key.PublicKey)
}

// serveTokens answers requests for the token service. It returns false if the path is not one of its own.
func (e *entra) serveTokens(w http.ResponseWriter, r *http.Request) bool {
	segs := splitSegments(r.URL.Path)
	path := strings.ToLower(strings.Join(segs, "/"))
	base := "https://" + r.Host
	switch {
	case path == "common/discovery/instance":
		e.serveDiscovery(w, r)
	case strings.HasSuffix(path, ".well-known/openid-configuration") && len(segs) >= 3:
		if !e.knownTenant(segs[0]) {
			e.writeTokenError(w, 400, 90002, "invalid_tenant",
				fmt.Sprintf("Tenant '%s' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.",
					segs[0]))
			return true
		}
		tenant := base + "/" + segs[0]
		writeJSON(w, 200, body.Object{
			"authorization_endpoint": tenant + "/oauth2/v2.0/authorize", "token_endpoint": tenant + "/oauth2/v2.0/token", "issuer": tenant + "/v2.0",
			"jwks_uri": tenant + "/discovery/v2.0/keys", "device_authorization_endpoint": tenant + "/oauth2/v2.0/devicecode",
			"token_endpoint_auth_methods_supported": []string{"client_secret_post", "private_key_jwt", "client_secret_basic"},
			"response_types_supported":              []string{"code", "id_token"}, "subject_types_supported": []string{"pairwise"},
			"id_token_signing_alg_values_supported": []string{"RS256"}, "tenant_region_scope": "NA", "cloud_instance_name": "microsoftonline.com",
		})
	case strings.HasSuffix(path, "discovery/v2.0/keys") || strings.HasSuffix(path, "discovery/keys"):
		writeJSON(w, 200, body.Object{"keys": []any{body.Object{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": keyID,
			"n": b64(e.key.N.Bytes()), "e": b64(big.NewInt(int64(e.key.E)).Bytes())}}})
	case len(segs) >= 3 && (strings.HasSuffix(path, "/oauth2/v2.0/token") || strings.HasSuffix(path, "/oauth2/token")) &&
		r.Method == http.MethodPost:
		e.serveToken(w, r, segs[0])
	default:
		return false
	}
	return true
}

func (e *entra) knownTenant(name string) bool {
	return strings.EqualFold(name, e.s.opts.Tenant) || name == "common" || name == "organizations"
}

func (e *entra) serveDiscovery(w http.ResponseWriter, r *http.Request) {
	endpoint := r.URL.Query().Get("authorization_endpoint")
	rest, ok := strings.CutPrefix(endpoint, "https://")
	host, path, _ := strings.Cut(rest, "/")
	tenant, _, _ := strings.Cut(path, "/")
	if !ok || tenant == "" {
		e.writeTokenError(w, 400, 50049, "invalid_instance", "Unknown or invalid instance.")
		return
	}
	writeJSON(w, 200, body.Object{
		"tenant_discovery_endpoint": "https://" + host + "/" + tenant + "/v2.0/.well-known/openid-configuration", "api-version": "1.1",
		"metadata": []any{body.Object{"preferred_network": "login.microsoftonline.com", "preferred_cache": "login.windows.net",
			"aliases": []string{"login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"}}},
	})
}

func (e *entra) serveToken(w http.ResponseWriter, r *http.Request, tenant string) {
	if err := r.ParseForm(); err != nil {
		e.writeTokenError(w, 400, 900144, "invalid_request", "The request body could not be read.")
		return
	}
	f := r.PostForm
	client := f.Get("client_id")
	if !e.knownTenant(tenant) {
		e.writeTokenError(w, 400, 90002, "invalid_request",
			fmt.Sprintf("Tenant '%s' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.", tenant))
		return
	}
	if f.Get("grant_type") != "client_credentials" {
		e.writeTokenError(w, 400, 70003, "unsupported_grant_type",
			fmt.Sprintf("The app requested an unsupported grant type '%s'.", f.Get("grant_type")))
		return
	}
	if !strings.EqualFold(tenant, e.s.opts.Tenant) {
		// An application that acts for itself names its tenant: it has no user with a tenant.
		// Source: https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow (tenant is a GUID or domain name);
		// the words are those of https://github.com/AzureAD/microsoft-identity-web/issues/462, whose TenantId is common.
		e.writeTokenError(w, 400, 50059, "invalid_request",
			"No tenant-identifying information found in either the request or implied by any provided credentials.")
		return
	}
	audience, refused := e.requestedAudience(f.Get("scope"), f.Get("resource"), tenant)
	if refused != nil {
		e.writeTokenError(w, 400, refused.code, refused.name, refused.message)
		return
	}
	known, accepted := false, false
	for _, p := range e.listPrincipals() {
		if strings.EqualFold(p.ClientID, client) {
			known = true
			accepted = accepted || p.Secret != "" && f.Get("client_secret") == p.Secret
		}
	}
	identity := e.findIdentity(func(r *store.Resource) bool {
		return strings.EqualFold(body.String(r.Body, "properties.clientId"), client)
	})
	if !known && identity == nil {
		e.writeTokenError(w, 400, 700016, "unauthorized_client",
			fmt.Sprintf("Application with identifier '%s' was not found in the directory '%s'. This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant.", client, tenant))
		return
	}
	if f.Get("client_assertion") != "" {
		if refused := e.checkAssertion(f.Get("client_assertion"), f.Get("client_assertion_type"), client, r.Host, identity); refused != nil {
			e.writeTokenError(w, 401, refused.code, refused.name, refused.message)
			return
		}
	} else if !accepted {
		e.writeTokenError(w, 401, 7000215, "invalid_client",
			fmt.Sprintf("Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '%s'.", client))
		return
	}
	mirid := ""
	if identity != nil {
		mirid = identity.ID
	}
	writeJSON(w, 200, body.Object{"token_type": "Bearer", "expires_in": int(tokenLifetime.Seconds()) - 1,
		"ext_expires_in": int(tokenLifetime.Seconds()) - 1, "access_token": e.issueToken(client, audience, mirid)})
}

func (e *entra) writeTokenError(w http.ResponseWriter, status, code int, name, msg string) {
	now := time.Now().UTC().Format("2006-01-02 15:04:05Z")
	id := e.s.newGUID()
	writeJSON(w, status, body.Object{"error": name,
		"error_description": fmt.Sprintf("AADSTS%d: %s Trace ID: %s Correlation ID: %s Timestamp: %s", code, msg, id, id, now),
		"error_codes":       []any{code}, "timestamp": now, "trace_id": id, "correlation_id": id,
		"error_uri": fmt.Sprintf("https://login.microsoftonline.com/error?code=%d", code)})
}
