package server

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// jwt is a JSON web token that was read, and not yet believed.
type jwt struct {
	header struct {
		Alg     string `json:"alg"`
		X5T     string `json:"x5t"`
		X5TS256 string `json:"x5t#S256"`
	}
	claims claims
	signed string
	sig    []byte
}

func parseJWT(token string) (jwt, bool) {
	var j jwt
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return j, false
	}
	read := func(part string, into any) bool {
		raw, err := base64.RawURLEncoding.DecodeString(part)
		return err == nil && json.Unmarshal(raw, into) == nil
	}
	var err error
	j.signed = parts[0] + "." + parts[1]
	j.sig, err = base64.RawURLEncoding.DecodeString(parts[2])
	return j, read(parts[0], &j.header) && read(parts[1], &j.claims) && err == nil
}

// signedBy reports whether the key made the signature, by one of the algorithms of RFC 7518 that clients sign with.
// Entra ID accepts no elliptic curves of other issuers, but the API servers of tests sign with nothing else.
func (j jwt) signedBy(key crypto.PublicKey) bool {
	sum := sha256.Sum256([]byte(j.signed))
	switch key := key.(type) {
	case *rsa.PublicKey:
		switch j.header.Alg {
		case "RS256":
			return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], j.sig) == nil
		case "PS256":
			return rsa.VerifyPSS(key, crypto.SHA256, sum[:], j.sig, nil) == nil
		}
	case *ecdsa.PublicKey:
		return j.header.Alg == "ES256" && len(j.sig) == 64 &&
			ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(j.sig[:32]), new(big.Int).SetBytes(j.sig[32:]))
	}
	return false
}

// listAudiences are whom the token is for: the claim is a string or a list.
func (c claims) listAudiences() []string {
	switch aud := c.Aud.(type) {
	case string:
		return []string{aud}
	case []any:
		out := []string{}
		for _, one := range aud {
			if text, ok := one.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

// jwk is a public key as an issuer publishes it at its jwks_uri (RFC 7517).
type jwk struct {
	Kty string `json:"kty"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
	Crv string `json:"crv,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
}

func (k jwk) publicKey() (crypto.PublicKey, error) {
	octets := func(text string) []byte {
		raw, _ := base64.RawURLEncoding.DecodeString(text) // The bytes before a mistake are no key.
		return raw
	}
	number := func(text string) *big.Int { return new(big.Int).SetBytes(octets(text)) }
	switch {
	case k.Kty == "RSA":
		if key := (&rsa.PublicKey{N: number(k.N), E: int(number(k.E).Int64())}); key.N.BitLen() >= 2048 && key.E > 1 {
			return key, nil
		}
	case k.Kty == "EC" && k.Crv == "P-256":
		point := slices.Concat([]byte{4}, octets(k.X), octets(k.Y))
		if key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point); err == nil {
			return key, nil
		}
	}
	return nil, fmt.Errorf("a key of type %q %s is not one that can be used: give RSA of 2048 bits and more, or EC P-256", k.Kty, k.Crv)
}
