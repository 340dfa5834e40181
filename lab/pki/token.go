package pki

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"time"
)

// Issuer is the service-account issuer of the management cluster.
const Issuer = "https://kubernetes.default.svc.cluster.local"

// ServiceAccountToken returns a token of a service account as the API server would project it into a pod, for one audience.
func ServiceAccountToken(dir, namespace, name, audience string) (string, error) {
	key, err := readKey(filepath.Join(dir, ServiceAccountKey))
	if err != nil {
		return "", err
	}
	now := time.Now()
	header, err := encodeSegment(map[string]string{"alg": "ES256", "typ": "JWT"})
	if err != nil {
		return "", err
	}
	claims, err := encodeSegment(map[string]any{
		"iss": Issuer, "sub": "system:serviceaccount:" + namespace + ":" + name, "aud": []string{audience},
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(validity).Unix(),
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(header + "." + claims))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	// RFC 7518 section 3.4: both numbers with the full length of the curve.
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return header + "." + claims + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// KeySet returns the key of the service-account tokens as the issuer publishes it at its jwks_uri: RFC 7517 section 5 and RFC 7518
// section 6.2.
func KeySet(dir string) ([]map[string]string, error) {
	key, err := readKey(filepath.Join(dir, ServiceAccountKey))
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey.ECDH()
	if err != nil {
		return nil, err
	}
	point := public.Bytes()[1:] // X and Y after the form
	text := base64.RawURLEncoding.EncodeToString
	return []map[string]string{{"kty": "EC", "crv": "P-256", "x": text(point[:32]), "y": text(point[32:])}}, nil
}

func encodeSegment(v any) (string, error) {
	raw, err := json.Marshal(v)
	return base64.RawURLEncoding.EncodeToString(raw), err
}
