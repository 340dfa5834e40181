package azuremachine

import (
	"crypto/rand"
	"math/big"
)

// passwordLength is the longest that Azure takes for the administrator of a Windows VM.
const passwordLength = 123

// adminPassword is a password that nobody gets to know: Azure demands one for a Windows VM, and cloudbase-init sets its
// own at first boot. It has all four kinds of characters that Azure asks for.
func adminPassword() string {
	kinds := []string{"ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnopqrstuvwxyz", "23456789", "!#%*+-=?_"}
	password := make([]byte, passwordLength)
	for i := range password {
		kind := kinds[i%len(kinds)]
		// rand.Int does not fail: crypto/rand ends the process when the system has no randomness.
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(kind))))
		password[i] = kind[n.Int64()]
	}
	return string(password)
}
