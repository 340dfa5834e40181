package webhook

import (
	"encoding/base64"

	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// ValidateSSHPublicKey checks that a key is a line of an authorized_keys file in base64. An empty key is the default. Errors do not show the
// value.
func ValidateSSHPublicKey(key string, path *field.Path) field.ErrorList {
	if key == "" {
		return nil
	}
	line, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return field.ErrorList{field.Invalid(path, plan.HiddenValue, "must be base64: encode the line of the .pub file with base64 -w0")}
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey(line); err != nil {
		return field.ErrorList{field.Invalid(path, plan.HiddenValue, "must be an SSH public key such as \"ssh-ed25519 AAAA… name\", in base64")}
	}
	return nil
}
