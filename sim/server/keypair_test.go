package server_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"golang.org/x/crypto/ssh"
)

// TestGenerateKeyPair makes Azure generate a key pair, of which it keeps the public key.
func TestGenerateKeyPair(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a := newAzure(t)
	a.createGroup()
	keys, err := armcompute.NewSSHPublicKeysClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := keys.Create(ctx, "rg", "key", armcompute.SSHPublicKeyResource{Location: new("westus3")}, nil); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []armcompute.SSHEncryptionTypes{"", armcompute.SSHEncryptionTypesRSA, armcompute.SSHEncryptionTypesEd25519} {
		options := &armcompute.SSHPublicKeysClientGenerateKeyPairOptions{}
		if kind != "" {
			options.Parameters = &armcompute.SSHGenerateKeyPairInputParameters{EncryptionType: &kind}
		}
		pair, err := keys.GenerateKeyPair(ctx, "rg", "key", options)
		if err != nil {
			t.Fatalf("%q: %v", kind, err)
		}
		public, comment, _, _, err := ssh.ParseAuthorizedKey([]byte(*pair.PublicKey))
		if err != nil || comment != "generated-by-azure" {
			t.Fatalf("%q: the public key %q: %v", kind, *pair.PublicKey, err)
		}
		signer, err := ssh.ParsePrivateKey([]byte(*pair.PrivateKey))
		if err != nil || string(signer.PublicKey().Marshal()) != string(public.Marshal()) {
			t.Errorf("%q: the keys are no pair: %v", kind, err)
		}
		if block, _ := pem.Decode([]byte(*pair.PrivateKey)); kind != armcompute.SSHEncryptionTypesEd25519 {
			if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err != nil || key.N.BitLen() != 3072 {
				t.Errorf("%q: the private key is not of the form of RFC 3447 with 3072 bits: %v", kind, err)
			}
		}
		stored, err := keys.Get(ctx, "rg", "key", nil)
		if err != nil || *stored.Properties.PublicKey != *pair.PublicKey {
			t.Errorf("%q: the stored key is %v: %v", kind, stored.Properties, err)
		}
		if r := a.sendRequest("GET", comp+"/sshPublicKeys/key", nil); strings.Contains(string(r.raw), "PRIVATE") {
			t.Errorf("%q: the private key is kept", kind)
		}
	}
	if r := a.sendRequest("POST", comp+"/sshPublicKeys/key/generateKeyPair", obj{"encryptionType": "DSA"}); r.status != 400 {
		t.Errorf("an unknown kind = %d %v", r.status, r.body)
	}
	if r := a.sendRequest("POST", comp+"/sshPublicKeys/none/generateKeyPair", nil); r.status != 404 {
		t.Errorf("no key = %d %v", r.status, r.body)
	}
}
