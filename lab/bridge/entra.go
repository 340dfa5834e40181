package bridge

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"sync"

	"github.com/golang-jwt/jwt/v5"
)

// serverApplication is the application that every AKS cluster with Microsoft Entra ID is to clients.
// https://learn.microsoft.com/azure/aks/kubelogin-authentication
const serverApplication = "6dae42f8-4368-4678-94ff-3960e28e3630"

// entra checks tokens with the keys of the simulated Microsoft Entra ID.
type entra struct {
	sim *simulator

	mu   sync.Mutex
	keys map[string]*rsa.PublicKey
}

// authenticateEntra recognises a token that was issued for AKS clusters. Who has one may do all: the
// in-memory server knows no roles.
func (w *workload) authenticateEntra(ctx context.Context, token string) (identity, error) {
	w.mu.Lock()
	integrated := w.settings.entra
	w.mu.Unlock()
	if !integrated {
		return identity{}, errors.New("the cluster is not integrated with Microsoft Entra ID (aadProfile)")
	}
	name, err := w.entra.verifyToken(ctx, token)
	return identity{name: name}, err
}

// verifyToken verifies signature, audience and dates, and returns the object ID of the principal. Errors
// never show the token.
func (e *entra) verifyToken(ctx context.Context, token string) (principal string, err error) {
	var claims struct {
		jwt.RegisteredClaims
		ObjectID string `json:"oid"`
	}
	_, err = jwt.ParseWithClaims(token, &claims, func(t *jwt.Token) (any, error) {
		id, _ := t.Header["kid"].(string)
		return e.findKey(ctx, id)
	}, jwt.WithValidMethods([]string{"RS256"}), jwt.WithAudience(serverApplication), jwt.WithExpirationRequired())
	if err != nil {
		return "", fmt.Errorf("token of Microsoft Entra ID: %w", err)
	}
	return claims.ObjectID, nil
}

// findKey finds a signing key, and asks for the keys again when it does not know it.
func (e *entra) findKey(ctx context.Context, id string) (*rsa.PublicKey, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if k := e.keys[id]; k != nil {
		return k, nil
	}
	var set struct {
		Keys []struct {
			ID       string `json:"kid"`
			Modulus  string `json:"n"`
			Exponent string `json:"e"`
		} `json:"keys"`
	}
	if err := e.sim.callControl(ctx, http.MethodGet, "/common/discovery/v2.0/keys", nil, &set); err != nil {
		return nil, fmt.Errorf("signing keys: %w", err)
	}
	e.keys = map[string]*rsa.PublicKey{}
	for _, k := range set.Keys {
		n, err := base64.RawURLEncoding.DecodeString(k.Modulus)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", k.ID, err)
		}
		x, err := base64.RawURLEncoding.DecodeString(k.Exponent)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", k.ID, err)
		}
		e.keys[k.ID] = &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(x).Int64())}
	}
	if k := e.keys[id]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("no signing key %q", id)
}
