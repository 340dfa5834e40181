package identity

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzCertificates makes credentials of any bytes that a Secret has for a certificate. What is no certificate gives an error, which
// quotes neither the bytes nor the password.
func FuzzCertificates(f *testing.F) {
	pair := newCertificate(f)
	f.Add(pair, "")
	f.Add(pair[:len(pair)/2], "")
	f.Add(pair[bytes.LastIndex(pair, []byte("-----BEGIN")):], "")
	f.Fuzz(func(t *testing.T, certificate []byte, password string) {
		m := &material{kind: kindCertificate, tenantID: "00000000-0000-0000-0000-000000000001", clientID: "00000000-0000-0000-0000-000000000002",
			certificate: certificate, password: []byte(password)}
		made, err := m.newCredential()
		if (made == nil) != (err != nil) {
			t.Fatalf("a credential or an error, but: %v %v", made != nil, err)
		}
		if err == nil {
			return
		}
		for _, secret := range []string{string(certificate), password} {
			if len(secret) > 8 && strings.Contains(err.Error(), secret) {
				t.Errorf("the error quotes the content: %v", err)
			}
		}
	})
}
