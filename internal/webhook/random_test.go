package webhook

import (
	"encoding/base64"
	"testing"

	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestUnusableKey checks that every call returns the same key, and that the rules of the API accept it.
func TestUnusableKey(t *testing.T) {
	first, err := random{}.sshPublicKey()
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if again, err := (random{}).sshPublicKey(); err != nil || again != first {
			t.Fatalf("another key: %v", err)
		}
	}
	if errs := ValidateSSHPublicKey(first, field.NewPath("spec", "sshPublicKey")); len(errs) > 0 {
		t.Error(errs)
	}
	line, err := base64.StdEncoding.DecodeString(first)
	if err != nil {
		t.Fatal(err)
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(line)
	if err != nil {
		t.Fatal(err)
	}
	if key.Type() != ssh.KeyAlgoRSA {
		t.Errorf("the key is %s, and Azure takes RSA for every image", key.Type())
	}
}
