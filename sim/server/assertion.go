package server

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/msi"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// refusal is an answer of the token service with a code of its reference and the OAuth error it comes with.
// Source of codes: https://learn.microsoft.com/entra/identity-platform/reference-error-codes
type refusal struct {
	code          int
	name, message string
}

func refusedClient(code int, format string, args ...any) *refusal {
	return &refusal{code: code, name: "invalid_client", message: fmt.Sprintf(format, args...)}
}

const assertionKind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

// Words that several refusals have.
const (
	aboutCertificates = "Review the documentation at https://learn.microsoft.com/entra/identity-platform/certificate-credentials ."
	aboutFederation   = "Check your federated identity credential Subject, Audience and Issuer against the presented assertion. https://learn.microsoft.com/entra/workload-id/workload-identity-federation"
)

// checkAssertion judges a signed assertion: that of a certificate names the client as issuer and subject, others are federated tokens.
func (e *entra) checkAssertion(token, kind, client, host string, identity *store.Resource) *refusal {
	j, ok := parseJWT(token)
	if !ok || kind != assertionKind {
		return &refusal{50027, "invalid_request", "JWT token is invalid or malformed."}
	}
	now, c := time.Now(), j.claims
	if now.After(time.Unix(c.Exp, 0)) || now.Add(clockSkew).Before(time.Unix(c.Nbf, 0)) {
		return refusedClient(700024,
			"Client assertion is not within its valid time range. Current time: %s, assertion valid from %s, expiry time of assertion %s. %s",
			now.UTC().Format(time.RFC3339), time.Unix(c.Nbf, 0).UTC().Format(time.RFC3339), time.Unix(c.Exp, 0).UTC().Format(time.RFC3339),
			aboutCertificates)
	}
	known := e.listRegistrations()
	if strings.EqualFold(c.Iss, client) && strings.EqualFold(c.Sub, client) {
		return e.ofCertificate(j, client, host, known.certificatesOf(client))
	}
	trusted := known.Applications[strings.ToLower(client)].Federated
	if identity != nil {
		trusted = e.federatedOf(identity)
	}
	if refused := findFederated(c, client, trusted); refused != nil {
		return refused
	}
	keys := known.keysOf(c.Iss)
	if len(keys) == 0 {
		// There is no answer at the issuer's URL.
		//
		// Source: https://azure.github.io/azure-workload-identity/docs/troubleshooting.html
		return &refusal{90061, "invalid_request", "Request to External OIDC endpoint failed."}
	}
	for _, key := range keys {
		if j.signedBy(key) {
			return nil
		}
	}
	return refusedClient(700027, "Client assertion failed signature validation. [Reason - The key was not found.]")
}

// clockSkew is how far the clock of the assertion's signer may be ahead.
const clockSkew = 5 * time.Minute

// ofCertificate checks an assertion that a certificate of the application should have signed.
//
// Source: https://learn.microsoft.com/entra/identity-platform/certificate-credentials
func (e *entra) ofCertificate(j jwt, client, host string, certificates []*x509.Certificate) *refusal {
	named := certificateThumbprint(j)
	i := slices.IndexFunc(certificates, func(c *x509.Certificate) bool {
		short, long := sha1.Sum(c.Raw), sha256.Sum256(c.Raw)
		return j.header.X5TS256 != "" && bytes.Equal(named, long[:]) || j.header.X5TS256 == "" && bytes.Equal(named, short[:])
	})
	if i < 0 {
		return refusedClient(700027,
			"The certificate with identifier used to sign the client assertion is not registered on application. [Reason - The key was not found., Thumbprint of key used by client: '%X', Please visit the Azure Portal, Graph Explorer or directly use MS Graph to see configured keys for app Id '%s'.]",
			named, client)
	}
	if now := time.Now(); now.Before(certificates[i].NotBefore) || now.After(certificates[i].NotAfter) {
		return refusedClient(700027,
			"Client assertion failed signature validation. [Reason - The key used is expired., Thumbprint of key used by client: '%X'.]", named)
	}
	if !j.signedBy(certificates[i].PublicKey) {
		return refusedClient(700027, "Client assertion failed signature validation.")
	}
	if !slices.ContainsFunc(j.claims.listAudiences(), func(aud string) bool { return e.isItself(aud, host) }) {
		return refusedClient(700023, "Client assertion audience claim does not match Realm issuer. %s", aboutCertificates)
	}
	return nil
}

// certificateThumbprint is that of the certificate, in either alphabet of base64: the libraries of Microsoft do not agree.
func certificateThumbprint(j jwt) []byte {
	text := strings.NewReplacer("+", "-", "/", "_", "=", "").Replace(cmp.Or(j.header.X5TS256, j.header.X5T))
	// An unreadable thumbprint matches no certificate.
	raw, _ := base64.RawURLEncoding.DecodeString(text)
	return raw
}

