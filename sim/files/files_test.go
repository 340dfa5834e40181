package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, err := Lock(path); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("the second Lock = %v, want a LockedError of process %d", err, os.Getpid())
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	lock, err = Lock(path)
	if err != nil {
		t.Fatalf("Lock after the first one is closed: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"a longer content", "short"} {
		if err := Replace(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("the file has %q, %v, want %q", got, err, content)
		}
	}
	// A folder in the place of the new file fails like a disk that is full.
	if err := os.Mkdir(path+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("third"), 0o600); err == nil {
		t.Error("Replace reported success")
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "short" {
		t.Errorf("after a write that failed the file has %q, %v", got, err)
	}
}
