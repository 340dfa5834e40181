package pkcs12

import (
	"bytes"
	"crypto/cipher"
	"crypto/des"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"os"
	"testing"

	"golang.org/x/crypto/pkcs12"
)

// TestDecode reads files of OpenSSL as the library does that azidentity uses.
func TestDecode(t *testing.T) {
	for name, test := range map[string]struct{ reason, password string }{
		"rc2":   {"made with -legacy: certificates with RC2, the key with Triple DES, and a chain", "pass"},
		"des":   {"all with Triple DES", "pass"},
		"empty": {"an empty password", ""},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("testdata/" + name + ".pfx")
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(data, test.password)
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			want, err := pkcs12.ToPEM(data, test.password)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if i >= len(got) || got[i].Type != want[i].Type ||
					want[i].Type == "CERTIFICATE" && !bytes.Equal(got[i].Bytes, want[i].Bytes) {
					t.Errorf("%s: block %d differs", test.reason, i)
				}
			}
			// The library returns the key in PKCS #1 form, which is a part of the PKCS #8 form.
			if key := len(want) - 1; !bytes.Contains(got[key].Bytes, want[key].Bytes) {
				t.Errorf("%s: the key differs", test.reason)
			}
			if _, err := Decode(data, "other"); !errors.Is(err, errPassword) {
				t.Errorf("with another password: %v", err)
			}
		})
	}
}

// TestDecodeIsBounded decodes files whose decryption takes long. The number of bags in an encrypted part is known only after its
// decryption.
func TestDecodeIsBounded(t *testing.T) {
	const most = 1000
	tests := map[string]struct {
		reason string
		data   []byte
		err    error
	}{
		"some keys":                 {"all is read", file(1, encrypted(1, keys(3, 10)), plain(keys(2, 10))), nil},
		"MAC":                       {"its iterations count", file(most+1, plain(keys(1, 1))), ErrIterations},
		"negative":                  {"no negative number adds to the limit", file(1, plain(keys(1, -most))), errFormat},
		"part":                      {"its iterations count", file(1, encrypted(most, keys(1, 1))), ErrIterations},
		"keys":                      {"the iterations of all keys count", file(1, plain(keys(3, most/2-1))), ErrIterations},
		"keys in an encrypted part": {"these count, too", file(1, encrypted(1, keys(3, most/2-1))), ErrIterations},
		"many keys":                 {"their number is limited", file(1, plain(keys(MaxBags+1, 1))), ErrBags},
		"many encrypted keys":       {"their number is limited", file(1, encrypted(1, keys(20, 1)), encrypted(1, keys(20, 1))), ErrBags},
		"not PKCS #12":              {"any bytes", []byte("x"), errFormat},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := decode(test.data, "", most); !errors.Is(err, test.err) {
				t.Errorf("%s: %v, want %v", test.reason, err, test.err)
			}
		})
	}
}

// TestFilesOfThisTest checks that the library reads a file as these tests make them.
func TestFilesOfThisTest(t *testing.T) {
	data := file(7, encrypted(5, nil), plain(nil))
	if got, err := pkcs12.ToPEM(data, ""); len(got) != 0 || err != nil {
		t.Errorf("the library reads the file of this test as %d blocks, %v", len(got), err)
	}
}

func must(out []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return out
}

// explicit returns a value in the form of an element [0].
func explicit(content []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: content}
}

// encrypt encrypts data with the empty password.
func encrypt(iterations int, data []byte) (pkix.AlgorithmIdentifier, []byte) {
	padding := 8 - len(data)%8
	out := append(bytes.Clone(data), bytes.Repeat([]byte{byte(padding)}, padding)...)
	salt, password := []byte("salt"), encodePassword("")
	block, err := des.NewTripleDESCipher(deriveKey(salt, password, iterations, purposeKey, 24))
	if err != nil {
		panic(err)
	}
	cipher.NewCBCEncrypter(block, deriveKey(salt, password, iterations, purposeIV, 8)).CryptBlocks(out, out)
	return pkix.AlgorithmIdentifier{Algorithm: oidTripleDES,
		Parameters: asn1.RawValue{FullBytes: must(asn1.Marshal(parameters{salt, iterations}))}}, out
}

// keys returns bags with encrypted keys.
func keys(number, iterations int) (out []bag) {
	algorithm, data := encrypt(iterations, []byte("key"))
	for range number {
		out = append(out, bag{Type: oidShroudedKey, Value: explicit(must(asn1.Marshal(encryptedKey{algorithm, data})))})
	}
	return out
}

func plain(bags []bag) contentInfo {
	return contentInfo{oidData, explicit(must(asn1.Marshal(must(asn1.Marshal(bags)))))}
}

func encrypted(iterations int, bags []bag) contentInfo {
	algorithm, data := encrypt(iterations, must(asn1.Marshal(bags)))
	return contentInfo{oidEncryptedData, explicit(must(asn1.Marshal(encryptedData{Content: encryptedContent{oidData, algorithm, data}})))}
}

func file(iterations int, contents ...contentInfo) []byte {
	safe := must(asn1.Marshal(contents))
	hash := hmac.New(sha1.New, deriveKey([]byte("salt"), encodePassword(""), iterations, purposeMAC, sha1.Size))
	hash.Write(safe)
	return must(asn1.Marshal(pfx{3, contentInfo{oidData, explicit(must(asn1.Marshal(safe)))},
		macData{digestInfo{pkix.AlgorithmIdentifier{Algorithm: oidSHA1}, hash.Sum(nil)}, []byte("salt"), iterations}}))
}
