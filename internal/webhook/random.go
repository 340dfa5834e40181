package webhook

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/crypto/ssh"
)

// generator makes the defaults that are random.
type generator interface {
	// sshPublicKey is a key as spec.sshPublicKey has it. Nobody has the private key.
	sshPublicKey() (string, error)
	// roleAssignmentName is the name of a new role assignment.
	roleAssignmentName() string
}

type random struct{}

// sshKeyBits is the size that Azure takes from every image.
const sshKeyBits = 2048

func (random) sshPublicKey() (string, error) {
	private, err := rsa.GenerateKey(rand.Reader, sshKeyBits)
	if err != nil {
		return "", fmt.Errorf("generate an SSH key: %w", err)
	}
	public, err := ssh.NewPublicKey(&private.PublicKey)
	if err != nil {
		return "", fmt.Errorf("generate an SSH key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(ssh.MarshalAuthorizedKey(public)), nil
}

func (random) roleAssignmentName() string { return uuid.NewString() }
