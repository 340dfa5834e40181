package webhook

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/crypto/ssh"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
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

func (random) sshPublicKey() (string, error) { return unusable() }

// unusable is the same key for all objects of a process: nobody has its private half, so nothing is gained by another one, and to
// make one takes longer on a busy processor than the API server waits for an answer.
var unusable = sync.OnceValues(func() (string, error) {
	private, err := rsa.GenerateKey(rand.Reader, sshKeyBits)
	if err != nil {
		return "", fmt.Errorf("generate an SSH key: %w", err)
	}
	public, err := ssh.NewPublicKey(&private.PublicKey)
	if err != nil {
		return "", fmt.Errorf("generate an SSH key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(ssh.MarshalAuthorizedKey(public)), nil
})

func (random) roleAssignmentName() string { return uuid.NewString() }

// fillSSHPublicKey gives an object whose key is "" one that nobody has. It is made on creation only: a manifest without a
// key is applied again without one, and then means the key that was made for it. Without a place for a key, none is asked for.
func fillSSHPublicKey[T client.Object](ctx context.Context, obj T, random generator, key func(T) *string) (err error) {
	into := key(obj)
	if into == nil || *into != "" {
		return nil
	}
	if isCreate(ctx) {
		*into, err = random.sshPublicKey()
		return err
	}
	if stored := empty[T](); isUpdateOf(ctx, stored) && key(stored) != nil {
		*into = *key(stored)
	}
	return nil
}

func isCreate(ctx context.Context) bool {
	request, err := admission.RequestFromContext(ctx)
	return err == nil && request.Operation == admissionv1.Create
}

// isUpdateOf decodes the object that an update replaces; it is false where there is none.
func isUpdateOf(ctx context.Context, stored client.Object) bool {
	request, err := admission.RequestFromContext(ctx)
	return err == nil && request.Operation == admissionv1.Update && json.Unmarshal(request.OldObject.Raw, stored) == nil
}
