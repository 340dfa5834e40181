package identity

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/pkcs12"
)

// Limits of a certificate, which tenants write. Without them one Secret keeps a processor busy for minutes: the parser checks the
// key, and each token is signed with it.
const (
	maxCertificateBytes = 64 << 10
	maxRSABits          = 8192
	// maxKeyBytes is a little more than an RSA key of maxRSABits takes in PKCS #8 form, about 4,680 bytes.
	maxKeyBytes = 5 << 10
)

var (
	errNoCertificate    = errors.New("it must be PEM with the certificate and its key, or PKCS #12 that the password decrypts")
	errCertificateBytes = fmt.Errorf("it and its password have more than %d bytes. Keep only the certificate, its chain and its key in it",
		maxCertificateBytes)
	errKeySize = fmt.Errorf("its private key is larger than an RSA key of %d bits. Use a smaller key", maxRSABits)
)

// parseCertificate returns the certificates and the private key of PEM or PKCS #12 data. The errors quote nothing of the data, which may
// be any Secret or file.
func parseCertificate(data, password []byte) ([]*x509.Certificate, crypto.PrivateKey, error) {
	if len(data)+len(password) > maxCertificateBytes {
		return nil, nil, errCertificateBytes
	}
	var blocks []*pem.Block
	if len(password) == 0 {
		blocks = decodePEM(data)
	}
	if len(blocks) == 0 {
		var err error
		if blocks, err = pkcs12.Decode(data, string(password)); err != nil {
			if errors.Is(err, pkcs12.ErrBags) || errors.Is(err, pkcs12.ErrIterations) {
				return nil, nil, err
			}
			return nil, nil, errNoCertificate
		}
	}
	var encoded bytes.Buffer
	for _, block := range blocks {
		if strings.HasSuffix(block.Type, "PRIVATE KEY") && len(block.Bytes) > maxKeyBytes {
			return nil, nil, errKeySize
		}
		_ = pem.Encode(&encoded, &pem.Block{Type: block.Type, Bytes: block.Bytes}) // a buffer takes everything
	}
	certificates, key, err := azidentity.ParseCertificates(encoded.Bytes(), nil)
	if err != nil {
		return nil, nil, errNoCertificate
	}
	return certificates, key, nil
}

// decodePEM returns the PEM blocks of data.
func decodePEM(data []byte) (out []*pem.Block) {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return out
		}
		out = append(out, block)
	}
}
