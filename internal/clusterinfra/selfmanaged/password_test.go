package selfmanaged

import (
	"strings"
	"testing"
)

func TestPasswords(t *testing.T) {
	of := (&Passwords{}).PasswordFor
	password := of("1")
	if again := of("1"); again != password {
		t.Error("another password in the next reconciliation would make a VM that Azure refused look like another VM")
	}
	if of("2") == password {
		t.Error("two machines have the same password")
	}
	if (&Passwords{}).PasswordFor("1") == password {
		t.Error("who knows the machine knows its password")
	}
	if len(password) != passwordLength {
		t.Errorf("%d characters, Azure takes %d at most", len(password), passwordLength)
	}
	for _, kind := range []string{"ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnopqrstuvwxyz", "23456789", "!#%*+-=?_"} {
		if !strings.ContainsAny(password, kind) {
			t.Errorf("no character of %q, and Azure wants all kinds", kind)
		}
	}
}
