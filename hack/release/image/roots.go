package image

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootCertificates are Mozilla's roots for TLS servers as Go's module has them, in PEM. The module's version pins them,
// so that an image does not depend on the roots of the machine that built it. Roots that are distrusted for newer
// certificates are left out, because a file of certificates cannot express that.
func rootCertificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return out.Bytes()
}
