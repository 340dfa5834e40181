// Package pkcs12 reads certificates and private keys from PKCS #12 files with a limit on the work that a file can cause.
//
// golang.org/x/crypto/pkcs12, which azidentity uses, limits the iterations of each key derivation but not their number, and bags that
// are encrypted cannot be counted before it decrypts them: a file of 64 KiB takes minutes of processor time. This package reads the
// same files (RFC 7292 with SHA-1, Triple DES and RC2).
//
// Its functions do not block, send no requests and change no state.
package pkcs12

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the format prescribes it
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"unicode/utf16"
)

// Limits of a file. A file that programs write has a key, a few certificates, and some thousand iterations for each of its three
// key derivations. .NET has a limit of 600,000 iterations per file.
// https://support.microsoft.com/topic/bf81c936-af2b-446e-9f7a-016f4713b46b (KB5025823)
const (
	MaxBags       = 32
	MaxIterations = 1_000_000
)

// ErrBags and ErrIterations refuse a file that exceeds a limit.
var (
	ErrBags       = fmt.Errorf("it has more than %d certificates and keys. Export the certificate, its chain and its key only", MaxBags)
	ErrIterations = fmt.Errorf("its encryption needs more than %d iterations in total. Export it with fewer iterations", MaxIterations)
)

var (
	errFormat   = errors.New("it is no PKCS #12 file of a supported format")
	errPassword = errors.New("the password does not decrypt it")
)

var (
	oidData          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidEncryptedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 6}
	oidSHA1          = asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}
	oidShroudedKey   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 2}
	oidCertificate   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 3}
	oidX509          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 22, 1}
)

// The types of RFC 7292, https://datatracker.ietf.org/doc/html/rfc7292#appendix-C.
type (
	pfx struct {
		Version  int
		AuthSafe contentInfo
		MAC      macData `asn1:"optional"`
	}
	contentInfo struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue `asn1:"tag:0,explicit,optional"`
	}
	macData struct {
		Digest     digestInfo
		Salt       []byte
		Iterations int `asn1:"optional,default:1"`
	}
	digestInfo struct {
		Algorithm pkix.AlgorithmIdentifier
		Digest    []byte
	}
	encryptedData struct {
		Version int
		Content encryptedContent
	}
	encryptedContent struct {
		Type      asn1.ObjectIdentifier
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte `asn1:"tag:0,optional"`
	}
	bag struct {
		Type       asn1.ObjectIdentifier
		Value      asn1.RawValue   `asn1:"tag:0,explicit"`
		Attributes []asn1.RawValue `asn1:"set,optional"`
	}
	encryptedKey struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	certificate struct {
		Type asn1.ObjectIdentifier
		Data []byte `asn1:"tag:0,explicit"`
	}
)

// decoder reads one file.
type decoder struct {
	password []byte
	// iterations is the number of iterations that the file may still use.
	iterations int
}

// Decode returns the certificates and keys of a file as PEM blocks of the types CERTIFICATE and PRIVATE KEY, the latter in PKCS #8
// form. The time it takes is bounded by the limits and by the size of data and password.
func Decode(data []byte, password string) ([]*pem.Block, error) {
	return decode(data, password, MaxIterations)
}

func decode(data []byte, password string, maxIterations int) ([]*pem.Block, error) {
	var file pfx
	if err := unmarshal(data, &file); err != nil || file.Version != 3 || !file.AuthSafe.Type.Equal(oidData) {
		return nil, errFormat
	}
	var safe []byte
	if err := unmarshal(file.AuthSafe.Content.Bytes, &safe); err != nil {
		return nil, errFormat
	}
	d := &decoder{password: encodePassword(password), iterations: maxIterations}
	if err := d.verifyMAC(&file.MAC, safe); err != nil {
		return nil, err
	}
	bags, err := d.readBags(safe)
	if err != nil {
		return nil, err
	}
	var out []*pem.Block
	for i := range bags {
		block, err := d.decodeBag(&bags[i])
		if err != nil {
			return nil, err
		}
		out = append(out, block)
	}
	return out, nil
}

// verifyMAC checks the password. Programs encode the empty password in two ways, so d continues with the one that fits.
func (d *decoder) verifyMAC(mac *macData, message []byte) error {
	if !mac.Digest.Algorithm.Algorithm.Equal(oidSHA1) {
		return errFormat
	}
	candidates := [][]byte{d.password}
	if len(d.password) == 2 {
		candidates = append(candidates, nil)
	}
	for _, d.password = range candidates {
		if err := d.spend(mac.Iterations); err != nil {
			return err
		}
		hash := hmac.New(sha1.New, deriveKey(mac.Salt, d.password, mac.Iterations, purposeMAC, sha1.Size))
		hash.Write(message)
		if hmac.Equal(mac.Digest.Digest, hash.Sum(nil)) {
			return nil
		}
	}
	return errPassword
}

// readBags returns the bags of all contents of the file, decrypted.
func (d *decoder) readBags(safe []byte) (out []bag, err error) {
	var contents []contentInfo
	if err := unmarshal(safe, &contents); err != nil || len(contents) > MaxBags {
		return nil, errFormat
	}
	for i := range contents {
		var data []byte
		switch content := &contents[i]; {
		case content.Type.Equal(oidData):
			if err := unmarshal(content.Content.Bytes, &data); err != nil {
				return nil, errFormat
			}
		case content.Type.Equal(oidEncryptedData):
			var encrypted encryptedData
			if err := unmarshal(content.Content.Bytes, &encrypted); err != nil || encrypted.Version != 0 {
				return nil, errFormat
			}
			if data, err = d.decrypt(encrypted.Content.Algorithm, encrypted.Content.Data); err != nil {
				return nil, err
			}
		default:
			return nil, errFormat
		}
		var bags []bag
		if err := unmarshal(data, &bags); err != nil {
			return nil, errFormat
		}
		if out = append(out, bags...); len(out) > MaxBags {
			return nil, ErrBags
		}
	}
	return out, nil
}

func (d *decoder) decodeBag(b *bag) (*pem.Block, error) {
	switch {
	case b.Type.Equal(oidCertificate):
		var found certificate
		if err := unmarshal(b.Value.Bytes, &found); err != nil || !found.Type.Equal(oidX509) {
			return nil, errFormat
		}
		return &pem.Block{Type: "CERTIFICATE", Bytes: found.Data}, nil
	case b.Type.Equal(oidShroudedKey):
		var encrypted encryptedKey
		if err := unmarshal(b.Value.Bytes, &encrypted); err != nil {
			return nil, errFormat
		}
		key, err := d.decrypt(encrypted.Algorithm, encrypted.Data)
		if err != nil {
			return nil, err
		}
		return &pem.Block{Type: "PRIVATE KEY", Bytes: key}, nil
	}
	return nil, errFormat
}

// spend counts the iterations of one key derivation.
func (d *decoder) spend(iterations int) error {
	if iterations < 0 {
		return errFormat
	}
	if iterations > d.iterations {
		return ErrIterations
	}
	d.iterations -= iterations
	return nil
}

// encodePassword returns a password as UTF-16 with two zero bytes at its end.
func encodePassword(password string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(password)) {
		out = append(out, byte(unit>>8), byte(unit))
	}
	return append(out, 0, 0)
}

// unmarshal reads a value that nothing follows.
func unmarshal(data []byte, out any) error {
	rest, err := asn1.Unmarshal(data, out)
	if err == nil && len(bytes.TrimSpace(rest)) != 0 {
		err = errFormat
	}
	return err
}
