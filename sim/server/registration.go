package server

import (
	"crypto"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// exchangeAudience is whom federated tokens are for in the public cloud.
// Source: https://learn.microsoft.com/entra/workload-id/workload-identity-federation-create-trust
const exchangeAudience = "api://AzureADTokenExchange"

// federatedCredential is whose tokens an application or an identity takes as its own credential.
type federatedCredential struct {
	Issuer   string `json:"issuer"`
	Subject  string `json:"subject"`
	Audience string `json:"audience,omitempty"` // "": exchangeAudience
}

// registrations are made while the simulator runs: the credentials of applications by client ID in lower case, and
// the keys that issuers of federated tokens publish, by the issuer's URL.
type registrations struct {
	Applications map[string]application `json:"applications,omitempty"`
	Issuers      map[string][]jwk       `json:"issuers,omitempty"`
}

type application struct {
	Certificates [][]byte              `json:"certificates,omitempty"` // DER
	Federated    []federatedCredential `json:"federated,omitempty"`
	// Created is set for applications that are not of the options.
	Created *created `json:"created,omitempty"`
}

// registered is the note in the store that has the registrations, so that they last as long as the resources.
const registered = "entra"

func (e *entra) listRegistrations() registrations {
	var r registrations
	e.s.store.View(func(tx *store.Tx) { tx.ReadNote(registered, &r) })
	return r
}

func (e *entra) changeRegistrations(change func(r *registrations)) error {
	return e.s.store.Update(func(tx *store.Tx) error {
		r := registrations{}
		tx.ReadNote(registered, &r)
		if r.Applications == nil {
			r.Applications = map[string]application{}
		}
		if r.Issuers == nil {
			r.Issuers = map[string][]jwk{}
		}
		change(&r)
		tx.SetMeta(registered, r)
		return nil
	})
}

// TrustCertificate registers a certificate in PEM with an application: who has its key may sign in as the application.
func (s *Server) TrustCertificate(clientID string, certificate []byte) error {
	der, err := readCertificate(certificate)
	if err != nil {
		return err
	}
	return s.entra.registerApplication(clientID, application{Certificates: [][]byte{der}})
}

func readCertificate(text []byte) ([]byte, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("a certificate is in PEM")
	}
	_, err := x509.ParseCertificate(block.Bytes)
	return block.Bytes, err
}

// TrustSubject gives an application a federated credential: who has a token of the issuer for the subject may sign in as the
// application. Identities in Azure have theirs as resources.
func (s *Server) TrustSubject(clientID, issuer, subject string) error {
	return s.entra.registerApplication(clientID, application{Federated: []federatedCredential{{Issuer: issuer, Subject: subject}}})
}

func (e *entra) registerApplication(clientID string, more application) error {
	if !slices.ContainsFunc(e.listPrincipals(), func(p Principal) bool { return strings.EqualFold(p.ClientID, clientID) }) {
		return fmt.Errorf("there is no application %q", clientID)
	}
	return e.changeRegistrations(func(r *registrations) {
		id := strings.ToLower(clientID)
		a := r.Applications[id]
		a.Certificates = append(a.Certificates, more.Certificates...)
		for _, f := range more.Federated {
			if !slices.Contains(a.Federated, f) {
				a.Federated = append(a.Federated, f)
			}
		}
		r.Applications[id] = a
	})
}

// TrustIssuer adds the keys of an issuer of federated tokens: keySet is the JSON that its jwks_uri answers with.
// Entra ID fetches it; the simulator sends no requests. Keys that the issuer has already are kept.
func (s *Server) TrustIssuer(issuer string, keySet []byte) error {
	var set struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(keySet, &set); err != nil {
		return fmt.Errorf("keys of %s: %w", issuer, err)
	}
	return s.entra.registerIssuer(issuer, set.Keys)
}

func (e *entra) registerIssuer(issuer string, keys []jwk) error {
	if issuer == "" || len(keys) == 0 {
		return errors.New("an issuer has a URL and at least one key")
	}
	for _, key := range keys {
		if _, err := key.publicKey(); err != nil {
			return fmt.Errorf("keys of %s: %w", issuer, err)
		}
	}
	return e.changeRegistrations(func(r *registrations) {
		for _, key := range keys {
			if !slices.Contains(r.Issuers[issuer], key) {
				r.Issuers[issuer] = append(r.Issuers[issuer], key)
			}
		}
	})
}

// keysOf returns the keys that an issuer publishes.
func (r registrations) keysOf(issuer string) []crypto.PublicKey {
	out := []crypto.PublicKey{}
	for _, k := range r.Issuers[issuer] {
		if key, err := k.publicKey(); err == nil {
			out = append(out, key)
		}
	}
	return out
}

// certificatesOf returns the certificates of an application.
func (r registrations) certificatesOf(clientID string) []*x509.Certificate {
	out := []*x509.Certificate{}
	for _, der := range r.Applications[strings.ToLower(clientID)].Certificates {
		if c, err := x509.ParseCertificate(der); err == nil {
			out = append(out, c)
		}
	}
	return out
}

func (s *Server) controlApplication(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ClientID             string                `json:"clientID"`
		Certificates         []string              `json:"certificates"`
		FederatedCredentials []federatedCredential `json:"federatedCredentials"`
	}
	if !decodeControl(w, r, &in) {
		return
	}
	more := application{Federated: in.FederatedCredentials}
	for _, text := range in.Certificates {
		der, err := readCertificate([]byte(text))
		if err != nil {
			writeRefusal(w, 400, err.Error())
			return
		}
		more.Certificates = append(more.Certificates, der)
	}
	answerRegistration(w, s.entra.registerApplication(in.ClientID, more))
}

func (s *Server) controlIssuer(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Issuer string `json:"issuer"`
		Keys   []jwk  `json:"keys"`
	}
	if decodeControl(w, r, &in) {
		answerRegistration(w, s.entra.registerIssuer(in.Issuer, in.Keys))
	}
}

func answerRegistration(w http.ResponseWriter, err error) {
	if err != nil {
		writeRefusal(w, 400, err.Error())
		return
	}
	w.WriteHeader(204)
}
