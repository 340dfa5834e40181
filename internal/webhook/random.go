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

// generator generates the random defaults.
type generator interface {
	// sshPublicKey returns a key in the format of spec.sshPublicKey, whose private half was discarded.
	sshPublicKey() (string, error)
	// roleAssignmentName returns the name of a new role assignment.
	roleAssignmentName() string
}

type random struct{}

// sshKeyBits is the RSA key size that Azure accepts for every image.
const sshKeyBits = 2048

func (random) sshPublicKey() (string, error) { return unusable() }

// unusable returns the same key for all objects of a process. The private half is discarded, so separate keys would not be safer,
// and generating one on a busy processor can take longer than the API server waits for an answer.
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

// fillSSHPublicKey replaces an empty key by a generated one on creation. An update with an empty key keeps the stored key, because
// manifests without a key are applied again. A nil pointer means that no key is wanted.
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

// isUpdateOf decodes the object that an update replaces. It returns false if the request is no update.
func isUpdateOf(ctx context.Context, stored client.Object) bool {
	request, err := admission.RequestFromContext(ctx)
	return err == nil && request.Operation == admissionv1.Update && json.Unmarshal(request.OldObject.Raw, stored) == nil
}