// isItself reports whether an audience is the token service: its endpoint or its issuer of the tenant, under the host
// name of the request or one of Azure's.
func (e *entra) isItself(audience, host string) bool {
	u, err := url.Parse(audience)
	if err != nil || u.Scheme != "https" || u.Host != host && !slices.Contains(azureHosts, strings.ToLower(u.Host)) {
		return false
	}
	tenant, rest, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	return e.knownTenant(tenant) && slices.Contains([]string{"oauth2/v2.0/token", "oauth2/token", "v2.0", ""}, strings.ToLower(rest))
}

// federatedOf returns the federated credentials of an identity.
func (e *entra) federatedOf(identity *store.Resource) []federatedCredential {
	out := []federatedCredential{}
	e.s.store.View(func(tx *store.Tx) {
		for _, f := range tx.List(msi.Identities+"/federatedIdentityCredentials", identity.ID) {
			for _, audience := range body.Strings(f.Body, "properties.audiences") {
				out = append(out, federatedCredential{Issuer: body.String(f.Body, "properties.issuer"),
					Subject: body.String(f.Body, "properties.subject"), Audience: audience})
			}
		}
	})
	return out
}

// findFederated finds the credential that a token is for. All of it is compared with case.
// Source: https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
func findFederated(c claims, client string, trusted []federatedCredential) *refusal {
	if len(trusted) == 0 {
		return refusedClient(70025, "The client '%s' has no configured federated identity credentials.", client)
	}
	for _, step := range []struct {
		code     int
		what, is string
		matches  func(f federatedCredential) bool
	}{
		{700211, "issuer", c.Iss, func(f federatedCredential) bool { return f.Issuer == c.Iss }},
		{700213, "subject", c.Sub, func(f federatedCredential) bool { return f.Subject == c.Sub }},
		{700212, "audience", strings.Join(c.listAudiences(), ","), func(f federatedCredential) bool {
			if f.Audience == "" {
				f.Audience = exchangeAudience
			}
			return slices.Contains(c.listAudiences(), f.Audience)
		}},
	} {
		var left []federatedCredential
		for _, f := range trusted {
			if step.matches(f) {
				left = append(left, f)
			}
		}
		if len(left) == 0 {
			return refusedClient(step.code, "No matching federated identity record found for presented assertion %s '%s'. %s", step.what, step.is,
				aboutFederation)
		}
		trusted = left
	}
	return nil
}

// managementAudiences are the audiences of tokens for Resource Manager, in the order in which its error names them.
var managementAudiences = []string{"https://management.core.windows.net/", "https://management.core.windows.net",
	"https://management.azure.com/", "https://management.azure.com"}

func managementAudience(audience any) bool {
	text, _ := audience.(string)
	return slices.Contains(managementAudiences, text)
}

// graphAudiences are whom tokens for Microsoft Graph are for.
var graphAudiences = []string{"https://graph.microsoft.com", "https://graph.microsoft.com/", "00000003-0000-0000-c000-000000000000"}

// knownResources are the further applications of Microsoft in every tenant that clients of clusters ask tokens for: Azure AD Graph, key
// vaults, storage, registries and the server of AKS clusters.
var knownResources = []string{"https://graph.windows.net", "https://vault.azure.net", "https://storage.azure.com",
	"https://containerregistry.azure.net", "6dae42f8-4368-4678-94ff-3960e28e3630"}

// requestedAudience is the resource that a token is asked for, by a scope or, as in older requests, by its name. Clients ask for scopes of
// OpenID besides.
func (e *entra) requestedAudience(scope, resource, tenant string) (string, *refusal) {
	if scope != "" {
		words := strings.Fields(scope)
		i := slices.IndexFunc(words, func(word string) bool { return strings.HasSuffix(word, "/.default") })
		if i < 0 {
			return "", &refusal{1002012, "invalid_scope",
				fmt.Sprintf("The provided value for scope %s is not valid. Client credential flows must have a scope value with /.default suffixed to the resource identifier (application ID URI).", scope)}
		}
		resource = strings.TrimSuffix(words[i], "/.default")
	}
	if resource == "" {
		return "", &refusal{900144, "invalid_request", "The request body must contain the following parameter: 'scope'."}
	}
	same := func(name string) bool {
		return strings.EqualFold(strings.TrimRight(name, "/"), strings.TrimRight(resource, "/"))
	}
	ofTenant := func(p Principal) bool { return same(p.ClientID) || same("api://"+p.ClientID) }
	if slices.ContainsFunc(slices.Concat(managementAudiences, graphAudiences, knownResources), same) ||
		slices.ContainsFunc(e.listPrincipals(), ofTenant) {
		return resource, nil
	}
	return "", &refusal{500011, "invalid_resource",
		fmt.Sprintf("The resource principal named %s was not found in the tenant named %s. This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You might have sent your authentication request to the wrong tenant.", resource, tenant)}
}
