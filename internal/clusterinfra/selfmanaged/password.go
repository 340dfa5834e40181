package selfmanaged

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// passwordLength is the longest that Azure takes for the administrator of a Windows VM.
const passwordLength = 123

// Passwords makes the passwords that Azure demands for Windows VMs and that nobody gets to know: cloudbase-init sets its own
// at first boot. That of an object is the same for as long as the process runs, and is kept nowhere: with another one on every
// pass, a VM that Azure refuses would look like another VM each time and be sent again at once.
type Passwords struct {
	once sync.Once
	key  []byte
}

// PasswordFor is the password of the VMs of an object. It has all four kinds of characters that Azure asks for.
func (p *Passwords) PasswordFor(object types.UID) string {
	p.once.Do(func() {
		p.key = make([]byte, sha256.Size)
		// It does not fail: crypto/rand ends the process when the system has no randomness.
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
