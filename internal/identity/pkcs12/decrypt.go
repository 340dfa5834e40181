package pkcs12

import (
	"bytes"
	"crypto/cipher"
	"crypto/des"  //nolint:gosec // the format prescribes it
	"crypto/sha1" //nolint:gosec // the format prescribes it
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
)

// Ciphers, https://datatracker.ietf.org/doc/html/rfc7292#appendix-C.
var (
	oidTripleDES = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 1, 3}
	oidRC2       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 1, 6}
)

// parameters of an encryption by password.
type parameters struct {
	Salt       []byte
	Iterations int
}

// decrypt returns the content of an encrypted part of the file.
func (d *decoder) decrypt(algorithm pkix.AlgorithmIdentifier, data []byte) ([]byte, error) {
	var size int
	switch {
	case algorithm.Algorithm.Equal(oidTripleDES):
		size = 24
	case algorithm.Algorithm.Equal(oidRC2):
		size = 5
	default:
		return nil, errFormat
	}
	var with parameters
	if err := unmarshal(algorithm.Parameters.FullBytes, &with); err != nil {
		return nil, errFormat
	}
	if err := d.spend(with.Iterations); err != nil {
		return nil, err
	}
	key := deriveKey(with.Salt, d.password, with.Iterations, purposeKey, size)
	iv := deriveKey(with.Salt, d.password, with.Iterations, purposeIV, 8)
	block := cipher.Block(newRC2(key))
	if size == 24 {
		block, _ = des.NewTripleDESCipher(key) //nolint:gosec // the format prescribes it; a key of 24 bytes has no error
	}
	if len(data) == 0 || len(data)%block.BlockSize() != 0 {
		return nil, errFormat
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	padding := int(out[len(out)-1])
	if padding == 0 || padding > block.BlockSize() ||
		!bytes.Equal(out[len(out)-padding:], bytes.Repeat([]byte{byte(padding)}, padding)) {
		return nil, errPassword
	}
	return out[:len(out)-padding], nil
}

// Purposes of derived keys, https://datatracker.ietf.org/doc/html/rfc7292#appendix-B.3.
const (
	purposeKey = 1
	purposeIV  = 2
	purposeMAC = 3
)

// deriveKey returns size bytes that are derived of the password with SHA-1. The names are those of the standard.
// https://datatracker.ietf.org/doc/html/rfc7292#appendix-B.2
func deriveKey(salt, password []byte, iterations int, purpose byte, size int) []byte {
	const v = 64
	diversifier := bytes.Repeat([]byte{purpose}, v)
	i := append(fill(salt, v), fill(password, v)...)
	var out []byte
	for {
		a := sha1.Sum(append(append([]byte{}, diversifier...), i...)) //nolint:gosec // the format prescribes it
		for range iterations - 1 {
			a = sha1.Sum(a[:]) //nolint:gosec // the format prescribes it
		}
		if out = append(out, a[:]...); len(out) >= size {
			return out[:size]
		}
		b := new(big.Int).SetBytes(bytes.Repeat(a[:], v/sha1.Size+1)[:v])
		b.Add(b, big.NewInt(1))
		modulus := new(big.Int).Lsh(big.NewInt(1), v*8)
		for j := 0; j < len(i); j += v {
			sum := new(big.Int).SetBytes(i[j : j+v])
			sum.Add(sum, b).Mod(sum, modulus).FillBytes(i[j : j+v])
		}
	}
}

// fill repeats value to a multiple of v bytes.
func fill(value []byte, v int) []byte {
	if len(value) == 0 {
		return nil
	}
	size := (len(value) + v - 1) / v * v
	return bytes.Repeat(value, size/len(value)+1)[:size]
}
