package vm

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// CheckSSHKey checks that the SSH key is the base64 of a line of an authorized_keys file. Errors do not show the value.
func CheckSSHKey(spec infrav1.VirtualMachineProfile, path *field.Path) field.ErrorList {
	key := spec.SSHPublicKey
	if spec.OSDisk.OSType == infrav1.WindowsOS && key == "" {
		return nil
	}
	if err := parseSSHKey(key); err != nil {
		return field.ErrorList{field.Invalid(path.Child("sshPublicKey"), plan.HiddenValue,
			err.Error()+`: set it to the output of: base64 < ~/.ssh/id_rsa.pub | tr -d '\n'`)}
	}
	return nil
}

// parseSSHKey checks that the decoded text contains "<type> <base64 of the key>". The key itself starts with its type
// again.
func parseSSHKey(encoded string) error {
	if encoded == "" {
		return fmt.Errorf("there is no SSH key")
	}
	line, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		if isSSHKeyType(strings.TrimSpace(encoded)) {
			return fmt.Errorf("is an SSH key, but not encoded in base64")
		}
		return fmt.Errorf("is not base64")
	}
	words := strings.Fields(string(line))
	for i, word := range words {
		if !isSSHKeyType(word) {
			continue
		}
		if i+1 == len(words) {
			return fmt.Errorf("decodes to a key type without a key")
		}
		blob, err := base64.StdEncoding.DecodeString(words[i+1])
		if err != nil {
			return fmt.Errorf("decodes to a line whose key is not base64")
		}
		if len(blob) < 4 || uint64(len(blob)-4) < uint64(binary.BigEndian.Uint32(blob)) ||
			string(blob[4:4+binary.BigEndian.Uint32(blob)]) != word {
			return fmt.Errorf("decodes to a key that is not of its type %s", word)
		}
		return nil
	}
	return fmt.Errorf("does not decode to a line of an authorized_keys file")
}

func isSSHKeyType(word string) bool {
	return strings.HasPrefix(word, "ssh-") || strings.HasPrefix(word, "ecdsa-") || strings.HasPrefix(word, "sk-")
}
