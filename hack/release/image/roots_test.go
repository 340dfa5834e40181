package image

import (
	"crypto/x509"
	"encoding/pem"
	"iter"
	"testing"
)

// certificates returns those of the file of roots.
func certificates(t *testing.T) iter.Seq[*x509.Certificate] {
	t.Helper()
	return func(yield func(*x509.Certificate) bool) {
		for block, rest := pem.Decode(rootCertificates()); block != nil; block, rest = pem.Decode(rest) {
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(certificate) {
				return
			}
		}
	}
}
