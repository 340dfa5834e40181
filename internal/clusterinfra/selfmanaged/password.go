package selfmanaged

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// passwordLength is Azure's limit for the password of the administrator of a Windows VM.
const passwordLength = 123

// Passwords creates the passwords that Azure requires for Windows VMs. They are never used, because cloudbase-init sets its own at
// first boot. The password of an object is constant while the process runs, and is not stored. With a new one in each reconciliation, a
// VM that Azure refuses would look changed and would be sent again at once.
type Passwords struct {
	once sync.Once
	key  []byte
}

// PasswordFor returns the password of the VMs of an object. It has all four classes of characters that Azure asks for.
func (p *Passwords) PasswordFor(object types.UID) string {
	p.once.Do(func() {
		p.key = make([]byte, sha256.Size)
		// Read never fails: crypto/rand ends the process if the system has no randomness.
		_, _ = rand.Read(p.key)
	})
	kinds := []string{"ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnopqrstuvwxyz", "23456789", "!#%*+-=?_"}
	password := make([]byte, passwordLength)
	for i := range password {
		kind := kinds[i%len(kinds)]
		hash := hmac.New(sha256.New, p.key)
		hash.Write([]byte(object))
		hash.Write([]byte{byte(i)})
		password[i] = kind[binary.BigEndian.Uint64(hash.Sum(nil))%uint64(len(kind))]
	}
	return string(password)
}
